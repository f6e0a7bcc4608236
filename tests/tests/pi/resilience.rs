//! Whatever happens to the guard, Pi goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use context_guard_tests::lab::{Installed, Plan};
use serde_json::json;

use crate::search::{self, NOISE, NOTE, text_of};

const ANSWER: &str = "The backoff is set in src/needed.rs.";

#[test]
fn without_a_runner_pi_goes_on_and_says_once_what_is_missing() -> Result<()> {
    let lab =
        search::lab(Plan { binary: Some(PathBuf::from("/nonexistent/context-guard")), ..search::plan(&[]) })?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), ANSWER), "{run:?}");

    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 guard unavailable")?;
    let (level, _) = pi.until_notified(0, "CONTEXT_GUARD_BINARY")?;
    assert_eq!(level, "warning");
    pi.prompt("Anything?")?;
    let notices = pi.count(|record| record["method"] == "notify");
    assert_eq!(notices, 1, "one notice");
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn a_runner_that_is_no_runner_changes_nothing() -> Result<()> {
    // It leaves at once, without a word.
    let lab = search::lab(Plan { binary: Some(PathBuf::from("/bin/true")), ..search::plan(&[]) })?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 guard unavailable")?;
    pi.prompt("Where is the backoff set?")?;
    assert!(lab.session()?.of_type("context_edit").is_empty());
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn a_failing_classifier_changes_nothing() -> Result<()> {
    let lab = search::lab(Plan {
        rules: json!([{ "status": 400, "body": { "error": "no" } }]),
        ..search::plan(&[])
    })?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), ANSWER), "{run:?}");
    assert!(lab.classifier_was_reached());
    assert!(lab.session()?.of_type("context_edit").is_empty());
    Ok(())
}

#[test]
fn a_classifier_that_is_too_slow_holds_pi_no_longer_than_the_budget() -> Result<()> {
    let mut plan = search::plan(&[]);
    plan.rules = json!([{ "delayMs": 60_000 }]);
    plan.settings = json!({ "timeoutMs": 500 });
    let lab = search::lab(plan)?;
    let start = std::time::Instant::now();
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), ANSWER), "{run:?}");
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    assert!(lab.session()?.of_type("context_edit").is_empty());
    Ok(())
}

#[test]
fn recall_returns_the_original_although_the_runner_is_gone() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (runner, gone) = (folder.path().join("runner"), folder.path().join("gone"));
    let installed = Installed::find(None)?.runner;
    let script =
        format!("#!/bin/sh\n[ -e '{}' ] && exit 1\nexec '{}' \"$@\"\n", gone.display(), installed.display());
    fs::write(&runner, script)?;
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755))?;
    let plan = search::plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "There it is." }),
    ]);
    let lab = search::lab(Plan { binary: Some(runner), ..plan })?;
    lab.print(&["Where is the backoff set?"])?;
    assert_eq!(lab.session()?.of_type("context_edit").len(), 1);

    fs::write(gone, "")?;
    let run = lab.print(&["-c", "Show me the whole search again."])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "There it is."), "{run:?}");
    let session = lab.session()?;
    let recalled = &session.tool_results("recall")[0]["message"];
    let (text, original) =
        (text_of(&recalled["content"]), text_of(&session.tool_results("bash")[0]["message"]["content"]));
    assert_eq!(recalled["isError"], false, "{text}");
    assert!(text.starts_with("[The guard does not answer: ") && original.contains(NOISE), "{text}");
    assert_eq!(text.split_once('\n').map(|(_, rest)| rest.trim_end()), Some(original.trim_end()));
    Ok(())
}
