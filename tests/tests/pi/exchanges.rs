//! Earlier exchanges: what has nothing to do with the current work leaves as a whole, and comes back by `recall`.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Lab, Plan, Rpc};
use serde_json::{Value, json};

use crate::search::{NOTE, text_of};

/// What the five prompts are about. The first has nothing to do with the others.
pub(crate) const TOPICS: [&str; 5] = ["zebra", "parser", "lexer", "printer", "checker"];

/// Stands at the start of the note that takes an exchange's place.
const STUB: &str = "[context-guard] Omitted an earlier exchange";

/// Prompts up to the run at whose end the first exchange is neither recent nor related.
pub(crate) const UNTIL_OMITTED: usize = 4;

pub(crate) fn prompt(topic: &str) -> String {
    format!("What do the notes say about the {topic}?")
}

fn lab(last_turns: &[Value]) -> Result<Lab> {
    // What it costs is weighed in `deferral`.
    lab_with(json!({ "exchangeBreakEven": false }), last_turns)
}

/// A laboratory whose every prompt reads long notes and is answered with a thought, and whose classifier finds
/// everything needed but the first exchange.
pub(crate) fn lab_with(settings: Value, last_turns: &[Value]) -> Result<Lab> {
    let mut turns: Vec<Value> = TOPICS[..UNTIL_OMITTED].iter().flat_map(|topic| answered(topic)).collect();
    turns.extend_from_slice(last_turns);
    let lab = Lab::new(Plan {
        turns: json!(turns),
        rules: json!([{ "question": "^exchange_", "item": TOPICS[0], "p": 0.03 }, { "p": 0.95 }]),
        granted: true,
        settings,
        companions: vec!["navigate.ts"],
        ..Plan::default()
    })?;
    for topic in TOPICS {
        let line = |n| format!("{n}. The {topic} has a property that is worth a line of its own.\n");
        lab.write(&format!("notes/{topic}.txt"), &(1..=50).map(line).collect::<String>())?;
    }
    Ok(lab)
}

pub(crate) fn answered(topic: &str) -> [Value; 2] {
    let command = format!("cat notes/{topic}.txt");
    [
        json!({
            "thinking": format!("The notes on the {topic} will tell."),
            "tools": [{ "name": "bash", "input": { "command": command } }],
        }),
        json!({ "text": format!("The {topic} has fifty properties.") }),
    ]
}

fn recalling() -> [Value; 2] {
    [
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "There it is." }),
    ]
}

fn until_omitted(pi: &mut Rpc) -> Result<()> {
    for topic in &TOPICS[..UNTIL_OMITTED] {
        pi.prompt(&prompt(topic))?;
    }
    pi.until_saved(0)
}

/// The messages of the newest request to the model.
pub(crate) fn last_messages(lab: &Lab) -> Result<Vec<Value>> {
    let last = lab.requests()?.pop().context("the model was asked")?;
    last["messages"].as_array().cloned().context("a request has messages")
}

fn says(messages: &[Value], text: &str) -> bool {
    messages.iter().any(|message| message.to_string().contains(text))
}

/// Checks that a note stands for the first exchange, nothing is left of it, and the others are whole.
pub(crate) fn the_first_exchange_is_omitted_in(messages: &[Value]) {
    let stub = text_of(&messages[0]["content"]);
    assert!(stub.starts_with(STUB) && stub.contains(&prompt(TOPICS[0])), "{stub}");
    assert_eq!(text_of(&messages[1]["content"]), prompt(TOPICS[1]), "the next prompt follows at once");
    assert!(!says(&messages[1..], TOPICS[0]), "no call, result or answer of it is left");
    for (topic, exchange) in TOPICS[1..UNTIL_OMITTED].iter().zip(messages[1..].chunks(4)) {
        let kinds: Vec<&Value> = exchange.iter().map(|message| &message["content"][0]["type"]).collect();
        assert!(exchange.iter().all(|message| message.to_string().contains(topic)), "{exchange:?}");
        assert_eq!(kinds[2..], ["tool_result", "text"], "{exchange:?}");
    }
}

