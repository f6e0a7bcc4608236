//! The ends of turns: what could be judged there, and why there was a checkpoint or none.
//!
//! The guard tells only that a checkpoint is due. What it had to choose from, and what held it back, is found by asking
//! again under other settings.

use super::passes::{Replay, Watch};
use super::record::{Judged, Kind, Record};
use super::report::{HeldBack, Turn};
use crate::contract::sessions::Phase;
use serde_json::{Map, Value};

/// The user's settings, and what differs from them in one point.
#[derive(Debug)]
pub(super) struct Variants {
    own: String,
    /// No price is weighed.
    unweighed: String,
    /// Whatever can be judged is.
    eager: String,
}

impl Variants {
    /// Makes them from the settings as JSON. What is no object counts as none, as it does for the guard.
    pub(super) fn of(settings: &str) -> Self {
        let own: Map<String, Value> = serde_json::from_str(settings).unwrap_or_default();
        let mut unweighed = own.clone();
        unweighed.insert("midRunBreakEven".into(), false.into());
        let mut eager = unweighed.clone();
        for key in ["midRunBatchChars", "midRunBatchCharsOpenAI"] {
            eager.insert(key.into(), 0.into());
        }
        let json = |settings| Value::Object(settings).to_string();
        Self { own: json(own), unweighed: json(unweighed), eager: json(eager) }
    }
}

impl Replay<'_> {
    /// Replays the end of a turn that another one follows; none where nothing could be judged.
    pub(super) async fn turn(&mut self, number: usize, watch: &impl Watch) -> Option<Turn> {
        let Variants { unweighed, eager, .. } = self.variants.as_ref()?;
        let (unweighed, eager) = (unweighed.clone(), eager.clone());
        let judged = self.under(eager).await?;
        let eligible: Vec<&Judged> =
            judged.results.iter().filter(|judged| judged.reason != "recalled").collect();
        if eligible.is_empty() {
            return None;
        }
        let checkpoint = self.pass(Phase::MidRun, watch).await;
        let held_back = match &checkpoint {
            Some(_) => None,
            None if self.under(unweighed).await.is_some() => Some(HeldBack::Price),
            None => Some(HeldBack::Batch),
        };
        Some(Turn {
            number,
            eligible_items: eligible.len(),
            eligible_chars: eligible.into_iter().map(chars).sum(),
            held_back,
            checkpoint,
        })
    }

    /// Returns what a checkpoint would look at under other settings; none where it is not due.
    async fn under(&mut self, settings: String) -> Option<Record> {
        let own = self.variants.as_ref()?.own.clone();
        self.runner.configure_with(settings).await.ok()?;
        let passed = self.passed(Phase::MidRun, None, None, |_, _| {}).await;
        self.runner.configure_with(own).await.ok()?;
        passed.ok()?.outcome?.guard_record.as_deref().and_then(Record::parse)
    }
}

/// What an item adds to the batch: all of its text, but of images only what goes.
fn chars(judged: &Judged) -> u64 {
    let stays = if judged.kind == Kind::Image { judged.after_chars } else { 0 };
    judged.before_chars.saturating_sub(stays)
}
