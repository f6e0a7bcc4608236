//! Settings that are broken or cannot be written, sessions of older versions, and two processes on one session.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use context_guard_tests::lab::{Installed, Plan, StandIn};
use serde_json::{Value, json};

use crate::search::{self, COMMAND, NEEDED, text_of};
use crate::trial::{Search, Trial, later_turns, original_of};

fn plan() -> Plan {
    search::plan(&later_turns())
}

/// Runs a session with that text in the settings file.
fn survives_settings(text: &str, notice: &str) -> Result<()> {
    let lab = search::lab(plan())?;
    fs::write(lab.agent("context-guard.json"), text)?;
    let mut trial = Trial { pi: lab.rpc(&[])?, lab };
    trial.search()?;
    trial.told(notice);
    assert_eq!(fs::read_to_string(trial.lab.agent("context-guard.json"))?, text, "the file is the user's");
    trial.end(Search::Distilled)
}

#[test]
fn settings_that_are_no_json() -> Result<()> {
    survives_settings("{ \"minResultChars\": 40", "is not valid JSON and is ignored")
}

#[test]
fn settings_of_wrong_types() -> Result<()> {
    let wrong =
        json!({ "enabled": "yes", "timeoutMs": "soon", "model": 7, "excludeTools": {}, "network": [] });
    survives_settings(&wrong.to_string(), "timeoutMs")
}

#[test]
fn settings_that_are_no_object() -> Result<()> {
    survives_settings("[1, 2]", "object")
}

/// Runs a session in which the settings file cannot be written, and the user tries to have it written.
fn survives_unwritable(trial: Trial, why: &str) -> Result<()> {
    let mut trial = trial;
    trial.pi.until_status(0, "🛡 0 saved")?;
    trial.pi.prompt("/guard off")?;
    trial.search()?;
    trial.told(why);
    trial.end(Search::Distilled)
}

#[test]
fn a_folder_in_place_of_the_settings() -> Result<()> {
    let lab = search::lab(plan())?;
    fs::create_dir(lab.agent("context-guard.json"))?;
    survives_unwritable(Trial { pi: lab.rpc(&[])?, lab }, "context-guard.json cannot be written")
}

#[test]
fn settings_where_nothing_can_be_written() -> Result<()> {
    let file = StandIn::file("no folder", false)?;
    let environment = vec![("PI_CONTEXT_GUARD_CONFIG", file.path().join("settings.json").into_os_string())];
    survives_unwritable(Trial::new(Plan { environment, ..plan() })?, "cannot be written")
}

#[test]
fn a_full_disk() -> Result<()> {
    // A file may grow to some megabytes; the settings have more already, so that they cannot be written anew.
    let runner = Installed::find(None)?.runner;
    let script = format!("#!/bin/sh\ntrap '' XFSZ\nulimit -f 8192\nexec '{}' \"$@\"\n", runner.display());
    let full = StandIn::file(script, true)?;
    let lab = search::lab(Plan { binary: Some(full.path()), ..plan() })?;
    let settings = json!({ "theirs": "x".repeat(10 << 20) }).to_string();
    fs::write(lab.agent("context-guard.json"), &settings)?;
    let names = || -> Result<BTreeSet<OsString>> {
        fs::read_dir(lab.agent(""))?.map(|entry| Ok(entry?.file_name())).collect()
    };
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let before = names()?;
    pi.prompt("/guard off")?;
    assert!(
        fs::read_to_string(lab.agent("context-guard.json"))? == settings,
        "the settings are as they were"
    );
    assert_eq!(names()?, before, "no part of a file is left");
    let mut trial = Trial { lab, pi };
    trial.search()?;
    trial.told("cannot be written");
    trial.end(Search::Distilled)
}

