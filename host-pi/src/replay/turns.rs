//! The ends of turns: what could be judged there, and why there was a checkpoint or none.
//!
//! The guard tells only that a checkpoint is due. What it had to choose from, and what held it back, is found by asking
//! again under other settings.

use super::passes::{Replay, Watch};
use super::record::{Judged, Kind, Record};
use super::report::{HeldBack, Kinds, Turn};
use crate::contract::sessions::Phase;
use crate::contract::types::CacheScheme;
use serde_json::{Map, Value};

const BATCH: &str = "midRunBatchChars";
const BATCH_OPENAI: &str = "midRunBatchCharsOpenAI";
const BREAK_EVEN: &str = "midRunBreakEven";

/// The guard's default of both least batches, in characters, and the most that it takes.
const DEFAULT_BATCH: u64 = 60_000;
const GREATEST_BATCH: u64 = 10_000_000;

/// The user's settings, and what differs from them in one point.
#[derive(Debug)]
pub(super) struct Variants {
    own: String,
    /// No price is weighed.
    unweighed: String,
    /// Whatever can be judged is.
    eager: String,
    batch: u64,
    batch_openai: u64,
    weighed: bool,
}

impl Variants {
    /// Makes them from the settings as JSON. What is no object counts as none, as it does for the guard.
    pub(super) fn of(settings: &str) -> Self {
        let own: Map<String, Value> = serde_json::from_str(settings).unwrap_or_default();
        let mut unweighed = own.clone();
        unweighed.insert(BREAK_EVEN.into(), false.into());
        let mut eager = unweighed.clone();
        for key in [BATCH, BATCH_OPENAI] {
            eager.insert(key.into(), 0.into());
        }
        let (batch, batch_openai) = (least(own.get(BATCH)), least(own.get(BATCH_OPENAI)));
        let weighed = own.get(BREAK_EVEN) != Some(&Value::Bool(false));
        let json = |settings| Value::Object(settings).to_string();
        Self { own: json(own), unweighed: json(unweighed), eager: json(eager), batch, batch_openai, weighed }
    }

    /// Returns the least batch of a checkpoint, in characters.
    fn least(&self, cache: CacheScheme) -> u64 {
        match cache {
            CacheScheme::OpenaiCodex => self.batch_openai,
            CacheScheme::Anthropic | CacheScheme::Other => self.batch,
        }
    }
}

/// Reads a least batch as the guard does, which takes the default for a wrong value.
fn least(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_u64).filter(|chars| *chars <= GREATEST_BATCH).unwrap_or(DEFAULT_BATCH)
}

impl Replay<'_> {
    /// Replays the end of a turn that another one follows; none where nothing could be judged.
    pub(super) async fn turn(&mut self, number: usize, watch: &impl Watch) -> Option<Turn> {
        let (unweighed, eager) = (self.variants.unweighed.clone(), self.variants.eager.clone());
        let least_chars = self.variants.least(self.model().cache);
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
        let pays = match held_back {
            Some(HeldBack::Price) => Some(false),
            None if self.variants.weighed => Some(true),
            _ => None,
        };
        let batch_chars = checkpoint.as_ref().filter(|pass| pass.failure.is_none()).map(|pass| {
            let in_batch = |judged: &&&Judged| pass.items.iter().any(|item| item.is_about(judged));
            eligible.iter().filter(in_batch).map(|judged| chars(judged)).sum()
        });
        Some(Turn {
            number,
            eligible_items: eligible.len(),
            eligible: Kinds::of(eligible.iter().map(|judged| judged.kind)),
            eligible_chars: eligible.into_iter().map(chars).sum(),
            least_chars,
            batch_chars,
            pays,
            held_back,
            checkpoint,
        })
    }

    /// Returns what a checkpoint would look at under other settings; none where it is not due.
    async fn under(&mut self, settings: String) -> Option<Record> {
        let own = self.variants.own.clone();
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
