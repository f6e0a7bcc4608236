//! The long run: many passes in one runner process, sessions that grow and start anew, and what the process holds.

mod process;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use context_guard::contract::sessions::Outcome;
use serde_json::{Value, json};

use crate::bench::{Classifier, Hooks, Runner, Session};
pub use process::Holding;

/// Passes of one session, which then starts anew.
pub const CYCLE: usize = 20;
/// Calls of a run, and so outputs that a pass may judge.
const CALLS: usize = 6;
/// Kilobytes that a process may hold more at the end: what an allocator keeps for later.
const SLACK: u64 = 8 * 1024;

/// What one pass took, and what the runner held after it.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// From writing the call to reading its answer.
    pub pass: Duration,
    /// The same for the call after each pass that tells of its edits.
    pub update: Duration,
    /// After the pass.
    pub holding: Holding,
}

/// Runs that many passes in one runner process. Every fourth asks a classifier over HTTP, the others the built-in judge.
///
/// # Errors
///
/// Fails where the runner does not start, answers with an error or makes no edit in a session.
pub fn soak(binary: &Path, passes: usize) -> Result<Vec<Sample>> {
    let classifier = Classifier::start(Duration::ZERO)?;
    let mut runner = Runner::start(binary, classifier.origin())?;
    runner.call("configure", &json!({ "project": null }))?;
    let observed = json!({ "problem": null, "destination": null, "recall_active": true, "working_directory": "/project" });
    runner.call("observe", &observed)?;
    let mut samples = Vec::with_capacity(passes);
    let (mut session, mut edits) = (Session::empty(), 0);
    for number in 0..passes {
        if number % CYCLE == 0 {
            ensure!(number == 0 || edits > 0, "no pass of the last {CYCLE} changed anything");
            (session, edits) = (Session::empty(), 0);
            runner.call("update", &serde_json::to_value(session.whole())?)?;
        }
        let delta = session.mixed_run(CALLS);
        let service = if number % 4 == 3 { classifier.service() } else { builtin() };
        let (mut passed, pass) = runner.call("pass", &pass_with(&serde_json::to_value(delta)?, &service))?;
        if let Some(outcome) = serde_json::from_value::<Option<Outcome>>(passed["outcome"].take())? {
            edits += outcome.edits.len();
            session.apply(&outcome);
            if let Some(edit) = outcome.edits.first() {
                recall(&mut runner, &edit.target)?;
            }
        }
        let (_, update) = runner.call("update", &serde_json::to_value(session.turn())?)?;
        runner.call("status", &json!({}))?;
        samples.push(Sample { pass, update, holding: Holding::of(runner.process())? });
    }
    Ok(samples)
}

fn builtin() -> Value {
    json!({ "api": "builtin", "base_url": "", "model": "lexical", "headers": [], "input_price": 0.0 })
}

fn pass_with(delta: &Value, service: &Value) -> Value {
    let model = json!({
        "name": "anthropic/claude", "cache": "Anthropic", "prices": null, "cache_lifetime": 300, "thinking": "Unbound",
    });
    json!({
        "delta": delta, "phase": "RunEnd", "model": model, "now": 1_777_900_000_000_u64,
        "service": service, "credential": null,
    })
}

fn recall(runner: &mut Runner, entry: &str) -> Result<()> {
    let request = json!({
        "entry_id": entry, "pattern": null, "offset": null, "limit": null, "column": null, "image": null,
    });
    runner.call("recall", &request).context("what was edited comes back")?;
    Ok(())
}

/// Parts of a long run, oldest first, each of whole sessions, so that they did the same work.
pub fn parts(samples: &[Sample], count: usize) -> Vec<&[Sample]> {
    let cycles = (samples.len() / CYCLE / count).max(1);
    samples.chunks(cycles * CYCLE).collect()
}

/// Checks that the runner held no more at the end than after its first sessions.
///
/// # Errors
///
/// Fails where it holds more memory or more handles.
pub fn flat(samples: &[Sample]) -> Result<()> {
    let parts = parts(samples, 5);
    let most = |part: Option<&&[Sample]>, of: fn(&Holding) -> u64| {
        part.and_then(|part| part.iter().map(|sample| of(&sample.holding)).max()).unwrap_or_default()
    };
    let (first, last) = (parts.first(), parts.last());
    let (before, after) = (most(first, |holding| holding.handles), most(last, |holding| holding.handles));
    ensure!(after <= before, "{before} handles at the start, {after} at the end");
    let (before, after) = (most(first, |holding| holding.memory_kb), most(last, |holding| holding.memory_kb));
    ensure!(
        after <= before + before / 10 + SLACK,
        "{before} kB of memory at the start, {after} kB at the end"
    );
    Ok(())
}

/// Returns the time that so many of a hundred stay within.
pub fn percentile(times: impl Iterator<Item = Duration>, percent: usize) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(place).copied().unwrap_or_default()
}
