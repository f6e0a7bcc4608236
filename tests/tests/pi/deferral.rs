//! An edit of an earlier exchange makes the provider write its cache anew. One that does not pay waits.

use anyhow::{Context, Result};
use context_guard_tests::lab::Lab;
use serde_json::{Value, json};

use crate::exchanges::{
    TOPICS, UNTIL_OMITTED, answered, lab_with, last_messages, prompt, the_first_exchange_is_omitted_in,
};
use crate::search::text_of;

/// What the newest record says of the first exchange.
fn judged(lab: &Lab) -> Result<Value> {
    let session = lab.session()?;
    let records = session.custom("context-guard");
    let record = records.last().context("the pass left a record")?;
    let results = record["results"].as_array().into_iter().flatten();
    let of_the_first = |result: &&Value| {
        let label = result["label"].as_str().unwrap_or_default();
        result["kind"] == "exchange" && label.contains(TOPICS[0])
    };
    results.clone().find(of_the_first).cloned().with_context(|| format!("not judged: {record}"))
}

#[test]
fn an_exchange_that_does_not_pay_yet_stays_and_comes_up_again() -> Result<()> {
    let mut later = answered(TOPICS[UNTIL_OMITTED]).to_vec();
    later.push(json!({ "text": "You are welcome." }));
    let lab = lab_with(json!({ "exchangeBreakEven": true, "exchangeMinSavingChars": 0 }), &later)?;
    let mut pi = lab.rpc(&[])?;
    for topic in &TOPICS[..UNTIL_OMITTED] {
        pi.prompt(&prompt(topic))?;
    }
    let deferred = judged(&lab)?;
    assert_eq!((&deferred["outcome"], &deferred["reason"]), (&json!("kept"), &json!("deferred")));
    assert_eq!(deferred["jev"], json!(["p.03"]), "the classifier said that it can go");
    assert_eq!(deferred["beforeChars"], deferred["afterChars"], "{deferred}");
    assert!(lab.session()?.of_type("context_edit").is_empty());
    assert_eq!(lab.session()?.custom("context-guard").last().context("a record")?["savedChars"], 0);
    let mark = pi.mark();
    pi.prompt("/guard explain")?;
    pi.until_notified(mark, "would not pay off yet")?;

    lab.write_settings(&json!({ "exchangeBreakEven": false }))?;
    pi.prompt("/guard reload")?;
    pi.prompt(&prompt(TOPICS[UNTIL_OMITTED]))?;
    let whole = last_messages(&lab)?;
    assert_eq!(text_of(&whole[0]["content"]), prompt(TOPICS[0]), "until then the model saw all of it");
    assert_eq!(judged(&lab)?["outcome"], "removed");
    pi.prompt("Thanks.")?;
    the_first_exchange_is_omitted_in(&last_messages(&lab)?);
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    Ok(())
}
