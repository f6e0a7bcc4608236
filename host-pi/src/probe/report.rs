//! What a probe came to. `--json` prints it as it stands here.

use super::kind::Threshold;
use crate::contract::sessions::{Reply, Verdict};
use serde::Serialize;
use std::time::Duration;

/// A whole probe.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) judge: Answerer,
    /// Situations in the set.
    pub(super) situations: usize,
    /// Names of those that the guard asked nothing about.
    pub(super) silent: Vec<String>,
    pub(super) spent: Spent,
    /// Without those that nothing was asked about.
    pub(super) kinds: Vec<Measured>,
}

/// Who answered.
#[derive(Debug, Serialize)]
pub(super) struct Answerer {
    pub(super) api: String,
    pub(super) model: String,
    /// None for the judge that needs no network.
    pub(super) base_url: Option<String>,
    /// It guesses by words and was not trained to judge.
    pub(super) heuristic: bool,
}

/// What asking took.
#[derive(Debug, Default, Serialize)]
pub(super) struct Spent {
    pub(super) requests: usize,
    /// Requests without an answer.
    pub(super) failed: usize,
    pub(super) input_tokens: u64,
    /// Request bodies, retries included.
    pub(super) sent_bytes: u64,
    pub(super) cost_usd: f64,
    pub(super) ms: u64,
}

/// The answers of one kind.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) kind: String,
    #[serde(flatten)]
    pub(super) threshold: Threshold,
    pub(super) items: Vec<Item>,
    /// By threshold, of the items with an answer.
    pub(super) counts: Vec<Counts>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Item {
    pub(super) name: String,
    /// The label: it should stay.
    pub(super) needed: bool,
    /// None where there was no usable answer.
    pub(super) probability: Option<f64>,
    /// Whether it would stay at the default threshold; without an answer everything stays.
    pub(super) kept: bool,
}

/// What a threshold comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Counts {
    pub(super) threshold: f64,
    pub(super) kept_rightly: usize,
    pub(super) dropped_rightly: usize,
    pub(super) kept_wrongly: usize,
    pub(super) dropped_wrongly: usize,
    /// Share of the right ones; 0 where there are none at all.
    pub(super) accuracy: f64,
}

impl Spent {
    pub(super) fn of(verdicts: &[Verdict], time: Duration) -> Self {
        let mut spent = Self {
            requests: verdicts.len(),
            ms: time.as_millis().try_into().unwrap_or(u64::MAX),
            ..Self::default()
        };
        for verdict in verdicts {
            spent.failed += usize::from(matches!(verdict.reply, Reply::Failed(_)));
            spent.input_tokens = spent.input_tokens.saturating_add(verdict.input_tokens);
            spent.sent_bytes = spent.sent_bytes.saturating_add(verdict.sent_bytes);
            spent.cost_usd += verdict.cost_usd;
        }
        spent
    }
}
