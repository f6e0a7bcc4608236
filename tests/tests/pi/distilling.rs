//! The main job: a large output is judged at the end of the run, and what the work no longer needs leaves the context.

use anyhow::{Context, Result};
use serde_json::json;

use crate::search::{self, NEEDED, NOISE, result_in, text_of};

#[test]
fn the_next_prompt_carries_the_replacement_and_recall_brings_the_original_back() -> Result<()> {
    let mut plan = search::plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": r#""entryId":"(\w+)""# }),
        json!({ "text": "There it is." }),
    ]);
    plan.companions = vec!["probe.ts"];
    let lab = search::lab(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt("Where is the backoff set?")?;
    pi.until(mark, "a status with what was saved", |record| {
        record["statusText"].as_str().is_some_and(|text| text.starts_with("🛡 −") && text.ends_with(" · 1"))
    })?;
    assert!(pi.statuses(mark).contains(&"🛡 distilling…".to_owned()), "{:?}", pi.statuses(mark));
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

    assert_eq!(session.custom("probe")[0]["runs"], 1, "the other extension's draft survives");
    assert_eq!(session.custom("context-guard").len(), 1, "one record for the one pass that did something");
    assert!(pi.extension_errors().is_empty(), "{:?}", pi.extension_errors());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}
