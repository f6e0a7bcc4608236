//! The demo's session: what the built-in judge keeps of it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use context_guard_tests::demo;
use context_guard_tests::lab::Installed;
use serde_json::Value;

/// Replays the recording with the settings' defaults.
fn replayed() -> Result<Value> {
    replayed_by("builtin")
}

fn replayed_by(judge: &str) -> Result<Value> {
    let home = tempfile::tempdir()?;
    let output = Command::new(Installed::find(None)?.runner)
        .arg("replay")
        .arg(demo::fixture())
        .args(["--judge", judge, "--json"])
        .env_clear()
        .env("HOME", home.path())
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// A recorded message.
struct Message {
    /// The number of its run, from 1.
    run: usize,
    entry: String,
    role: String,
    text: String,
}

fn messages() -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    let mut run = 0;
    for line in fs::read_to_string(demo::fixture())?.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let message = &entry["message"];
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        run += usize::from(role == "user");
        let blocks = message["content"].as_array().into_iter().flatten();
        let text: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let entry = entry["id"].as_str().unwrap_or_default().to_owned();
        messages.push(Message { run, entry, role, text: text.join("\n") });
    }
    Ok(messages)
}

fn items(report: &Value) -> impl Iterator<Item = &Value> {
    let runs = report["runs"].as_array().into_iter().flatten();
    runs.flat_map(|run| run["pass"]["items"].as_array().into_iter().flatten())
}

fn original<'m>(item: &Value, messages: &'m [Message]) -> Result<&'m Message> {
    messages.iter().find(|message| item["entry_id"] == message.entry).context("a judged entry is recorded")
}

/// The lines of an answer's code blocks.
fn quoted(answer: &str) -> impl Iterator<Item = &str> {
    answer.split("```").skip(1).step_by(2).flat_map(|block| block.lines().skip(1))
}

#[test]
fn every_line_that_an_answer_quotes_is_kept() -> Result<()> {
    let report = replayed()?;
    let messages = messages()?;
    let mut checked = 0;
    for item in items(&report) {
        let Some(replacement) = item["replacement"].as_str() else { continue };
        let output = original(item, &messages)?;
        let answers =
            messages.iter().filter(|message| message.role == "assistant" && message.run == output.run);
        for line in answers.flat_map(|answer| quoted(&answer.text)) {
            if output.text.lines().any(|other| other == line) {
                assert!(
                    replacement.lines().any(|other| other == line),
                    "{}: {line:?} is lost",
                    item["label"]
                );
                checked += 1;
            }
        }
    }
    assert!(checked >= 5, "only {checked} quoted lines stand in outputs that were replaced");
    Ok(())
}

#[test]
fn every_run_but_the_first_is_judged_and_half_of_the_characters_go() -> Result<()> {
    let report = replayed()?;
    let totals = &report["totals"];
    assert_eq!((&totals["completed"], &totals["judged_runs"]), (&Value::from(7), &Value::from(6)));
    let count = |name: &str| totals[name].as_u64().unwrap();
    assert!(count("saved_chars") * 2 >= count("before_chars"), "{totals}");
    Ok(())
}

#[test]
fn something_of_each_kind_goes() -> Result<()> {
    let report = replayed()?;
    let gone = |kind: &str, outcome: &str| {
        items(&report).filter(|item| item["kind"] == kind && item["outcome"] == outcome).collect::<Vec<_>>()
    };
    assert!(gone("large", "distilled").len() >= 2);
    assert!(!gone("exchange", "removed").is_empty());
    let stale = gone("small", "removed");
    let stale = stale.iter().filter_map(|item| item["superseded"].as_str());
    assert!(
        stale.clone().any(|hint| hint.starts_with("file changed later by edit ")),
        "{:?}",
        stale.collect::<Vec<_>>()
    );
    let images = gone("image", "removed");
    assert_eq!(images.len(), 1);
    assert_eq!(images[0]["label"], "read tests/fixtures/footer.png (1 image)");
    Ok(())
}

#[test]
fn without_a_judge_there_is_something_of_each_kind_and_nothing_is_decided() -> Result<()> {
    let report = replayed_by("none")?;
    for kind in ["large", "small", "exchange", "image"] {
        assert!(items(&report).any(|item| item["kind"] == kind), "{kind}");
    }
    assert!(items(&report).all(|item| item["outcome"].is_null() && item["replacement"].is_null()));
    assert_eq!(report["totals"]["requests"], 0);
    Ok(())
}

#[test]
fn of_the_failing_test_run_the_failure_stays_and_the_tests_that_passed_go() -> Result<()> {
    let report = replayed()?;
    let failing = items(&report).find(|item| item["label"] == "bash `cargo test -p context-guard`");
    let failing = failing.context("the failing test run is judged")?;
    let replacement = failing["replacement"].as_str().context("it is distilled")?;
    for needed in
        ["panicked at guest/src/text.rs:", "assertion `left == right` failed", "Command exited with code 101"]
    {
        assert!(replacement.contains(needed), "{needed:?} is lost:\n{replacement}");
    }
    let passed = |text: &str| text.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed(replacement) * 10 < passed(&original(failing, &messages()?)?.text), "{replacement}");
    Ok(())
}

#[test]
fn nothing_of_a_machine_is_in_the_recording() -> Result<()> {
    let text = fs::read_to_string(demo::fixture())?;
    assert!(text.len() < 400_000, "it is {} bytes long", text.len());
    for left in ["/root", "/Users/", "/tmp/.", "/.cargo", "127.0.0.1", "lab-key"] {
        assert!(!text.contains(left), "{left} is in the recording");
    }
    let homes = text.matches("/home/").count();
    assert_eq!(
        homes,
        text.matches("/home/dev/context-guard").count(),
        "a home directory is in the recording"
    );
    Ok(())
}
