//! The labelled situations, as they are checked in under `host-pi/probe/` and carried by the binary.

use crate::contract::sessions;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

const FILES: [(&str, &str); 5] = [
    ("chunks.json", include_str!("../../probe/chunks.json")),
    ("small.json", include_str!("../../probe/small.json")),
    ("superseded.json", include_str!("../../probe/superseded.json")),
    ("exchanges.json", include_str!("../../probe/exchanges.json")),
    ("mid-run.json", include_str!("../../probe/mid-run.json")),
];

/// A moment of a session at which the guard asks, with what a right answer would be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Situation {
    pub(super) name: String,
    pub(super) kind: Material,
    #[serde(default)]
    pub(super) phase: Phase,
    /// What came before the run.
    #[serde(default)]
    pub(super) history: Vec<Exchange>,
    /// The prompt of the run.
    pub(super) question: String,
    /// What the run called first; most of it is labelled.
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    /// What it called afterwards, with outputs too short to be judged.
    #[serde(default)]
    pub(super) later: Vec<Call>,
    /// The reply that ended it; empty while it goes on.
    #[serde(default)]
    pub(super) answer: String,
}

/// What the labels are about.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Material {
    Chunks,
    Small,
    /// Small outputs of which some became stale.
    Superseded,
    Exchanges,
}

/// When the guard asks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    #[default]
    RunEnd,
    MidRun,
}

impl From<Phase> for sessions::Phase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::RunEnd => Self::RunEnd,
            Phase::MidRun => Self::MidRun,
        }
    }
}

/// An earlier prompt and what was done for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    pub(super) prompt: String,
    pub(super) answer: String,
    /// Their outputs do not matter: no question holds them.
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    /// Absent for those that are too recent to be judged.
    pub(super) needed: Option<bool>,
}

/// A tool call with its output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    /// What the agent says before it.
    #[serde(default)]
    pub(super) note: String,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    #[serde(default)]
    pub(super) failed: bool,
    /// Absent where the output is not judged.
    pub(super) needed: Option<Needed>,
    /// By line.
    #[serde(default)]
    pub(super) output: Vec<String>,
}

/// The label of an output.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Needed {
    /// All of it, or nothing.
    Whole(bool),
    /// The chunks that hold one of these texts.
    Parts(Vec<String>),
}

impl Call {
    pub(super) fn text(&self) -> String {
        self.output.join("\n")
    }
}

/// Returns all situations.
///
/// # Errors
///
/// When a file is not what it should be, which a test rules out.
pub(super) fn situations() -> Result<Vec<Situation>> {
    let mut all = Vec::new();
    for (file, text) in FILES {
        let situations: Vec<Situation> = serde_json::from_str(text).context(file)?;
        all.extend(situations);
    }
    Ok(all)
}
