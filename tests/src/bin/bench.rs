//! `make bench`: what the guard costs on this machine.

#![expect(clippy::print_stdout, reason = "the table is its output")]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use context_guard::contract::sessions::{Circumstances, Phase, Verdict};
use context_guard::contract::types::Model;
use context_guard::guard::Guard;
use context_guard_tests::bench::{Classifier, Runner, Session};
use context_guard_tests::contract::repository;
use serde_json::{Value, json};

/// Repetitions of what is quick.
const OFTEN: usize = 20;
/// Repetitions of what is slow.
const SELDOM: usize = 5;

fn main() -> Result<()> {
    let binary = repository().join("target/release/context-guard");
    start_up(&binary)?;
    growth(&binary)?;
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

/// A runner that has taken a session whole.
fn serving(binary: &Path, allowed: &str, session: &mut Session) -> Result<(Runner, Duration)> {
    let mut runner = Runner::start(binary, allowed)?;
    runner.call("configure", &json!({ "project": null }))?;
    runner.call("observe", &serde_json::to_value(circumstances())?)?;
    let (_, took) = runner.call("update", &serde_json::to_value(session.whole())?)?;
    Ok((runner, took))
}

fn circumstances() -> Circumstances {
    Circumstances {
        problem: None,
        destination: None,
        recall_active: true,
        working_directory: "/project".into(),
    }
}

fn moment() -> Value {
    let model = json!({
        "name": "anthropic/claude", "cache": "Anthropic", "prices": null, "cache_lifetime": 300, "thinking": "Unbound",
    });
    json!({ "phase": "RunEnd", "model": model, "now": 1_777_900_000_000_u64 })
}

/// What a hook costs where nothing is due, by the length of the session. A pass at mid-run is never due.
fn growth(binary: &Path) -> Result<()> {
    println!("\nthrough the pipe, nothing due");
    let mut medians = vec![];
    for entries in [100, 1_000, 10_000] {
        let mut session = Session::of_entries(entries);
        let (mut runner, _) = serving(binary, "", &mut session)?;
        let mut idle = moment();
        idle["phase"] = "MidRun".into();
        let times = (0..OFTEN).map(|_| {
            let delta = serde_json::to_value(session.turn())?;
            let (_, update) = runner.call("update", &delta)?;
            let (_, begin) = runner.call("begin", &idle)?;
            Ok(update + begin)
        });
        let times = times.collect::<Result<_>>()?;
        medians.push(row(&format!("update with one turn, and begin: {entries} entries"), times));
        let times = (0..OFTEN).map(|_| Ok(runner.call("status", &json!({}))?.1));
        row(&format!("status: {entries} entries"), times.collect::<Result<_>>()?);
    }
    if let [_, thousand, ten_thousand] = medians[..] {
        let ratio = ten_thousand.as_secs_f64() / thousand.as_secs_f64();
        println!("update and begin, 10,000 entries to 1,000: {ratio:.2} times");
    }
    Ok(())
}

/// A run of 5 million characters of which nothing was judged yet, judged by the built-in judge.
fn large_session(binary: &Path) -> Result<()> {
    let mut session = Session::of_one_run(5_000_000);
    println!(
        "\none run of {:.1} million characters, {} entries",
        session.characters() as f64 / 1e6,
        session.entries()
    );
    let (mut updates, mut begins, mut finishes, mut asked) = (vec![], vec![], vec![], vec![]);
    let mut questions = 0;
    let mut verdicts = Value::Null;
    for _ in 0..SELDOM {
        let (mut runner, update) = serving(binary, "", &mut session)?;
        let (inquiry, begin) = runner.call("begin", &moment())?;
        questions = inquiry["questions"].as_array().map_or(0, Vec::len);
        let service = json!({ "api": "builtin", "base_url": "", "model": "lexical", "headers": [], "input_price": 0.0 });
        let ask = json!({
            "service": service, "credential": null, "questions": inquiry["questions"], "budget": inquiry["budget"],
        });
        let took;
        (verdicts, took) = runner.call("ask", &ask)?;
        let finish = json!({ "verdicts": verdicts, "elapsed_ms": 1, "timed_out": false });
        finishes.push(runner.call("finish", &finish)?.1);
        updates.push(update);
        begins.push(begin);
        asked.push(took);
    }
    row("update, the session whole", updates);
    let begin = row(&format!("begin, {questions} questions"), begins);
    row("ask, the built-in judge", asked);
    let finish = row("finish", finishes);

    let verdicts: Vec<Verdict> = serde_json::from_value(verdicts)?;
    let model: Model = serde_json::from_value(moment()["model"].take())?;
    let (mut begins, mut finishes) = (vec![], vec![]);
    for _ in 0..SELDOM {
        let mut guard = Guard::new();
        guard.observe(circumstances());
        guard.update(session.whole()).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let started = Instant::now();
        let begun = guard.begin(Phase::RunEnd, model.clone(), 1_777_900_000_000);
        begins.push(started.elapsed());
        begun.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let verdicts = verdicts.clone();
        let started = Instant::now();
        let finished = guard.finish(verdicts, 1, false);
        finishes.push(started.elapsed());
        finished.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    }
    let native_begin = row("begin, natively and without the pipe", begins);
    let native_finish = row("finish, natively and without the pipe", finishes);
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
