//! The guard beside its TypeScript predecessor, for which `lab/predecessor` stands in: same settings file, record, `recall`
//! and `/guard`. Pi starts, the guard stands back, and the user is told so once. After it, its sessions go on.

use anyhow::{Context, Result, ensure};
use context_guard_tests::contract::repository;
use context_guard_tests::lab::{Plan, Rpc};
use serde_json::json;

use crate::clean_home::{CleanHome, SOURCE, plan};
use crate::search::{self, NEEDED, NOISE, result_in, text_of};

/// The settings of the predecessor, all that it knows.
const SETTINGS: &str = r#"{
  "enabled": true, "model": "openrouter/~typesafe/jev-latest", "minResultChars": 4000, "minRunChars": 8000,
  "keepWholeThreshold": 0.7, "focusWholeThreshold": 0.6, "chunkKeepThreshold": 0.6, "noneThreshold": 0.5,
  "maxKeepRatio": 0.6, "keepCitedFiles": false, "timeoutMs": 8000, "concurrency": 6, "maxSegmentChars": 32000,
  "maxChunksPerSegment": 40, "excludeTools": ["edit", "write"], "distillErrors": true, "historyExchanges": 3,
  "pinAnthropicCache": true, "midRun": true, "midRunMinAgeTurns": 4, "midRunBatchChars": 60000,
  "midRunBatchCharsOpenAI": 60000, "midRunChunkKeepThreshold": 0.6, "midRunBreakEven": true, "smallResultMinChars": 400,
  "smallKeepThreshold": 0.45, "pruneExchanges": true, "keepRecentExchanges": 2, "exchangeOmitThreshold": 0.2,
  "exchangeBreakEven": true, "exchangeMinSavingChars": 8000, "imageKeepTurns": 3
}"#;

/// Installs both, in that order, which is the order in which Pi loads them.
fn both(plan: Plan, predecessor_first: bool) -> Result<CleanHome> {
    let home = CleanHome::with_plan(plan)?;
    home.publish_current()?;
    std::fs::write(home.lab.agent("context-guard.json"), SETTINGS)?;
    let predecessor = predecessor()?;
    let (first, second) =
        if predecessor_first { (predecessor.as_str(), SOURCE) } else { (SOURCE, predecessor.as_str()) };
    home.command(&["install", first])?;
    home.command(&["install", second])?;
    Ok(home)
}

fn predecessor() -> Result<String> {
    let path = repository().join("tests/lab/predecessor");
    path.to_str().map(str::to_owned).context("a path is text")
}

/// Runs the search, which the predecessor alone may edit.
fn is_edited_once(home: &CleanHome, pi: &mut Rpc) -> Result<()> {
    pi.prompt("Where is the backoff set?")?;
    pi.prompt("Are you sure?")?;
    let session = home.lab.session()?;
    assert_eq!(session.of_type("context_edit").len(), 1, "one edit for the one output");
    assert_eq!(session.custom("context-guard").len(), 1, "and one record");
    let last = home.lab.requests()?.pop().context("the model was asked")?;
    let seen = result_in(&last).context("the search is in the context")?;
    ensure!(seen.starts_with("[context-guard] Removed the output of bash:"), "{seen}");
    ensure!(!home.lab.classifier_was_reached(), "nothing was sent to the classifier");
    Ok(())
}

fn stands_back(predecessor_first: bool) -> Result<()> {
    let home = both(plan(), predecessor_first)?;
    let mut pi = home.lab.rpc(&[])?;
    let (level, told) = pi.until_notified(0, "another context guard is installed")?;
    assert_eq!((level.as_str(), told.lines().count()), ("warning", 1));
    assert!(
        told.contains("tests/lab/predecessor, and this one stands back. Remove one of the two"),
        "{told}"
    );
    is_edited_once(&home, &mut pi)?;
    pi.prompt("/guard")?;
    pi.until_notified(0, "the predecessor is at work")?;
    assert_eq!(pi.warnings(0), [told], "told once");
    assert!(home.lab.runners()?.is_empty(), "no runner was started");
    assert_eq!(pi.extension_errors(), Vec::<serde_json::Value>::new());
    assert_eq!(pi.close()?, Some(0));
    home.lab.until_left()
}

#[test]
fn loaded_after_the_predecessor_it_stands_back() -> Result<()> {
    stands_back(true)
}

#[test]
fn loaded_before_the_predecessor_it_stands_back() -> Result<()> {
    stands_back(false)
}

#[test]
fn in_print_mode_pi_starts_with_both() -> Result<()> {
    let home = both(plan(), false)?;
    let run = home.lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "The backoff is set in src/needed.rs."), "{run:?}");
    assert_eq!(home.lab.session()?.of_type("context_edit").len(), 1);
    home.lab.until_left()
}

#[test]
fn one_that_registers_late_is_noticed_by_its_edits() -> Result<()> {
    let home = both(Plan { environment: vec![("LAB_PREDECESSOR_LATE", "1".into())], ..plan() }, true)?;
    let mut pi = home.lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    is_edited_once(&home, &mut pi)?;
    pi.until_notified(0, "another context guard is at work as well, and this one leaves the edits to it")?;
    assert_eq!(pi.warnings(0).len(), 1);
    assert_eq!(pi.close()?, Some(0));
    home.lab.until_left()
}

#[test]
fn after_the_predecessor_its_sessions_keep_their_figures_and_recall() -> Result<()> {
    let recalls = [
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": search::NOTE }),
        json!({ "text": "There it is." }),
    ];
    let mut turns = search::plan(&[json!({ "text": "Yes." })]).turns;
    if let Some(list) = turns.as_array_mut() {
        list.extend(recalls);
    }
    let home = both(Plan { turns, ..plan() }, true)?;
    let mut pi = home.lab.rpc(&[])?;
    is_edited_once(&home, &mut pi)?;
    let figure = pi.statuses(0).pop().context("the predecessor showed a figure")?;
    assert_eq!(pi.close()?, Some(0));
    home.command(&["remove", &predecessor()?])?;

    let mut pi = home.lab.rpc(&["-c"])?;
    pi.until_saved(0)?;
    let (theirs, ours) = (figure, pi.statuses(0).pop().context("the guard shows a figure")?);
    // The predecessor counted whole tokens; the guard shows the same ones in short.
    let tokens: f64 = theirs.trim_start_matches("🛡 −").trim_end_matches(" · 1").parse()?;
    assert_eq!(ours, format!("🛡 −{:.1}k · 1", tokens / 1000.0));
    pi.prompt("/guard")?;
    let (_, report) = pi.until_notified(0, "1 request")?;
    assert!(report.contains("$0.0001"), "what it cost counts on: {report}");
    pi.prompt("Show me the whole search again.")?;
    let session = home.lab.session()?;
    let recalled = session.tool_results("recall");
    let text = text_of(&recalled[0]["message"]["content"]);
    assert!(text.contains(NOISE) && text.contains(NEEDED), "{text}");
    assert_eq!(pi.warnings(0), Vec::<String>::new(), "its settings are as good as ever");
    assert_eq!(pi.close()?, Some(0));
    home.lab.until_left()
}

#[test]
fn a_foreign_tool_of_the_same_name_is_told_as_such() -> Result<()> {
    let home = CleanHome::with_plan(Plan { companions: vec!["recall.ts"], ..plan() })?;
    home.publish_current()?;
    home.install()?;
    home.goes_on_without(
        "tests/lab/recall.ts, so the guard could give nothing back and does nothing. Remove one of the two.",
    )
}
