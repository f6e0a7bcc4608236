//! A runner that is stopped, or never answers. Pi waits until a deadline that no setting shortens, so that these run
//! beside each other.

use std::thread;

use anyhow::{Context, Result};
use context_guard_tests::lab::{Installed, Plan, Process, StandIn};
use serde_json::json;

use crate::search;
use crate::trial::{Search, Trial, later_turns};

/// Runs a session whose runner hangs when such a cue comes first; the one after it is sound.
fn hangs(cue: &str, fault: &str, search: Search) -> Result<()> {
    let stand_in = StandIn::faulty(cue, fault, true)?;
    let settings = json!({ "timeoutMs": 500 });
    let mut trial =
        Trial::new(Plan { binary: Some(stand_in.path()), settings, ..search::plan(&later_turns()) })?;
    trial.search()?;
    trial.told("Context guard: ");
    trial.end(search)
}

/// The runner's starter is killed at the deadline, the runner itself goes on only after that: a late answer.
fn continues_after_the_deadline() -> Result<()> {
    let runner = Installed::find(None)?.runner;
    let script = StandIn::file(format!("#!/bin/sh\n'{}' \"$@\"\nexit $?\n", runner.display()), true)?;
    let mut trial = Trial::new(Plan { binary: Some(script.path()), ..search::plan(&later_turns()) })?;
    trial.pi.until_status(0, "🛡 0 saved")?;
    let mark = trial.pi.mark();
    trial.pi.send("prompt", json!({ "message": "Where is the backoff set?" }))?;
    let runners = trial.lab.runners()?;
    let is_real = |process: &&Process| process.command.starts_with(runner.to_string_lossy().as_ref());
    let real = runners.iter().find(is_real).context("a runner runs")?;
    let starter = runners.iter().find(|process| !is_real(process)).context("its starter runs")?;
    real.signal("STOP")?;
    trial.until_settled(mark)?;
    starter.until_ended()?;
    real.signal("CONT")?;
    real.until_ended()?;
    trial.pi.prompt("Are you sure?")?;
    trial.told("Context guard: ");
    trial.end(Search::Either)
}

#[test]
fn a_runner_that_hangs_is_given_up_at_its_deadline() {
    thread::scope(|scope| {
        scope.spawn(move || hangs("call hello", "stop", Search::Either).expect("stopped at its start"));
        scope.spawn(move || hangs("call request", "silence", Search::Either).expect("silent at a request"));
        scope.spawn(move || hangs("call pass", "silence", Search::Kept).expect("silent at the pass"));
        scope.spawn(move || hangs("judging", "stop", Search::Kept).expect("stopped while it asks"));
        scope.spawn(move || hangs("call pass", "beg", Search::Kept).expect("begs for time for ever"));
        scope.spawn(move || continues_after_the_deadline().expect("stopped and continued"));
    });
}
