//! A recorded conversation in each host: synced, judged, edited, synced again, and recalled from.

use std::process::Command;

use anyhow::Result;
use context_guard_tests::contract::repository;
use context_guard_tests::lab::Classifier;
use serde_json::{Value, json};

use crate::host::{Host, built, said};

const KEY: &str = "sk-of-the-hosts";

/// The lines that the work still needs, and one of those that it does not.
const NEEDED: &str = "let backoff = Duration::from_secs(30); // between two tries of a job";
const NOISE: &str = "src/locks.rs:48:";

/// What a host prints of the conversation.
fn shown(host: Host, variables: &[(&str, String)]) -> Result<String> {
    let mut command = host.command()?;
    for (name, value) in variables {
        command.env(name, value);
    }
    let printed = said(command.arg(repository().join("tests/hosts/transcript.json")))?;
    assert!(!printed.contains(KEY), "{host:?} shows the key");
    Ok(printed)
}

/// A classifier that keeps the lines about the backoff, and drops whole outputs.
fn classifier() -> Result<Classifier> {
    let rules = json!([
        { "question": "^keep_whole$", "p": 0.02 },
        { "question": "^focus$", "chunk": "from_secs\\(30\\)", "confidence": 0.9 },
        { "question": "^chunk_", "chunk": "from_secs\\(30\\)", "p": 0.95 },
    ]);
    Classifier::start(KEY, &rules)
}

/// The same with a classifier that is asked where this origin is allowed, and gets this key.
fn shown_asking(host: Host, classifier: &Classifier, allowed: String, key: Option<&str>) -> Result<String> {
    let service = format!("{}/api/v1", classifier.origin());
    let mut variables = vec![("GUARD_SERVICE", service), ("GUARD_ALLOW", allowed)];
    variables.extend(key.map(|key| ("GUARD_KEY", key.to_owned())));
    shown(host, &variables)
}

/// The API's message of the entry that a host shows.
fn message(printed: &str, entry: &str) -> Result<Value> {
    let start = printed.find(&format!("\n{entry}: {{")).map(|at| at + entry.len() + 3);
    let text = start.and_then(|at| printed.get(at..)).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    Ok(values.next().ok_or_else(|| anyhow::anyhow!("{entry} was not edited: {printed}"))??)
}

fn assert_distilled(printed: &str) -> Result<()> {
    let search = message(printed, "m4.0")?;
    let result = &search["content"][0];
    assert_eq!((&search["role"], &result["tool_use_id"]), (&json!("user"), &json!("toolu_2")));
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("[context-guard] Distilled the output of bash"), "{text}");
    assert!(text.contains(NEEDED) && !text.contains(NOISE) && text.len() < 4000, "{text}");
    // The image goes without a question, once three replies came after it; the text beside it stays.
    let page = message(printed, "m2.0")?;
    let blocks = page["content"][0]["content"].to_string();
    assert!(blocks.contains("Removed 1 image") && blocks.contains("640 x 400 pixels"), "{blocks}");
    // What went comes back by pattern, and an image by its place.
    assert!(printed.contains(NOISE), "{printed}");
    assert!(printed.contains("(the image in block 1 of m2.0)"), "{printed}");
    // A new instance that is told the whole session knows what the old one knew.
    let statuses = |name| printed.lines().filter_map(move |line| line.strip_prefix(name));
    let (first, next): (Vec<&str>, Vec<&str>) =
        (statuses("status: ").collect(), statuses("status of a new instance: ").collect());
    assert!(first.len() == 1 && first[0].starts_with("🛡 −"), "{first:?}");
    assert_eq!(first, next);
    Ok(())
}

#[test]
fn the_builtin_judge_answers_without_a_network() -> Result<()> {
    let node = shown(Host::Node, &[])?;
    assert_distilled(&node)?;
    for host in Host::ALL {
        assert_eq!(shown(host, &[])?, node, "{host:?} shows another session than Node");
    }
    Ok(())
}

#[test]
fn a_classifier_is_asked_with_a_key_that_the_guest_never_sees() -> Result<()> {
    for host in Host::ALL {
        let classifier = classifier()?;
        let printed = shown_asking(host, &classifier, classifier.origin(), Some(KEY))?;
        assert_distilled(&printed)?;
        let received = classifier.received()?;
        assert!(!received.is_empty(), "{host:?} asked nobody");
        for request in received {
            let request: Value = serde_json::from_str(&request)?;
            assert_eq!(request["response"]["status"], 200, "{host:?}: {request}");
            assert!(!request["request"]["body"].to_string().contains(KEY), "{host:?} gave the guest the key");
        }
    }
    Ok(())
}

#[test]
fn without_the_permission_not_one_byte_leaves() -> Result<()> {
    for host in Host::ALL {
        let classifier = classifier()?;
        // Another origin is allowed: what is compared is the whole of it.
        let printed = shown_asking(host, &classifier, format!("{}0", classifier.origin()), Some(KEY))?;
        assert!(!classifier.was_reached(), "{host:?} connected");
        assert!(
            printed.contains("warning: ") && printed.contains(&classifier.origin()),
            "{host:?}: {printed}"
        );
        // What needs no answer is done all the same; the rest stays.
        message(&printed, "m2.0")?;
        assert!(message(&printed, "m4.0").is_err(), "{host:?} edited without an answer");
    }
    Ok(())
}

#[test]
fn without_its_key_the_classifier_refuses_and_everything_stays() -> Result<()> {
    for host in Host::ALL {
        let classifier = classifier()?;
        let printed = shown_asking(host, &classifier, classifier.origin(), None)?;
        assert!(classifier.was_reached(), "{host:?} asked nobody");
        assert!(printed.contains("warning: "), "{host:?}: {printed}");
        assert!(message(&printed, "m4.0").is_err(), "{host:?} edited without an answer");
    }
    Ok(())
}

#[test]
fn the_gates_keep_the_key_to_its_place() -> Result<()> {
    let tests = repository().join("target/hosts/node/host/permission.test.js");
    let node = Command::new(&built()?.node).arg("--test").arg(tests).output()?;
    assert!(node.status.success(), "{}", String::from_utf8_lossy(&node.stdout));
    let mut python = Command::new(&built()?.python);
    python.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(repository().join("tests/hosts/python"));
    let python = python.args(["-m", "unittest"]).output()?;
    let told = String::from_utf8_lossy(&python.stderr);
    assert!(python.status.success() && told.contains("Ran 3 tests"), "{told}");
    Ok(())
}
