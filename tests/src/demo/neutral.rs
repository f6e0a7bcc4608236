//! Takes out of a recorded session what belongs to the machine, and Pi's own long texts.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::contract::repository;
use crate::lab::Session;

/// Stands for the project's folder.
const PROJECT: &str = "/home/dev/context-guard";

/// What stands for a text of Pi's.
const LEFT_OUT: &str = "…";

/// Folders of the recording.
pub(super) struct Places {
    pub(super) project: PathBuf,
    pub(super) target: PathBuf,
}

/// Returns the session file's text, one entry a line.
pub(super) fn session(session: &Session, places: &Places) -> Result<String> {
    let mut text = String::new();
    for entry in session.entries() {
        let mut entry = entry.clone();
        if entry["message"]["role"] == "system" {
            without_instructions(&mut entry["message"]);
        }
        text.push_str(&entry.to_string());
        text.push('\n');
    }
    // Cargo names files by the folder that it works in, as long as they are below it.
    let text = text
        .replace(&format!("{}/", places.target.display()), "target/")
        .replace(&places.project.display().to_string(), PROJECT);
    let home = std::env::home_dir().unwrap_or_default();
    let laboratory = places.project.parent().unwrap_or(&places.project);
    for left in [laboratory, &repository(), &home] {
        let left = left.display().to_string();
        ensure!(left.is_empty() || !text.contains(&left), "{left} is left in the session");
    }
    Ok(text)
}

/// Leaves the names of a system prompt's sections and tools: their texts are Pi's, and a replay needs none of them.
fn without_instructions(message: &mut Value) {
    if let Some(sections) = message["sections"].as_object_mut() {
        sections.iter_mut().filter(|(name, _)| *name != "cwd").for_each(|(_, text)| *text = json!(LEFT_OUT));
    }
    if let Some(tools) = message["toolsAdded"].as_array_mut() {
        for tool in tools {
            *tool = json!({ "name": tool["name"], "description": LEFT_OUT, "parameters": {} });
        }
    }
}
