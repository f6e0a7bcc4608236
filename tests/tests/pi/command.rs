//! The `/guard` command, over RPC and in print mode.

use anyhow::Result;
use context_guard_tests::lab::Plan;
use serde_json::json;

use crate::search;

#[test]
fn status_reports_what_was_saved() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    for command in ["/guard", "/guard STATUS "] {
        let mark = pi.mark();
        pi.prompt(command)?;
        let (level, text) = pi.until_notified(mark, "openrouter/~typesafe/jev-latest")?;
        assert_eq!(level, "info", "{command}");
        assert!(text.contains("bash"), "the last pass is described: {text}");
    }
    Ok(())
}

#[test]
fn g10_t25_off_is_kept_and_nothing_is_judged_until_on() -> Result<()> {
    let mut plan = search::plan(&[]);
    plan.settings = json!({ "minRunChars": 5000, "futureKey": [1] });
    let lab = search::lab(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt("/guard OFF ")?;
    pi.until_status(mark, "🛡 guard off")?;
    assert_eq!(lab.settings()?, json!({ "minRunChars": 5000, "futureKey": [1], "enabled": false }));
    pi.prompt("Where is the backoff set?")?;
    pi.close()?;
    assert!(!lab.classifier_was_reached());
    assert!(lab.session()?.of_type("context_edit").is_empty());

    let mut pi = lab.rpc(&["-c"])?;
    pi.until_status(0, "🛡 guard off")?;
    let mark = pi.mark();
    pi.prompt("/guard on")?;
    pi.until_status(mark, "🛡 0 saved")?;
    assert_eq!(lab.settings()?["enabled"], true);
    Ok(())
}

#[test]
fn t26_an_unknown_argument_is_answered_with_the_usage_and_nothing_else() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt("/guard maybe")?;
    let (level, text) = pi.until_notified(mark, "Usage: /guard")?;
    assert_eq!(level, "warning");
    for argument in ["status", "on", "off", "reload", "allow", "deny", "preview", "explain", "ledger"] {
        assert!(text.contains(argument), "{text}");
    }
    assert_eq!(pi.statuses(mark), Vec::<String>::new());
    assert!(lab.settings()?.is_null());
    Ok(())
}

#[test]
fn explain_names_what_the_last_pass_decided() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    let mark = pi.mark();
    pi.prompt("/guard explain")?;
    let (level, text) = pi.until_notified(mark, "grep -rn")?;
    assert_eq!(level, "info", "{text}");
    Ok(())
}

#[test]
fn g14_reload_reads_the_settings_again() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    lab.write_settings(&json!({ "model": "openrouter/nothing-of-that-name" }))?;
    let mark = pi.mark();
    pi.prompt("/guard reload")?;
    pi.until_status(mark, "🛡 Jev model not found")?;
    pi.until_notified(mark, "openrouter/nothing-of-that-name")?;
    Ok(())
}

#[test]
fn without_a_user_interface_the_report_goes_to_stderr() -> Result<()> {
    let lab = search::lab(Plan { turns: json!([]), ..search::plan(&[]) })?;
    let run = lab.print(&["/guard status"])?;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("openrouter/~typesafe/jev-latest"), "{run:?}");
    Ok(())
}

#[test]
fn b20_without_recall_the_footer_and_the_report_say_that_nothing_is_replaced() -> Result<()> {
    let lab = search::lab(search::plan(&[]))?;
    let mut pi = lab.rpc(&["--exclude-tools", "recall"])?;
    pi.until_status(0, "🛡 recall inactive")?;
    let mark = pi.mark();
    pi.prompt("/guard")?;
    let (_, text) = pi.until_notified(mark, "`recall` is not active")?;
    assert!(text.contains("--exclude-tools"), "{text}");
    Ok(())
}
