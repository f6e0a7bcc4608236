//! A session file as Pi keeps it: one entry a line, never rewritten.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The entries of one session, oldest first.
pub struct Session {
    entries: Vec<Value>,
}

impl Session {
    /// Reads the newest session below a folder.
    pub(super) fn newest(folder: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for project in fs::read_dir(folder).with_context(|| format!("no session in {}", folder.display()))? {
            for file in fs::read_dir(project?.path())? {
                files.push(file?.path());
            }
        }
        // Their names begin with the time.
        let newest: &PathBuf = files.iter().max().context("no session was kept")?;
        let entries: Result<Vec<Value>, _> =
            fs::read_to_string(newest)?.lines().map(serde_json::from_str::<Value>).collect();
        Ok(Self { entries: entries? })
    }

    /// Every entry.
    pub fn entries(&self) -> &[Value] {
        &self.entries
    }

    /// The entries of a type.
    pub fn of_type(&self, name: &str) -> Vec<&Value> {
        self.entries.iter().filter(|entry| entry["type"] == name).collect()
    }

    /// The data of the `custom` entries of an extension.
    pub fn custom(&self, custom_type: &str) -> Vec<&Value> {
        self.of_type("custom")
            .into_iter()
            .filter(|e| e["customType"] == custom_type)
            .map(|e| &e["data"])
            .collect()
    }

    /// The tool results of a tool.
    pub fn tool_results(&self, tool: &str) -> Vec<&Value> {
        self.of_type("message")
            .into_iter()
            .filter(|e| e["message"]["role"] == "toolResult" && e["message"]["toolName"] == tool)
            .collect()
    }
}