/// An old conversation as a session file of that version has it. A read stands in it as its longest output.
fn session_of_version(version: u32, project: &Path) -> String {
    let time = "2025-11-01T10:00:00.000Z";
    let header = json!({ "type": "session", "version": version, "id": "0b5e8a52-lab", "timestamp": time, "cwd": project });
    let usage = json!({
        "input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    });
    let reply = |content: Value, stop: &str| {
        json!({
            "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "lab", "model": "scripted",
            "usage": usage, "stopReason": stop, "timestamp": 1_761_991_200_000_u64,
        })
    };
    let call = json!([{ "type": "toolCall", "id": "toolu_old", "name": "read", "arguments": { "path": "old.txt" } }]);
    let note = if version < 3 { "hookMessage" } else { "custom" };
    let messages = [
        json!({ "role": "user", "content": "What stands in old.txt?", "timestamp": 1 }),
        reply(call, "toolUse"),
        json!({
            "role": "toolResult", "toolCallId": "toolu_old", "toolName": "read", "isError": false, "timestamp": 1,
            "content": [{ "type": "text", "text": OLD_LINE.repeat(300) }],
        }),
        json!({ "role": note, "customType": "reminder", "content": "An old reminder.", "display": true, "timestamp": 1 }),
        reply(json!([{ "type": "text", "text": "Old lines." }]), "stop"),
    ];
    let mut lines = vec![header];
    for (at, message) in messages.iter().enumerate() {
        let mut entry = json!({ "type": "message", "timestamp": time, "message": message });
        if version > 1 {
            entry["id"] = json!(format!("0000000{at}"));
            entry["parentId"] =
                at.checked_sub(1).map_or(Value::Null, |before| json!(format!("0000000{before}")));
        }
        lines.push(entry);
    }
    if version == 1 {
        // The first version had no number.
        lines[0].as_object_mut().map(|header| header.remove("version"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const OLD_LINE: &str = "an old line of the old file\n";

/// Goes on with a session file of that version, `cut` behind it: what is old stays, what is new is judged.
fn goes_on_with(version: u32, cut: &str) -> Result<()> {
    let lab = search::lab(plan())?;
    let text = session_of_version(version, &lab.project()) + cut;
    let folder = lab.agent("sessions").join("old");
    fs::create_dir_all(&folder)?;
    let file = folder.join("2025-11-01T10-00-00-000Z_0b5e8a52-lab.jsonl");
    fs::write(&file, text)?;
    let pi = lab.rpc(&["--session", file.to_str().context("a path is text")?])?;
    let mut trial = Trial { pi, lab };
    trial.search()?;
    trial.told("");
    let kept = fs::read_to_string(&file)?;
    assert!(
        kept.contains(&json!(OLD_LINE.repeat(300)).to_string()),
        "the old output is whole in the session"
    );
    let last = trial.lab.requests()?.pop().context("the model was asked")?.to_string();
    assert!(last.contains(&json!(OLD_LINE.repeat(300)).to_string()), "and in the context");
    if !cut.is_empty() {
        // Pi leaves the piece where it is and reads over it; the laboratory does not.
        fs::write(&file, kept.replace(&format!("{cut}\n"), ""))?;
    }
    trial.end(Search::Distilled)
}

#[test]
fn a_session_of_each_older_version() -> Result<()> {
    for version in 1..=3 {
        goes_on_with(version, "")?;
    }
    Ok(())
}

#[test]
fn a_session_whose_last_line_was_cut() -> Result<()> {
    goes_on_with(3, "{\"type\":\"message\",\"id\":\"000")
}

#[test]
fn two_processes_in_one_project_have_their_own_sessions() -> Result<()> {
    let mut plan = plan();
    plan.turns = json!([searching(), { "text": "There." }, searching(), { "text": "There, too." }, { "text": "Yes." }, { "text": "Yes." }]);
    let lab = search::lab(plan)?;
    let (mut one, mut other) = (lab.rpc(&[])?, lab.rpc(&[])?);
    for pi in [&mut one, &mut other] {
        pi.prompt("Where is the backoff set?")?;
        pi.until_saved(0)?;
    }
    for pi in [&mut one, &mut other] {
        pi.prompt("Are you sure?")?;
        assert_eq!((pi.warnings(0), pi.extension_errors()), (vec![], vec![]));
    }
    assert_eq!((one.close()?, other.close()?), (Some(0), Some(0)));
    lab.until_left()?;
    for request in &lab.requests()?[4..] {
        assert!(request.to_string().contains("[context-guard] Distilled"), "each has its own edit");
    }
    Ok(())
}

#[test]
fn two_processes_on_one_session_lose_nothing() -> Result<()> {
    let mut plan = plan();
    plan.turns = json!([searching(), { "text": "There." }, searching(), { "text": "There, too." }, searching(), { "text": "Still." }, { "text": "Yes." }]);
    let lab = search::lab(plan)?;
    let mut one = lab.rpc(&[])?;
    one.prompt("Where is the backoff set?")?;
    one.until_saved(0)?;
    let mut other = lab.rpc(&["-c"])?;
    other.until_saved(0)?;
    for pi in [&mut other, &mut one] {
        pi.prompt("Search again.")?;
    }
    other.prompt("Are you sure?")?;
    for pi in [&mut one, &mut other] {
        assert_eq!((pi.warnings(0), pi.extension_errors()), (vec![], vec![]));
    }
    assert_eq!((one.close()?, other.close()?), (Some(0), Some(0)));
    lab.until_left()?;
    let original = original_of(&lab)?;
    let session = lab.session()?;
    let results = session.tool_results("bash");
    assert_eq!(results.len(), 3);
    assert!(
        results
            .iter()
            .all(|entry| text_of(&entry["message"]["content"]) == original && original.contains(NEEDED))
    );
    Ok(())
}

fn searching() -> Value {
    json!({ "tools": [{ "name": "bash", "input": { "command": COMMAND } }] })
}
