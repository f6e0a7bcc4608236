//! The runner is missing, broken, killed, hung, too slow, or talks nonsense.

use std::path::PathBuf;

use anyhow::Result;
use context_guard_tests::lab::{Plan, StandIn};

use crate::search;
use crate::trial::{Search, Trial, later_turns};

/// The beginning of a program for a processor that is not this machine's: an ELF header that names none.
const OTHER_MACHINE: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xff\xfe\x01\0\0\0";

/// Runs a session with such a runner. Each time that it is started it does the same.
fn survives(runner: PathBuf, search: Search, notice: &str) -> Result<()> {
    let mut trial = Trial::new(Plan { binary: Some(runner), ..search::plan(&later_turns()) })?;
    trial.search()?;
    trial.told(notice);
    trial.end(search)
}

fn survives_file(content: &[u8], executable: bool, notice: &str) -> Result<()> {
    survives(StandIn::file(content, executable)?.path(), Search::Kept, notice)
}

#[test]
fn missing() -> Result<()> {
    let runner = PathBuf::from("/nonexistent/context-guard");
    let lab = search::lab(Plan { binary: Some(runner.clone()), ..search::plan(&[]) })?;
    let run = lab.print(&["Where is the backoff set?"])?;
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "The backoff is set in src/needed.rs."), "{run:?}");
    survives(runner, Search::Kept, "CONTEXT_GUARD_BINARY names no executable")
}

#[test]
fn not_executable() -> Result<()> {
    survives_file(b"#!/bin/sh\n", false, "CONTEXT_GUARD_BINARY names no executable")
}

#[test]
fn for_another_machine() -> Result<()> {
    survives_file(OTHER_MACHINE, true, "unavailable")
}

#[test]
fn leaves_at_once() -> Result<()> {
    survives_file(b"#!/bin/sh\nexit 0\n", true, "unavailable")
}

macro_rules! faults {
    ($($name:ident: $fault:literal at $cue:literal => $search:ident, $notice:literal;)+) => {$(
        #[test]
        fn $name() -> Result<()> {
            survives(StandIn::faulty($cue, $fault, false)?.path(), Search::$search, $notice)
        }
    )+};
}

faults! {
    killed_at_hello:       "die" at "call hello"        => Kept, "unavailable";
    killed_at_configure:   "die" at "call configure"    => Kept, "unavailable";
    killed_at_observe:     "die" at "call observe"      => Kept, "unavailable";
    killed_at_update:      "die" at "call update"       => Kept, "unavailable";
    killed_at_request:     "die" at "call request"      => Either, "unavailable";
    killed_at_pass:        "die" at "call pass"         => Kept, "unavailable";
    killed_while_asking:   "die" at "judging"           => Kept, "unavailable";
    killed_at_finish:      "die" at "answer pass"       => Kept, "unavailable";
    leaves_within_a_line:  "half" at "answer pass"      => Kept, "unavailable";
    talks_garbage:         "garbage" at "answer pass"   => Kept, "unavailable";
    answers_another_type:  "odd" at "answer pass"       => Kept, "";
    babbles:               "babble" at "answer pass"    => Distilled, "";
    floods_stderr:         "stderr" at "answer pass"    => Distilled, "";
    starts_slowly:         "late" at "call hello"       => Distilled, "";
}

/// Runs a session whose runner is killed once at the cue, and another search after it.
fn recovers(cue: &str) -> Result<()> {
    let stand_in = StandIn::faulty(cue, "die", true)?;
    let mut trial = Trial::new(Plan { binary: Some(stand_in.path()), ..search::plan(&later_turns()) })?;
    trial.search()?;
    trial.told("unavailable");
    trial.until_recovered()?;
    trial.end(Search::Kept)
}

#[test]
fn a_new_one_goes_on_after_one_that_was_killed_while_asking() -> Result<()> {
    recovers("judging")
}

#[test]
fn a_new_one_goes_on_after_one_that_was_killed_at_finish() -> Result<()> {
    recovers("answer pass")
}
