//! What a replay came to. `--json` prints it as it stands here.

use super::former_guard::FormerGuard;
use super::record::{Expected, Judged, Kind, Outcome};
use super::runs::Ending;
use serde::Serialize;
use std::collections::HashMap;

/// A whole replay.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) session: Session,
    /// None where nothing was asked, so that all items are mere candidates.
    pub(super) judge: Option<Answerer>,
    /// The settings file that counted; none where all settings are defaults.
    pub(super) settings: Option<String>,
    /// What was wrong with the session file or the settings.
    pub(super) warnings: Vec<String>,
    pub(super) runs: Vec<Run>,
    pub(super) totals: Totals,
}

/// The session file.
#[derive(Debug, Serialize)]
pub(super) struct Session {
    pub(super) file: String,
    pub(super) version: u64,
    /// Entries on all branches.
    pub(super) entries: usize,
    /// Entries on the active branch, which is what is replayed.
    pub(super) branch_entries: usize,
    /// What an earlier guard left in the session, and the replay leaves out.
    pub(super) left_out: FormerGuard,
}

/// Who answered the questions.
#[derive(Debug, Serialize)]
pub(super) struct Answerer {
    pub(super) api: String,
    pub(super) model: String,
    /// None for the judge that needs no network.
    pub(super) base_url: Option<String>,
    /// It guesses by words and was not trained to judge.
    pub(super) heuristic: bool,
}

/// One run of the session.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    /// From 1.
    pub(super) number: usize,
    /// How the prompt begins.
    pub(super) question: String,
    pub(super) ending: Ending,
    /// Those at whose end something could be judged; the last one of a run belongs to its end.
    pub(super) turns: Vec<Turn>,
    /// What its end came to; none where nothing was due.
    pub(super) pass: Option<Pass>,
}

/// A turn that another one followed.
#[derive(Debug, Serialize)]
pub(super) struct Turn {
    /// From 1, within the run.
    pub(super) number: usize,
    /// What could be judged at its end.
    pub(super) eligible_items: usize,
    /// The same by kind.
    pub(super) eligible: Kinds,
    /// What could be judged, and what old images would free.
    pub(super) eligible_chars: u64,
    /// From so many characters on there is a checkpoint, by the settings and the model's cache.
    pub(super) least_chars: u64,
    /// What the checkpoint judged of these characters: all, unless old exchanges and images would not have paid.
    pub(super) batch_chars: Option<u64>,
    /// Whether judging was likely to pay for what the edits write anew; none where that was not weighed.
    pub(super) pays: Option<bool>,
    /// Why there was no checkpoint.
    pub(super) held_back: Option<HeldBack>,
    /// None where there was none.
    pub(super) checkpoint: Option<Pass>,
}

/// Numbers of items by kind.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(super) struct Kinds {
    pub(super) large: usize,
    pub(super) small: usize,
    pub(super) exchanges: usize,
    pub(super) images: usize,
}

/// Why a turn ended without a checkpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HeldBack {
    /// There was too little to judge.
    Batch,
    /// Writing the rest of the context anew would have cost more than was likely to be saved.
    Price,
}

/// What a pass came to.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pass {
    pub(super) requests: u64,
    pub(super) input_tokens: u64,
    /// Body bytes of requests that left.
    pub(super) sent_bytes: u64,
    pub(super) cost_usd: f64,
    pub(super) ms: u32,
    pub(super) timed_out: bool,
    pub(super) warnings: Vec<String>,
    /// Why the guard gave no answer.
    pub(super) failure: Option<String>,
    /// None where nothing changed.
    pub(super) expected: Option<Expected>,
    pub(super) items: Vec<Item>,
}

/// What became of an output, an exchange or the images of an output.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    pub(super) entry_id: String,
    pub(super) kind: Kind,
    pub(super) label: String,
    /// None where nothing was decided.
    pub(super) outcome: Option<Outcome>,
    /// The guard's own words, joined by commas.
    pub(super) reason: String,
    pub(super) before_chars: u64,
    pub(super) after_chars: u64,
    pub(super) lines: usize,
    pub(super) kept_lines: usize,
    /// Which later call made it stale.
    pub(super) superseded: Option<String>,
    /// An earlier pass looked at it, too.
    pub(super) again: bool,
    /// How each request about it was decided.
    pub(super) traces: Vec<String>,
    /// What the model is shown instead; none for what was kept or omitted.
    pub(super) replacement: Option<String>,
}

/// Sums over all runs.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Totals {
    pub(super) runs: usize,
    pub(super) completed: usize,
    /// Runs at whose end something was judged.
    pub(super) judged_runs: usize,
    /// Passes within runs.
    pub(super) checkpoints: usize,
    pub(super) distilled: usize,
    pub(super) removed: usize,
    pub(super) kept: usize,
    /// Different items of each kind.
    pub(super) large: usize,
    pub(super) small: usize,
    pub(super) exchanges: usize,
    pub(super) images: usize,
    /// Every item once.
    pub(super) before_chars: u64,
    pub(super) after_chars: u64,
    pub(super) saved_chars: u64,
    /// A quarter of the characters: an estimate.
    pub(super) saved_tokens_estimate: u64,
    pub(super) requests: u64,
    pub(super) input_tokens: u64,
    pub(super) sent_bytes: u64,
    pub(super) cost_usd: f64,
    pub(super) ms: u64,
}

