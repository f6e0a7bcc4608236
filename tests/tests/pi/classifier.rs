//! A classifier that cannot be asked: the user is told what is missing, Pi goes on, and images go by their age.

use anyhow::Result;
use context_guard_tests::lab::{Lab, Plan};
use serde_json::{Value, json};

use crate::{images, search};

/// A classifier that Pi's catalogue lacks.
const UNKNOWN: &str = "openrouter/nothing-of-that-name";

/// Checks that a whole session with such a plan says what is wrong, once, and judges nothing.
fn nothing_is_judged(plan: Plan, status: &str, remedy: &str) -> Result<()> {
    let lab = search::lab(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, status)?;
    let (level, text) = pi.until_notified(0, remedy)?;
    assert_eq!(level, "warning", "{text}");
    pi.prompt("Where is the backoff set?")?;
    pi.prompt("Are you sure?")?;
    assert_eq!(pi.statuses(0).pop().as_deref(), Some(status), "it still stands there");
    assert_eq!(pi.count(|record| record["method"] == "notify"), 1, "one notice");
    assert!(!pi.asked(), "there is nothing to permit");
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    assert!(!lab.classifier_was_reached());
    assert_eq!(lab.session()?.tool_results("bash").len(), 1, "the search ran");
    assert!(lab.session()?.of_type("context_edit").is_empty());
    assert!(lab.session()?.custom("context-guard").is_empty(), "nothing happened that is worth a record");
    Ok(())
}

/// Checks that old screenshots leave with such a plan.
fn images_go_by_age(plan: Plan) -> Result<()> {
    let lab = Lab::new(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt(images::PROMPT)?;
    pi.prompt("Thanks.")?;
    images::only_young_screenshots_are_in(&images::last_request(&lab)?);
    assert!(!lab.classifier_was_reached());
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    Ok(())
}

fn thanked() -> Plan {
    images::plan(&[json!({ "text": "You are welcome." })])
}

#[test]
fn without_a_key_nothing_is_judged_and_login_is_named() -> Result<()> {
    let plan = search::plan(&[json!({ "text": "Yes." })]);
    nothing_is_judged(Plan { keyless: true, ..plan }, "🛡 no openrouter key", "/login")
}

#[test]
fn without_a_key_images_go_by_age() -> Result<()> {
    images_go_by_age(Plan { keyless: true, ..thanked() })
}

#[test]
fn a_classifier_that_the_catalogue_lacks_is_named() -> Result<()> {
    let plan = search::plan(&[json!({ "text": "Yes." })]);
    let settings = json!({ "model": UNKNOWN });
    nothing_is_judged(Plan { settings, ..plan }, "🛡 Jev model not found", UNKNOWN)
}

#[test]
fn with_a_classifier_that_the_catalogue_lacks_images_go_by_age() -> Result<()> {
    images_go_by_age(Plan { settings: json!({ "model": UNKNOWN }), ..thanked() })
}