#[test]
fn an_unrelated_exchange_is_omitted_at_a_later_run_end() -> Result<()> {
    let lab = lab(&answered(TOPICS[4]))?;
    let mut pi = lab.rpc(&[])?;
    for topic in &TOPICS[..UNTIL_OMITTED - 1] {
        pi.prompt(&prompt(topic))?;
    }
    assert!(lab.session()?.of_type("context_edit").is_empty(), "it is one of the last two before the run");
    pi.prompt(&prompt(TOPICS[3]))?;
    assert!(says(&last_messages(&lab)?, "toolu_fake_1_0"), "the run itself still saw it");

    let session = lab.session()?;
    let edits = session.of_type("context_edit");
    assert_eq!(edits.len(), 4, "the prompt, the call, its result and the answer");
    let records = session.custom("context-guard");
    let judged = &records.last().context("the pass left a record")?["results"];
    let exchange = judged.as_array().into_iter().flatten().find(|result| result["kind"] == "exchange");
    let exchange = exchange.with_context(|| format!("no exchange was judged: {judged}"))?;
    assert_eq!((&exchange["outcome"], &exchange["jev"]), (&json!("removed"), &json!(["p.03"])));
    assert_eq!(exchange["omitted"].as_array().map(Vec::len), Some(3), "{exchange}");

    pi.prompt(&prompt(TOPICS[4]))?;
    the_first_exchange_is_omitted_in(&last_messages(&lab)?);
    assert_eq!(lab.refusals()?, Vec::<String>::new(), "a provider takes every request");
    let edits = lab.session()?.of_type("context_edit").len();
    assert_eq!(edits, 4, "the second exchange was asked about, and is related");
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn recall_returns_what_was_said_and_done() -> Result<()> {
    let lab = lab(&recalling())?;
    let mut pi = lab.rpc(&[])?;
    until_omitted(&mut pi)?;
    pi.prompt("What was that with the animal?")?;
    let session = lab.session()?;
    let recalled = &session.tool_results("recall")[0]["message"];
    let text = text_of(&recalled["content"]);
    assert_eq!(recalled["isError"], false, "{text}");
    let original = text_of(&session.tool_results("bash")[0]["message"]["content"]);
    for part in
        [&prompt(TOPICS[0]), "cat notes/zebra.txt", original.trim_end(), "The zebra has fifty properties."]
    {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    Ok(())
}

#[test]
fn another_process_goes_on_with_the_omission_and_its_figures() -> Result<()> {
    let lab = lab(&recalling())?;
    let mut pi = lab.rpc(&[])?;
    until_omitted(&mut pi)?;
    let figures = pi.statuses(0).pop();
    assert_eq!(pi.close()?, Some(0));

    let mut pi = lab.rpc(&["-c"])?;
    pi.until_saved(0)?;
    assert_eq!(pi.statuses(0).pop(), figures);
    pi.prompt("What was that with the animal?")?;
    let requests = lab.requests()?;
    let resumed = requests[2 * UNTIL_OMITTED]["messages"].as_array().context("a request has messages")?;
    the_first_exchange_is_omitted_in(resumed);
    let session = lab.session()?;
    let recalled = text_of(&session.tool_results("recall")[0]["message"]["content"]);
    assert!(recalled.contains("The zebra has fifty properties."), "{recalled}");
    Ok(())
}

#[test]
fn before_the_omission_the_exchange_is_whole_and_after_it_the_note_is_back() -> Result<()> {
    let lab = lab(&[json!({ "text": "A look back." }), json!({ "text": "And forward." })])?;
    let mut pi = lab.rpc(&[])?;
    until_omitted(&mut pi)?;
    let session = lab.session()?;
    let entries = session.entries();
    let id = |entry: &Value| entry["id"].as_str().map(str::to_owned).context("an entry has an id");
    let edit = entries.iter().find(|entry| entry["type"] == "context_edit").context("there are edits")?;
    let before = edit["parentId"].as_str().context("an edit has a parent")?;
    let after = id(entries.last().context("the session has entries")?)?;

    pi.prompt(&format!("/navigate {before}"))?;
    pi.prompt("And here?")?;
    let messages = last_messages(&lab)?;
    assert_eq!(text_of(&messages[0]["content"]), prompt(TOPICS[0]));
    assert!(says(&messages, "toolu_fake_1_0") && !says(&messages, STUB));

    let mark = pi.mark();
    pi.prompt(&format!("/navigate {after}"))?;
    pi.until_saved(mark)?;
    pi.prompt("And there?")?;
    the_first_exchange_is_omitted_in(&last_messages(&lab)?);
    Ok(())
}
