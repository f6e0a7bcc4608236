//! The wall clock jumps.

use anyhow::{Context, Result};
use context_guard_tests::lab::Plan;

use crate::search;
use crate::trial::{Search, Trial, later_turns};

const DAY: i64 = 24 * 60 * 60 * 1000;

/// Runs a session in which the clock jumps by that many milliseconds between the runs, and a new runner is needed after it.
fn survives_jump(by: i64) -> Result<()> {
    let mut trial = Trial::new(Plan { companions: vec!["clock.ts"], ..search::plan(&later_turns()) })?;
    trial.pi.prompt("Where is the backoff set?")?;
    trial.pi.until_saved(0)?;
    trial.pi.prompt(&format!("/clock {by}"))?;
    trial.pi.prompt("Are you sure?")?;
    trial.told("");
    trial.lab.runners()?.first().context("a runner runs")?.signal("KILL")?;
    trial.until_recovered()?;
    trial.end(Search::Distilled)
}

#[test]
fn a_day_back() -> Result<()> {
    survives_jump(-DAY)
}

#[test]
fn a_year_ahead() -> Result<()> {
    survives_jump(365 * DAY)
}

#[test]
fn to_the_first_years_that_a_clock_can_show() -> Result<()> {
    survives_jump(-50 * 365 * DAY)
}
