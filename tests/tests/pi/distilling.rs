//! The main job: a large output is judged at the end of the run, and what the work no longer needs leaves the context.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Lab, Plan};
use serde_json::json;

use crate::search::{self, NEEDED, NOISE, result_in, text_of};

#[test]
fn the_next_prompt_carries_the_replacement_and_recall_brings_the_original_back() -> Result<()> {
    let lab = search::lab(search::plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": search::NOTE }),
        json!({ "text": "There it is." }),
    ]))?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    pi.prompt("Where is the backoff set?")?;
    pi.prompt("Show me the whole search again.")?;

    let requests = lab.requests()?;
    assert_eq!(requests.len(), 4, "a run with one tool call is two requests");
    let original = result_in(&requests[1]).context("the second request has the search's result")?;
    assert!(original.contains(NOISE) && original.contains(NEEDED), "{original}");
    let replaced = result_in(&requests[2]).context("the third request has the search's result")?;
    assert!(replaced.starts_with("[context-guard] Distilled the output of bash"), "{replaced}");
    assert!(replaced.contains(NEEDED) && replaced.len() < original.len() / 2, "{replaced}");
    for line in replaced.lines().filter(|line| line.contains(NEEDED)) {
        assert!(original.lines().any(|kept| kept == line), "kept lines are the original ones: {line}");
    }

    let session = lab.session()?;
    let searched = session.tool_results("bash");
    assert_eq!(text_of(&searched[0]["message"]["content"]), original, "the recorded entry is untouched");
    let recalled = session.tool_results("recall");
    assert_eq!(recalled[0]["message"]["isError"], false);
    assert_eq!(text_of(&recalled[0]["message"]["content"]).trim_end(), original.trim_end());
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn the_status_bar_shows_the_work_and_what_it_saved() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(mark)?;
    let seen = pi.statuses(mark);
    assert!(seen.contains(&"🛡 distilling…".to_owned()), "{seen:?}");
    assert!(!seen.iter().any(|text| text.contains('\u{1b}')), "an RPC client gets no escape codes: {seen:?}");
    Ok(())
}

#[test]
fn the_drafts_of_another_extension_survive() -> Result<()> {
    let mut plan = search::plan(&[]);
    plan.companions = vec!["probe.ts"];
    let lab = search::lab(plan)?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!(run.code, Some(0), "{run:?}");
    let session = lab.session()?;
    assert_eq!(session.custom("probe"), [&json!({ "runs": 1 })]);
    assert_eq!(session.of_type("context_edit").len(), 1);
    assert_eq!(session.custom("context-guard").len(), 1, "one record for the one pass");
    Ok(())
}

#[test]
fn another_process_goes_on_with_the_figures_and_with_recall() -> Result<()> {
    let lab = search::lab(search::plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": search::NOTE }),
        json!({ "text": "There it is." }),
    ]))?;
    let first = lab.print(&["Where is the backoff set?"])?;
    assert_eq!(
        (first.code, first.stdout.trim()),
        (Some(0), "The backoff is set in src/needed.rs."),
        "{first:?}"
    );

    let mut pi = lab.rpc(&["-c"])?;
    pi.until_saved(0)?;
    pi.prompt("Show me the whole search again.")?;
    let session = lab.session()?;
    let recalled = session.tool_results("recall");
    assert!(text_of(&recalled[0]["message"]["content"]).contains(NOISE), "{}", recalled[0]);
    Ok(())
}

#[test]
fn recall_of_an_unknown_entry_is_an_error_that_says_what_to_do() -> Result<()> {
    let turns = json!([
        { "tools": [{ "name": "recall", "input": { "entryId": "nowhere" } }] },
        { "text": "I see." },
    ]);
    let lab = search::lab(Plan { turns, ..search::plan(&[]) })?;
    let run = lab.print(&["Recall something."])?;
    assert_eq!(run.stdout.trim(), "I see.", "{run:?}");
    let session = lab.session()?;
    let recalled = session.tool_results("recall");
    assert_eq!(recalled[0]["message"]["isError"], true);
    assert!(text_of(&recalled[0]["message"]["content"]).contains("[context-guard]"), "{}", recalled[0]);
    Ok(())
}

#[test]
fn b20_nothing_is_replaced_unless_the_model_can_call_recall() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let run = lab.print(&["--tools", "bash", "Where is the backoff set?"])?;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(lab.session()?.tool_results("bash").len(), 1, "the search ran");
    assert!(lab.session()?.of_type("context_edit").is_empty());
    Ok(())
}

#[test]
fn a_small_output_that_is_no_longer_needed_becomes_one_line() -> Result<()> {
    let listing = |name: &str| json!({ "name": "bash", "input": { "command": format!("cat {name}.txt") } });
    let lab = Lab::new(Plan {
        turns: json!([
            { "tools": [listing("needed"), listing("passing")] },
            { "text": "Only the first matters." },
            { "text": "You are welcome." },
        ]),
        rules: json!([{ "question": "^item_", "item": "passing", "p": 0.1 }, { "p": 0.9 }]),
        granted: true,
        ..Plan::default()
    })?;
    for name in ["needed", "passing"] {
        lab.write(&format!("{name}.txt"), &format!("a line of the {name} file\n").repeat(40))?;
    }
    lab.print(&["Which of the two files matters?"])?;
    lab.print(&["-c", "Thanks."])?;
    let last = lab.requests()?.pop().context("the model was asked")?;
    let results = last["messages"][2]["content"].as_array().context("the results are in the context")?;
    let texts: Vec<String> = results.iter().map(|result| text_of(&result["content"])).collect();
    assert!(texts[0].contains("a line of the needed file"), "{texts:?}");
    let stub = "[context-guard] Omitted the output of bash `cat passing.txt` (";
    assert!(texts[1].starts_with(stub) && texts[1].lines().count() == 1, "{texts:?}");
    assert_eq!(lab.session()?.of_type("context_edit").len(), 1);
    Ok(())
}
