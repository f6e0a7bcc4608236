//! Replays of small sessions, from the file to the printed page.

mod former_guard;
mod mapping;
mod printing;
mod projection;
mod reading;
mod replaying;
mod runs;
mod service;

use super::mapping::{Recorded, recorded};
use super::session_file::{self, ReadError, SessionFile};
use serde_json::{Value, json};

/// Returns the lines of a session file. Entries are named e1, e2, … and each continues the one before it, unless
/// they say otherwise.
fn lines(entries: impl IntoIterator<Item = Value>) -> String {
    let mut text = json!({"type": "session", "version": 3, "id": "s", "cwd": "/project"}).to_string() + "\n";
    for entry in linked(entries) {
        text += &format!("{entry}\n");
    }
    text
}

fn linked(entries: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut last = Value::Null;
    let link = |(number, mut entry): (usize, Value)| {
        let fields = entry.as_object_mut().unwrap();
        fields.entry("id").or_insert_with(|| format!("e{number}").into());
        fields.entry("parentId").or_insert_with(|| last.clone());
        fields.entry("timestamp").or_insert_with(|| format!("2026-01-01T00:00:{number:02}.000Z").into());
        last = entry["id"].clone();
        entry
    };
    (1..).zip(entries).map(link).collect()
}

fn branch(entries: impl IntoIterator<Item = Value>) -> Vec<Recorded> {
    let map = |entry: Value| match entry {
        Value::Object(fields) => recorded(fields["id"].as_str().unwrap().to_owned(), fields),
        _ => unreachable!("entries are objects"),
    };
    linked(entries).into_iter().map(map).collect()
}

fn read(text: &str) -> Result<SessionFile, ReadError> {
    session_file::read(text.as_bytes())
}

fn ids(branch: &[Recorded]) -> Vec<&str> {
    branch.iter().map(|recorded| recorded.entry.id.as_str()).collect()
}

fn message(message: Value) -> Value {
    json!({"type": "message", "message": message})
}

fn user(text: &str) -> Value {
    message(json!({"role": "user", "content": text}))
}

fn assistant(text: &str) -> Value {
    message(json!({
        "role": "assistant", "content": [{"type": "text", "text": text}],
        "provider": "lab", "model": "scripted", "stopReason": "stop",
    }))
}

fn stopped(reason: &str) -> Value {
    let mut entry = assistant("");
    entry["message"]["stopReason"] = reason.into();
    entry
}

fn calling(id: &str, name: &str, arguments: Value) -> Value {
    let mut entry = stopped("toolUse");
    entry["message"]["content"] =
        json!([{"type": "toolCall", "id": id, "name": name, "arguments": arguments}]);
    entry
}

fn result(call: &str, tool: &str, text: &str) -> Value {
    message(json!({
        "role": "toolResult", "toolCallId": call, "toolName": tool, "isError": false,
        "content": [{"type": "text", "text": text}],
    }))
}

fn edit(target: &str, replacement: Value) -> Value {
    json!({"type": "context_edit", "targetId": target, "replacement": replacement})
}

fn compaction(first_kept: &str) -> Value {
    json!({"type": "compaction", "summary": "so far", "firstKeptEntryId": first_kept})
}

fn guard_record(results: Value) -> Value {
    json!({"type": "custom", "customType": "context-guard", "data": {"v": 1, "results": results}})
}
