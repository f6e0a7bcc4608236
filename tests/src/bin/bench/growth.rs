//! What each hook costs by the length of the session: natively, in the component, and through the runner's pipe.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use context_guard_tests::bench::{Classifier, Component, Hooks, Native, Runner, Session, verdicts};
use serde_json::{Value, json};

use super::{OFTEN, SELDOM, moment, open};

/// Entries of the sessions.
const LENGTHS: [usize; 3] = [100, 1_000, 10_000];

/// Calls of a run that is too short for any checkpoint to pay.
const SHORT: usize = 4;
/// Calls of a run that a checkpoint looks through.
const LONG: usize = 40;

/// The hooks, in the order of [`measure`].
const ROWS: [&str; 7] = [
    "update with one turn",
    "begin in a run of 4 calls, not due",
    "begin in a run of 40 calls, not due",
    "begin at the end of that run, not due",
    "request, a message per entry",
    "status",
    "a whole pass, instant classifier",
];

/// Prints a block of rows for every place where the guard can run.
pub(super) fn print(binary: &Path) -> Result<()> {
    table("natively", || Ok(Native::default()), judged)?;
    table("in the component", Component::load, judged)?;
    let classifier = Classifier::start(Duration::ZERO)?;
    let pass = |runner: &mut Runner, moment: &Value| {
        let mut pass = moment.clone();
        pass["delta"] = Value::Null;
        pass["service"] = classifier.service();
        pass["credential"] = Value::Null;
        let (passed, took) = runner.call("pass", &pass)?;
        changed(&passed["outcome"])?;
        Ok(took)
    };
    table("through the pipe", || Runner::start(binary, classifier.origin()), pass)
}

fn table<H: Hooks>(
    place: &str,
    start: impl Fn() -> Result<H>,
    pass: impl Fn(&mut H, &Value) -> Result<Duration>,
) -> Result<()> {
    println!("\n{:40} {:>12} {:>12} {:>12}   10,000 to 1,000", place, "100 entries", "1,000", "10,000");
    let mut columns = vec![];
    for entries in LENGTHS {
        columns.push(measure(entries, &start, &pass)?);
    }
    for (at, hook) in ROWS.iter().enumerate() {
        let times: Vec<f64> = columns.iter().map(|column| column[at].as_secs_f64() * 1e3).collect();
        let cells: String = times.iter().map(|ms| format!(" {ms:9.4} ms")).collect();
        println!("{hook:40}{cells}   {:.2} times", times[2] / times[1]);
    }
    Ok(())
}

/// Measures the hooks of [`ROWS`] in sessions of that many entries, each as the median.
fn measure<H: Hooks>(
    entries: usize,
    start: impl Fn() -> Result<H>,
    pass: impl Fn(&mut H, &Value) -> Result<Duration>,
) -> Result<[Duration; ROWS.len()]> {
    let mut guard = start()?;
    let mut session = Session::of_quiet_entries(entries, SHORT);
    open(&mut guard, &mut session)?;
    let short = idle(&mut guard, &moment("MidRun", &session))?;
    let update = median(OFTEN, || Ok(guard.call("update", &serde_json::to_value(session.turn())?)?.1))?;

    let mut guard = start()?;
    let mut session = Session::of_quiet_entries(entries, LONG);
    open(&mut guard, &mut session)?;
    let long = idle(&mut guard, &moment("MidRun", &session))?;
    guard.call("update", &serde_json::to_value(session.end())?)?;
    let end = idle(&mut guard, &moment("RunEnd", &session))?;
    let mut departure = moment("RunEnd", &session);
    departure["shape"] = session.request();
    let request = median(OFTEN, || Ok(guard.call("request", &departure)?.1))?;
    let status = median(OFTEN, || Ok(guard.call("status", &json!({}))?.1))?;

    let mut guard = start()?;
    let mut session = Session::of_entries(entries);
    open(&mut guard, &mut session)?;
    let moment = moment("RunEnd", &session);
    let whole = median(SELDOM, || pass(&mut guard, &moment))?;
    Ok([update, short, long, end, request, status, whole])
}

fn median(times: usize, measure: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut times = std::iter::repeat_with(measure).take(times).collect::<Result<Vec<_>>>()?;
    times.sort_unstable();
    times.get(times.len() / 2).copied().context("nothing was measured")
}

/// Measures a `begin` that must find no pass due.
fn idle(guard: &mut impl Hooks, moment: &Value) -> Result<Duration> {
    median(OFTEN, || {
        let (inquiry, took) = guard.call("begin", moment)?;
        ensure!(inquiry.is_null(), "a pass is due where none should be: {moment}");
        Ok(took)
    })
}

/// Runs a pass whose answers are there at once, and returns what its two calls took.
fn judged(guard: &mut impl Hooks, moment: &Value) -> Result<Duration> {
    let (inquiry, begin) = guard.call("begin", moment)?;
    let (outcome, finish) = guard.call(
        "finish",
        &json!({
            "verdicts": verdicts(&inquiry), "elapsed_ms": 1, "timed_out": false,
        }),
    )?;
    changed(&outcome)?;
    Ok(begin + finish)
}

/// Makes sure that a pass judged something, so that it was a whole one.
fn changed(outcome: &Value) -> Result<()> {
    ensure!(
        outcome["edits"].as_array().is_some_and(|edits| !edits.is_empty()),
        "a pass changed nothing: {outcome}"
    );
    Ok(())
}
