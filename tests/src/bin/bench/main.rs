//! `make bench`: what the guard costs on this machine.

#![expect(clippy::print_stdout, reason = "the table is its output")]

mod growth;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use context_guard_tests::bench::{Classifier, Hooks, Native, Runner, Session};
use context_guard_tests::contract::repository;
use serde_json::{Value, json};

/// Repetitions of what is quick.
const OFTEN: usize = 20;
/// Repetitions of what is slow.
const SELDOM: usize = 5;

fn main() -> Result<()> {
    let binary = repository().join("target/release/context-guard");
    start_up(&binary)?;
    growth::print(&binary)?;
    large_session(&binary)?;
    asking(&binary)
}

/// Prints a row: median, least and most.
fn row(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let ms = |time: Option<&Duration>| time.map_or(0.0, Duration::as_secs_f64) * 1e3;
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    println!("{what:58} {:9.2} ms   ({:.2}–{:.2})", ms(Some(&median)), ms(times.first()), ms(times.last()));
    median
}

fn start_up(binary: &Path) -> Result<()> {
    let bytes = std::fs::metadata(binary).context("make build makes the runner")?.len();
    println!("the runner's binary: {:.1} MB", bytes as f64 / 1e6);
    let times = (0..OFTEN).map(|_| {
        let started = Instant::now();
        Runner::start(binary, "")?.call("hello", &json!({}))?;
        Ok(started.elapsed())
    });
    row("spawn to the answer of `hello`", times.collect::<Result<_>>()?);
    Ok(())
}

/// Tells a guard a session whole, and returns what that took.
fn open(guard: &mut dyn Hooks, session: &mut Session) -> Result<Duration> {
    guard.call("configure", &json!({ "project": null }))?;
    let circumstances = json!({
        "problem": null, "destination": null, "recall_active": true, "working_directory": "/project",
    });
    guard.call("observe", &circumstances)?;
    Ok(guard.call("update", &serde_json::to_value(session.whole())?)?.1)
}

/// The moment right after the session's last entry, as `begin`, `pass` and `request` take it.
fn moment(phase: &str, session: &Session) -> Value {
    let model = json!({
        "name": "anthropic/claude", "cache": "Anthropic", "prices": null, "cache_lifetime": 300, "thinking": "Unbound",
    });
    json!({ "phase": phase, "model": model, "now": session.now() })
}

/// A run of 5 million characters of which nothing was judged yet, judged by the built-in judge.
fn large_session(binary: &Path) -> Result<()> {
    let mut session = Session::of_one_run(5_000_000);
    println!(
        "\none run of {:.1} million characters, {} entries",
        session.characters() as f64 / 1e6,
        session.entries()
    );
    let moment = moment("RunEnd", &session);
    let (mut updates, mut begins, mut asks, mut finishes) = (vec![], vec![], vec![], vec![]);
    let (mut native_begins, mut native_finishes) = (vec![], vec![]);
    let mut questions = 0;
    for _ in 0..SELDOM {
        let mut runner = Runner::start(binary, "")?;
        updates.push(open(&mut runner, &mut session)?);
        let (inquiry, begin) = runner.call("begin", &moment)?;
        begins.push(begin);
        questions = inquiry["questions"].as_array().map_or(0, Vec::len);
        let service = json!({ "api": "builtin", "base_url": "", "model": "lexical", "headers": [], "input_price": 0.0 });
        let ask = json!({
            "service": service, "credential": null, "questions": inquiry["questions"], "budget": inquiry["budget"],
        });
        let (verdicts, ask) = runner.call("ask", &ask)?;
        asks.push(ask);
        let finish = json!({ "verdicts": verdicts, "elapsed_ms": 1, "timed_out": false });
        finishes.push(runner.call("finish", &finish)?.1);

        let mut native = Native::default();
        open(&mut native, &mut session)?;
        native_begins.push(native.call("begin", &moment)?.1);
        native_finishes.push(native.call("finish", &finish)?.1);
    }
    row("update, the session whole", updates);
    let begin = row(&format!("begin, {questions} questions"), begins);
    row("ask, the built-in judge", asks);
    let finish = row("finish", finishes);
    let native_begin = row("begin, natively and without the pipe", native_begins);
    let native_finish = row("finish, natively and without the pipe", native_finishes);
    let ratio = (begin + finish).as_secs_f64() / (native_begin + native_finish).as_secs_f64();
    println!("begin and finish, sandbox and pipe to native: {ratio:.1} times");
    Ok(())
}

/// How close the client comes to the least time that its limit allows.
fn asking(binary: &Path) -> Result<()> {
    let takes = Duration::from_millis(200);
    println!("\n20 questions to a service that takes 200 ms for each, 6 at a time");
    let classifier = Classifier::start(takes)?;
    let mut runner = Runner::start(binary, classifier.origin())?;
    runner.call("configure", &json!({ "project": null }))?;
    let criteria = json!({ "true": "yes", "false": "no" });
    let question = json!({
        "state": { "text": "x".repeat(20_000) },
        "questions": { "q": { "type": "bool", "instructions": "?", "criteria": criteria } },
    });
    let questions: Vec<Value> = (0..20).map(|id| json!({ "id": id, "body": question.to_string() })).collect();
    let ask = json!({
        "service": classifier.service(), "credential": null, "questions": questions,
        "budget": { "timeout_ms": 20_000, "concurrency": 6 },
    });
    let times = (0..SELDOM).map(|_| Ok(runner.call("ask", &ask)?.1)).collect::<Result<Vec<_>>>()?;
    let median = row("ask", times);
    println!(
        "to the least possible, 4 × 200 ms: {:.3} times",
        median.as_secs_f64() / (takes * 4).as_secs_f64()
    );
    Ok(())
}
