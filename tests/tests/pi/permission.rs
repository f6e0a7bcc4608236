//! Nothing leaves the machine unless the user allowed the classifier's origin.

use anyhow::Result;
use context_guard_tests::lab::{CLASSIFIER_KEY, Lab, Plan};
use serde_json::{Value, json};

use crate::search;

const REFUSED: &str = "🛡 network not allowed";

fn ungranted() -> Result<Lab> {
    search::lab(Plan { granted: false, ..search::plan(&[]) })
}

#[test]
fn without_a_grant_and_without_a_user_nothing_is_sent() -> Result<()> {
    let lab = ungranted()?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "The backoff is set in src/needed.rs."), "{run:?}");
    assert!(!lab.classifier_was_reached());
    assert!(lab.session()?.of_type("context_edit").is_empty());
    assert_eq!(lab.settings()?, Value::Null, "nobody answered, so nothing is remembered");
    Ok(())
}

#[test]
fn a_no_is_remembered_and_not_asked_again() -> Result<()> {
    let lab = ungranted()?;
    let mut pi = lab.rpc(&[])?;
    let dialog = pi.confirm(0, false)?;
    let text = format!("{} {}", dialog["title"], dialog["message"]);
    assert!(text.contains(&lab.classifier_origin()), "the dialog names the origin: {text}");
    assert!(dialog["timeout"].as_u64().is_some(), "an RPC client may never answer: {dialog}");
    let mark = pi.mark();
    pi.until_notified(mark, "/guard allow")?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_status(0, REFUSED)?;
    pi.close()?;
    assert_eq!(lab.settings()?["network"]["deny"], json!([lab.classifier_origin()]));

    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, REFUSED)?;
    pi.until_notified(0, "/guard allow")?;
    pi.prompt("Where is the backoff set?")?;
    assert!(!pi.asked(), "the user is not asked again");
    assert!(!lab.classifier_was_reached());
    Ok(())
}

#[test]
fn a_yes_is_remembered_and_the_same_session_distills() -> Result<()> {
    let lab = ungranted()?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, REFUSED)?;
    let mark = pi.mark();
    pi.confirm(0, true)?;
    pi.until_status(mark, "🛡 0 saved")?;
    assert_eq!(lab.settings()?["network"]["allow"], json!([lab.classifier_origin()]));
    let mark = pi.mark();
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(mark)?;
    Ok(())
}

#[test]
fn a_dismissed_question_that_the_session_ends_stores_nothing() -> Result<()> {
    let lab = ungranted()?;
    let mut pi = lab.rpc(&[])?;
    pi.until(0, "a dialog", |record| record["method"] == "confirm")?;
    pi.prompt("Where is the backoff set?")?;
    assert_eq!(pi.close()?, Some(0), "an open dialog does not hold Pi");
    assert_eq!(lab.settings()?, Value::Null);
    assert!(!lab.classifier_was_reached());
    Ok(())
}

#[test]
fn the_commands_allow_and_deny_change_the_answer() -> Result<()> {
    let lab = ungranted()?;
    let mut pi = lab.rpc(&[])?;
    pi.confirm(0, false)?;
    pi.until_notified(0, "/guard allow")?;
    let mark = pi.mark();
    pi.prompt("/guard allow")?;
    pi.until_status(mark, "🛡 0 saved")?;
    let network = &lab.settings()?["network"];
    assert_eq!(
        (&network["allow"], network["deny"].as_array().map_or(0, Vec::len)),
        (&json!([lab.classifier_origin()]), 0)
    );
    let mark = pi.mark();
    pi.prompt("/guard deny")?;
    pi.until_status(mark, REFUSED)?;
    pi.prompt("Where is the backoff set?")?;
    assert!(!lab.classifier_was_reached());
    Ok(())
}

#[test]
fn the_key_reaches_the_classifier_and_is_kept_nowhere() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!(lab.session()?.of_type("context_edit").len(), 1, "the classifier took the key: {run:?}");
    assert_eq!(lab.files_with(CLASSIFIER_KEY)?, [std::path::Path::new("agent/models.json")]);
    assert!(!format!("{run:?}").contains(CLASSIFIER_KEY), "{run:?}");
    Ok(())
}
