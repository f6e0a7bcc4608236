//! Moving about in the session tree, forks and compaction: edits belong to a branch, and the figures follow.

use anyhow::{Context, Result};
use serde_json::json;

use crate::search::{self, NOISE, NOTE, result_in, text_of};

#[test]
fn before_the_edit_the_original_is_back_and_after_it_the_replacement() -> Result<()> {
    let mut plan = search::plan(&[json!({ "text": "Another answer." })]);
    plan.companions = vec!["navigate.ts"];
    let lab = search::lab(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    let session = lab.session()?;
    let id =
        |entry: &serde_json::Value| entry["id"].as_str().map(str::to_owned).context("an entry has an id");
    let searched = id(session.tool_results("bash")[0])?;
    let edited = id(session.entries().last().context("the session has entries")?)?;

    let mark = pi.mark();
    pi.prompt(&format!("/navigate {searched}"))?;
    pi.until_status(mark, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt(&format!("/navigate {edited}"))?;
    pi.until_saved(mark)?;
    pi.prompt("And now?")?;
    let requests = lab.requests()?;
    let last =
        result_in(requests.last().context("the model was asked")?).context("the search is in the context")?;
    assert!(last.starts_with("[context-guard]"), "{last}");
    Ok(())
}

#[test]
fn a_new_session_starts_from_nothing_with_a_runner_of_its_own() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    let mark = pi.mark();
    pi.send("new_session", json!({}))?;
    pi.until_status(mark, "🛡 0 saved")?;
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn a_fork_goes_on_with_the_replacement_the_figures_and_recall() -> Result<()> {
    let lab = search::lab(search::plan(&[
        json!({ "text": "Another answer." }),
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "There it is." }),
    ]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    pi.prompt("And now?")?;
    let origin = lab.session()?;
    let prompts = origin.of_type("message");
    let second = prompts.iter().rfind(|entry| entry["message"]["role"] == "user");
    let second = &second.context("there was a second prompt")?["id"];

    let mark = pi.mark();
    pi.send("fork", json!({ "entryId": second }))?;
    pi.until_saved(mark)?;
    pi.prompt("Show me the whole search again.")?;
    let fork = lab.session()?;
    assert_ne!(fork.entries()[0]["id"], origin.entries()[0]["id"], "it is a session of its own");
    let recalled = fork.tool_results("recall");
    let recalled = recalled.first().context("the model called recall")?;
    assert!(text_of(&recalled["message"]["content"]).contains(NOISE), "{recalled}");
    let requests = lab.requests()?;
    let last = result_in(requests.last().context("the model was asked")?);
    assert!(last.is_some_and(|text| text.starts_with("[context-guard]")));
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    Ok(())
}

#[test]
fn compaction_leaves_the_lifetime_figure() -> Result<()> {
    let lab = search::lab(search::plan(&[
        json!({ "text": "Another answer." }),
        json!({ "text": "The user asked for the backoff." }),
        json!({ "text": "Yes." }),
    ]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    // Long enough that Pi keeps this prompt and what follows, and no more.
    pi.prompt(&"What do you make of the following? ".repeat(100))?;
    let mark = pi.mark();
    pi.send("compact", json!({}))?;
    pi.until(mark, "a status like \"🛡 0 · Σ−4.2k\"", |record| {
        record["statusText"].as_str().is_some_and(|text| text.starts_with("🛡 0 · Σ−"))
    })?;
    pi.prompt("Do you still know?")?;
    let requests = lab.requests()?;
    let last = requests.last().context("the model was asked")?;
    assert!(last.to_string().contains("The user asked for the backoff."), "the summary is in the context");
    assert_eq!(result_in(last), None, "the search is in the summary");
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}
