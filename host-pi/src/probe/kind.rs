//! The kinds of question that are told apart, each with the threshold that its answers are compared with.

use super::set::Phase;
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

/// The published settings, with their defaults.
const SETTINGS: &str = include_str!("../../../docs/settings.schema.json");

/// A kind of question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Kind {
    pub(super) phase: Phase,
    pub(super) about: About,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum About {
    /// A chunk of a large output.
    Chunk,
    /// The same, in a session with earlier exchanges, which changes the wording.
    ChunkWithHistory,
    /// Whether a large output is needed as a whole.
    KeepWhole,
    /// That most of a large output is needed.
    MostNeeded,
    /// That nothing of a large output is needed.
    NothingNeeded,
    /// A small output.
    Small,
    /// A small output in a run that made some of them stale.
    Superseded,
    /// An earlier exchange.
    Exchange,
}

/// In the order in which they are shown.
const ABOUT: [About; 8] = [
    About::Chunk,
    About::ChunkWithHistory,
    About::KeepWhole,
    About::MostNeeded,
    About::NothingNeeded,
    About::Small,
    About::Superseded,
    About::Exchange,
];

/// The setting that a kind's answers are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Threshold {
    pub(super) setting: &'static str,
    pub(super) default: f64,
}

impl Kind {
    /// Returns all kinds, in the order in which they are shown.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let of = |phase| ABOUT.into_iter().map(move |about| Self { phase, about });
        of(Phase::RunEnd).chain(of(Phase::MidRun))
    }

    pub(super) fn title(self) -> String {
        let about = match self.about {
            About::Chunk => "chunks of large outputs",
            About::ChunkWithHistory => "chunks, with earlier conversation",
            About::KeepWhole => "large outputs: all of it is needed",
            About::MostNeeded => "large outputs: most of it is needed",
            About::NothingNeeded => "large outputs: nothing is needed",
            About::Small => "small outputs",
            About::Superseded => "small outputs, some superseded",
            About::Exchange => "earlier exchanges",
        };
        match self.phase {
            Phase::RunEnd => about.to_owned(),
            Phase::MidRun => format!("mid-run: {about}"),
        }
    }

    /// Returns the threshold with its default.
    ///
    /// # Errors
    ///
    /// When the published settings do not have it, which a test rules out.
    pub(super) fn threshold(self) -> Result<Threshold> {
        let setting = match (self.about, self.phase) {
            (About::Chunk | About::ChunkWithHistory, Phase::RunEnd) => "chunkKeepThreshold",
            (About::Chunk | About::ChunkWithHistory, Phase::MidRun) => "midRunChunkKeepThreshold",
            (About::KeepWhole, _) => "keepWholeThreshold",
            (About::MostNeeded, _) => "focusWholeThreshold",
            (About::NothingNeeded, _) => "noneThreshold",
            (About::Small | About::Superseded, _) => "smallKeepThreshold",
            (About::Exchange, _) => "exchangeOmitThreshold",
        };
        let settings: Value = serde_json::from_str(SETTINGS)?;
        let default = settings["properties"][setting]["default"].as_f64();
        Ok(Threshold { setting, default: default.with_context(|| format!("{setting} has no default"))? })
    }

    /// Returns whether a probability at or above the threshold drops what was asked about, rather than keeps it.
    pub(super) fn drops(self) -> bool {
        self.about == About::NothingNeeded
    }
}
