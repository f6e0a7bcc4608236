//! After a compaction the summary stands for the search, and `recall` still finds it.

use anyhow::{Context, Result};
use serde_json::json;

use crate::search::{self, NOISE, NOTE, result_in, text_of};

#[test]
fn recall_finds_what_the_summary_stands_for_also_in_another_process() -> Result<()> {
    let recalling = json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE });
    let lab = search::lab(search::plan(&[
        json!({ "text": "Another answer." }),
        json!({ "text": "The user asked for the backoff." }),
        recalling.clone(),
        json!({ "text": "There it is." }),
        recalling,
        json!({ "text": "There it is again." }),
    ]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    // Long enough that Pi keeps this prompt and what follows, and no more.
    pi.prompt(&"What do you make of the following? ".repeat(100))?;
    pi.send("compact", json!({}))?;
    let session = lab.session()?;
    let searched = session.tool_results("bash")[0];
    let original = text_of(&searched["message"]["content"]);
    let id = searched["id"].as_str().context("an entry has an id")?;
    let question = format!(r#"Show me {{"entryId":"{id}"}} again."#);

    pi.prompt(&question)?;
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    let mut pi = lab.rpc(&["-c"])?;
    pi.prompt(&question)?;

    let requests = lab.requests()?;
    let last = requests.last().context("the model was asked")?;
    assert!(last.to_string().contains("The user asked for the backoff."), "the summary is in the context");
    assert_eq!(result_in(last), None, "the search is in the summary");
    let session = lab.session()?;
    let recalled = session.tool_results("recall");
    assert_eq!(recalled.len(), 2);
    for recalled in recalled {
        assert_eq!(recalled["message"]["isError"], false, "{recalled}");
        let text = text_of(&recalled["message"]["content"]);
        assert!(text.contains(NOISE) && text.trim_end() == original.trim_end(), "{text}");
    }
    Ok(())
}
