//! What a pass has to judge, and what comes of it.

use super::Answers;
use crate::contract::sessions::{Edit, Part, Phase};
use crate::outputs::{self, Judgement, Outcome, Plan, Scene};
use crate::session::{History, ItemKind, ItemOutcome, ItemResult, Mirror, Run};
use crate::settings::Settings;

/// The work of one pass, found in a session.
pub(super) struct Work<'a> {
    run: Run<'a>,
    history: History,
    large: Vec<Plan<'a>>,
}

/// What a pass decided.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// One per output that changes.
    pub(super) edits: Vec<Edit>,
    /// One per output that was judged.
    pub(super) results: Vec<ItemResult>,
}

impl<'a> Work<'a> {
    /// Finds what is to be judged; none where nothing is.
    pub(super) fn find(phase: Phase, mirror: &'a Mirror, settings: &Settings) -> Option<Work<'a>> {
        match phase {
            Phase::RunEnd => Self::at_run_end(mirror, settings),
            // The outputs of a run are judged when its answer is there.
            Phase::MidRun => None,
        }
    }

    fn at_run_end(mirror: &'a Mirror, settings: &Settings) -> Option<Work<'a>> {
        let projection = mirror.projection();
        let run = Run::of(projection)?;
        let mut large = outputs::outputs(&run, settings);
        large.retain(|output| output.is_large(settings));
        if large.is_empty() || !outputs::worth_asking(&large, settings) {
            return None;
        }
        let history = History::before(projection, run.start, settings.history_exchanges);
        let large = large.into_iter().map(|output| Plan::new(output, settings)).collect();
        Some(Work { run, history, large })
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            history: &self.history,
            question: &self.run.question,
            phase: outputs::Phase::RunEnd { answer: &self.run.answer, notes: &self.run.notes },
        }
    }

    /// Returns the bodies of all questions, in the order of their ids.
    pub(super) fn requests(&self) -> Vec<String> {
        let scene = self.scene();
        let requests = self.large.iter().flat_map(|plan| plan.requests(&scene));
        requests.map(|request| request.to_json()).collect()
    }

    /// Decides every output by the replies to [`Work::requests`].
    pub(super) fn decide(&self, answers: &Answers, settings: &Settings) -> Decided {
        let scene = self.scene();
        let mut replies = answers.replies.as_slice();
        let mut decided = Decided::default();
        for plan in &self.large {
            let (own, rest) = replies.split_at_checked(plan.questions()).unwrap_or((replies, &[]));
            replies = rest;
            decided.add(plan, plan.judge(own, &scene, settings));
        }
        decided
    }
}

impl Decided {
    fn add(&mut self, plan: &Plan<'_>, judgement: Judgement) {
        let output = plan.candidate();
        if let Some(text) = judgement.replacement {
            let replacement = Some(vec![Part::Text(text)]);
            self.edits.push(Edit { target: output.entry.to_owned(), replacement });
        }
        self.results.push(ItemResult {
            kind: ItemKind::Large,
            entry_id: output.entry.to_owned(),
            tool: output.tool.to_owned(),
            label: output.label(),
            outcome: match judgement.outcome {
                Outcome::Distilled => ItemOutcome::Distilled,
                Outcome::Removed => ItemOutcome::Removed,
                Outcome::Kept => ItemOutcome::Kept,
            },
            reason: judgement.reason,
            before_chars: judgement.before_chars as u64,
            after_chars: judgement.after_chars as u64,
            jev: judgement.traces,
            ..ItemResult::default()
        });
    }

    /// Returns the characters that all edits save together.
    pub(super) fn saved_chars(&self) -> i64 {
        let saved = |result: &ItemResult| result.before_chars as i64 - result.after_chars as i64;
        self.results.iter().map(saved).sum()
    }
}
