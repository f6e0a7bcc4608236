//! Moving about in the session tree: edits belong to a branch, and the figures follow.

use anyhow::{Context, Result};
use serde_json::json;

use crate::search::{self, result_in};

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