impl Run {
    pub(super) fn checkpoints(&self) -> usize {
        self.turns.iter().filter(|turn| turn.checkpoint.is_some()).count()
    }

    /// Returns its passes, its end's last.
    pub(super) fn passes(&self) -> impl Iterator<Item = &Pass> {
        self.turns.iter().filter_map(|turn| turn.checkpoint.as_ref()).chain(&self.pass)
    }
}

impl Kinds {
    pub(super) fn of(kinds: impl IntoIterator<Item = Kind>) -> Self {
        let mut counted = Self::default();
        for kind in kinds {
            match kind {
                Kind::Large => counted.large += 1,
                Kind::Small => counted.small += 1,
                Kind::Exchange => counted.exchanges += 1,
                Kind::Image => counted.images += 1,
                Kind::Other => {}
            }
        }
        counted
    }

    pub(super) fn get(&self, kind: Kind) -> usize {
        match kind {
            Kind::Large => self.large,
            Kind::Small => self.small,
            Kind::Exchange => self.exchanges,
            Kind::Image => self.images,
            Kind::Other => 0,
        }
    }
}

impl Pass {
    /// Counts the items that were taken out, whole or in part.
    pub(super) fn applied(&self) -> usize {
        let gone = |item: &&Item| matches!(item.outcome, Some(Outcome::Distilled | Outcome::Removed));
        self.items.iter().filter(gone).count()
    }

    /// Counts the items that could have gone and stay, since that did not pay.
    pub(super) fn deferred(&self) -> usize {
        self.items.iter().filter(|item| item.reason.split(',').any(|word| word == "deferred")).count()
    }
}

impl Item {
    /// Joins what the record says with the texts themselves.
    pub(super) fn new(judged: Judged, original: String, replacement: Option<String>) -> Self {
        let lines = original.lines().count();
        let kept_lines = match (judged.outcome, &replacement) {
            (Outcome::Kept, _) => lines,
            (_, Some(replacement)) => kept_lines(&original, replacement),
            (_, None) => 0,
        };
        Self {
            entry_id: judged.entry_id,
            kind: judged.kind,
            label: judged.label,
            outcome: Some(judged.outcome),
            reason: judged.reason,
            before_chars: judged.before_chars,
            after_chars: judged.after_chars,
            lines,
            kept_lines,
            superseded: None,
            again: false,
            traces: judged.jev,
            replacement,
        }
    }

    /// An output and its images are two items.
    pub(super) fn is_about(&self, judged: &Judged) -> bool {
        self.kind == judged.kind && self.entry_id == judged.entry_id
    }

    /// Leaves nothing but what there was to judge.
    pub(super) fn undecided(self) -> Self {
        Self {
            outcome: None,
            reason: String::new(),
            after_chars: self.before_chars,
            kept_lines: self.lines,
            traces: Vec::new(),
            replacement: None,
            ..self
        }
    }

    pub(super) fn saved_chars(&self) -> u64 {
        self.before_chars.saturating_sub(self.after_chars)
    }
}

/// Counts the lines of a replacement that are lines of the original. Kept lines stand in their order, between a head
/// and notes that the original does not have.
fn kept_lines(original: &str, replacement: &str) -> usize {
    let mut rest = original.lines();
    let mut kept = 0;
    for line in replacement.lines().skip(1) {
        let mut ahead = rest.clone();
        if ahead.any(|other| other == line) {
            rest = ahead;
            kept += 1;
        }
    }
    kept
}

impl Totals {
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut totals = Self { runs: runs.len(), ..Self::default() };
        // What was kept can be judged again: what became of it in the end counts.
        let mut outcomes = HashMap::new();
        for run in runs {
            totals.completed += usize::from(run.ending == Ending::Completed);
            totals.judged_runs += usize::from(run.pass.as_ref().is_some_and(|pass| !pass.items.is_empty()));
            totals.checkpoints += run.checkpoints();
            for pass in run.passes() {
                totals.requests += pass.requests;
                totals.input_tokens += pass.input_tokens;
                totals.sent_bytes += pass.sent_bytes;
                totals.cost_usd += pass.cost_usd;
                totals.ms += u64::from(pass.ms);
                for item in &pass.items {
                    outcomes.insert(item.entry_id.as_str(), item.outcome);
                    totals.saved_chars += item.saved_chars();
                    if !item.again {
                        totals.before_chars += item.before_chars;
                        totals.count(item.kind);
                    }
                }
            }
        }
        for outcome in outcomes.into_values() {
            match outcome {
                Some(Outcome::Distilled) => totals.distilled += 1,
                Some(Outcome::Removed) => totals.removed += 1,
                Some(Outcome::Kept) => totals.kept += 1,
                None => {}
            }
        }
        totals.after_chars = totals.before_chars.saturating_sub(totals.saved_chars);
        totals.saved_tokens_estimate = (totals.saved_chars + 2) / 4;
        totals
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Large => self.large += 1,
            Kind::Small => self.small += 1,
            Kind::Exchange => self.exchanges += 1,
            Kind::Image => self.images += 1,
            Kind::Other => {}
        }
    }
}
