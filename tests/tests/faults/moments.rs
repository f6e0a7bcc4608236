//! The user interrupts, at every moment: while the model answers, while a tool runs, while the pass asks. The classifier
//! of these is silent for longer than a test lasts, so that only the interruption can end the pass.

use anyhow::{Context, Result};
use context_guard_tests::lab::Plan;
use serde_json::{Value, json};

use crate::search;
use crate::trial::{Search, Trial, later_turns, original_of};

fn silent() -> Plan {
    Plan {
        rules: json!([{ "fault": "hang" }]),
        settings: json!({ "timeoutMs": 600_000 }),
        companions: vec!["reload.ts"],
        ..search::plan(&later_turns())
    }
}

/// The same with the smallest budget.
fn impatient() -> Plan {
    Plan { settings: json!({ "timeoutMs": 500 }), ..silent() }
}

/// Runs a session up to the moment when the pass asks.
fn asking() -> Result<(Trial, usize)> {
    let mut trial = Trial::new(silent())?;
    let mark = trial.until_asking()?;
    Ok((trial, mark))
}

/// Pi tells extensions nothing of an abort that a client sends while a run settles: the budget ends the pass.
#[test]
fn abort_while_the_pass_asks() -> Result<()> {
    let mut trial = Trial::new(impatient())?;
    let mark = trial.until_asking()?;
    trial.pi.send("abort", json!({}))?;
    trial.until_settled(mark)?;
    trial.pi.prompt("Are you sure?")?;
    trial.told("did not answer in time");
    trial.end(Search::Kept)
}

#[test]
fn keys_that_stop_the_pass() -> Result<()> {
    for key in ["\u{1b}", "\u{3}"] {
        let lab = search::lab(silent())?;
        let mut terminal = lab.terminal()?;
        terminal.until("🛡 0 saved")?;
        terminal.enter("Where is the backoff set?")?;
        terminal.until("🛡 distilling…")?;
        terminal.press(key)?;
        // Typed at once, the text would make another key of Esc.
        terminal.until("🛡 0 saved")?;
        terminal.enter("Are you sure?")?;
        terminal.until("Yes.")?;
        drop(terminal);
        lab.until_left()?;
        assert_eq!(lab.requests()?.len(), 3);
        assert_eq!(lab.session()?.of_type("context_edit").len(), 0);
        original_of(&lab)?;
    }
    Ok(())
}

/// Begins a run with that first turn, aborts it, and goes on.
fn aborted(first: Value, begun: impl Fn(&Value) -> bool) -> Result<()> {
    let mut plan = silent();
    plan.turns = json!([first, { "text": "I see." }]);
    let mut trial = Trial::new(plan)?;
    let mark = trial.pi.mark();
    trial.pi.send("prompt", json!({ "message": "Where is the backoff set?" }))?;
    trial.pi.until(mark, "the moment", begun)?;
    trial.pi.send("abort", json!({}))?;
    trial.until_settled(mark)?;
    trial.pi.prompt("Let us leave it.")?;
    trial.told("");
    let Trial { lab, mut pi } = trial;
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    lab.until_left()?;
    assert!(!lab.classifier_was_reached(), "an aborted run is not judged");
    let last = lab.requests()?.pop().context("the model was asked")?;
    assert!(last.to_string().contains("Let us leave it."), "{last}");
    Ok(())
}

#[test]
fn abort_while_the_model_answers() -> Result<()> {
    aborted(json!({ "match": "backoff", "text": "Late.", "delayMs": 600_000 }), |record| {
        record["type"] == "turn_start"
    })
}

#[test]
fn abort_while_a_tool_runs() -> Result<()> {
    let sleep = json!({ "tools": [{ "name": "bash", "input": { "command": "sleep 600" } }] });
    aborted(sleep, |record| record["type"] == "tool_execution_start")
}

#[test]
fn a_new_session_while_the_pass_asks() -> Result<()> {
    let (mut trial, mark) = asking()?;
    trial.pi.send("new_session", json!({}))?;
    trial.pi.until_status(mark, "🛡 0 saved")?;
    goes_on_elsewhere(trial)
}

/// Goes on in another session than that of the search, which stays as it was.
fn goes_on_elsewhere(mut trial: Trial) -> Result<()> {
    trial.pi.prompt("Are you sure?")?;
    trial.told("");
    let Trial { lab, mut pi } = trial;
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    lab.until_left()
}

#[test]
fn another_session_while_the_pass_asks() -> Result<()> {
    let mut trial = Trial::new(silent())?;
    let state = trial.pi.send("get_state", json!({}))?;
    trial.pi.send("new_session", json!({}))?;
    let mark = trial.until_asking()?;
    trial.pi.send("switch_session", json!({ "sessionPath": state["data"]["sessionFile"] }))?;
    trial.pi.until_status(mark, "🛡 0 saved")?;
    goes_on_elsewhere(trial)
}

/// Pi does not reload before the run has settled.
#[test]
fn a_reload_while_the_pass_asks() -> Result<()> {
    let mut trial = Trial::new(impatient())?;
    let mark = trial.until_asking()?;
    trial.pi.prompt("/again")?;
    trial.pi.until_notified(mark, "not now")?;
    trial.until_settled(mark)?;
    let mark = trial.pi.mark();
    trial.pi.prompt("/again")?;
    trial.pi.until_status(mark, "🛡 0 saved")?;
    trial.pi.prompt("Are you sure?")?;
    trial.told("did not answer in time");
    trial.end(Search::Kept)
}

#[test]
fn the_end_of_the_input_while_the_pass_asks() -> Result<()> {
    let (trial, _) = asking()?;
    assert_eq!(trial.pi.close()?, Some(0));
    trial.lab.until_left()?;
    original_of(&trial.lab).map(drop)
}

/// What ends Pi at once leaves the runner to find that its input has ended.
#[test]
fn signals_that_end_pi_while_the_pass_asks() -> Result<()> {
    for (signal, code) in [("TERM", Some(143)), ("HUP", Some(129)), ("KILL", None)] {
        let (trial, _) = asking()?;
        trial.pi.signal(signal)?;
        assert_eq!(trial.pi.ended()?, code, "SIG{signal}");
        trial.lab.until_left()?;
        original_of(&trial.lab)?;
    }
    Ok(())
}
