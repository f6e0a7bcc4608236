//! What a pass has to judge, and what comes of it.

use super::gates::{self, Gates, signed};
use super::recalled::Lift;
use super::selection::{Selection, first_edited};
use super::{Answers, Situation};
use crate::cache::Price;
use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Model, Timestamp};
use crate::items::{self, Judgement, OldExchange, OldImage, SmallOutput};
use crate::label::label_of_other;
use crate::outputs::{self, Outcome, Reply, Scene};
use crate::secrets::Masks;
use crate::session::{Expected, History, ItemKind, ItemOutcome, ItemResult, Phase, Run};

/// The work of one pass, found in a session.
pub(super) struct Work<'a> {
    phase: Phase,
    situation: Situation<'a>,
    run: Run<'a>,
    large: Vec<Large<'a>>,
    small: items::Plan<SmallOutput<'a>>,
    exchanges: items::Plan<OldExchange<'a>>,
    images: Vec<OldImage<'a>>,
    lifts: Vec<Lift>,
    masks: Masks,
}

/// What the user asked and the model said in the run; where it is sent, with its secrets masked.
#[derive(Clone, Copy)]
struct Told<'s> {
    question: &'s str,
    answer: &'s str,
    notes: &'s str,
}

/// A large output, ready to be asked about.
struct Large<'a> {
    plan: outputs::Plan<'a>,
    superseded: Option<String>,
}

/// What a pass decided.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// One per entry that changes.
    pub(super) edits: Vec<Edit>,
    /// One per item that was judged or put back: large, small, exchanges, images, each in the order of the context.
    pub(super) results: Vec<ItemResult>,
    /// Characters that all edits save together; negative where more came back than went.
    pub(super) saved_chars: i64,
    /// What they are expected to save and cost; none where nothing changes.
    pub(super) expected: Option<Expected>,
}

impl<'a> Work<'a> {
    /// Prepares the questions about what a pass judges.
    pub(super) fn new(
        phase: Phase,
        situation: Situation<'a>,
        run: Run<'a>,
        selection: Selection<'a>,
        masks: Masks,
    ) -> Work<'a> {
        let Situation { settings, .. } = situation;
        let Selection { large, small, exchanges, images, lifts } = selection;
        let large = large.into_iter().map(|large| Large {
            plan: outputs::Plan::new(large.output, settings),
            superseded: large.superseded,
        });
        Work {
            large: large.collect(),
            small: items::Plan::new(small, settings),
            exchanges: items::Plan::new(exchanges, settings),
            images,
            lifts,
            phase,
            situation,
            run,
            masks,
        }
    }

    /// Returns the scene of a large output; `later_calls` and `superseded` are only told at a checkpoint.
    fn scene<'s>(
        &self,
        history: &'s History,
        told: Told<'s>,
        later_calls: &'s [&'s str],
        superseded: Option<&'s str>,
    ) -> Scene<'s> {
        let Told { question, answer, notes } = told;
        let phase = match self.phase {
            Phase::RunEnd => outputs::Phase::RunEnd { answer, notes },
            Phase::MidRun => outputs::Phase::Checkpoint {
                latest_note: answer,
                earlier_notes: notes,
                later_calls,
                superseded,
            },
        };
        Scene { history, question, phase }
    }

    /// Returns what came before the run. Only questions tell it, and finding it walks the context.
    fn history(&self) -> History {
        let Situation { mirror, settings, .. } = self.situation;
        History::before(mirror.projection(), self.run.start, settings.history_exchanges, &self.masks)
    }

    /// Returns the turn and the label of every call of the run, for questions at a checkpoint.
    fn calls(&self) -> Vec<(u32, String)> {
        match self.phase {
            Phase::RunEnd => vec![],
            Phase::MidRun => {
                let (settings, masks) = (self.situation.settings, &self.masks);
                let label = |name, arguments| label_of_other(name, Some(arguments), settings, masks);
                let calls = self.run.calls.iter();
                calls.map(|call| (call.turn, label(call.name, call.arguments))).collect()
            }
        }
    }

    /// Returns the bodies of all questions, in the order of their ids, with their secrets masked.
    pub(super) fn requests(&self) -> Vec<String> {
        let masks = &self.masks;
        let [question, answer, notes] =
            [&self.run.question, &self.run.answer, &self.run.notes].map(|text| masks.text(text));
        let told = Told { question: &question, answer: &answer, notes: &notes };
        let history = self.history();
        let scene = self.scene(&history, told, &[], None);
        let calls = self.calls();
        let large = self.large.iter().flat_map(|Large { plan, superseded }| {
            let turn = plan.candidate().turn;
            let later = calls.iter().filter(|(made, _)| Some(*made) > turn);
            let later: Vec<&str> = later.map(|(_, label)| label.as_str()).collect();
            plan.requests(&self.scene(&history, told, &later, superseded.as_deref()), masks)
        });
        let small = self.small.requests(&scene, masks);
        let exchanges = self.exchanges.requests(&scene, masks);
        large.chain(small).chain(exchanges).map(|request| request.to_json()).collect()
    }

    /// Decides every item by the replies to [`Work::requests`], and weighs what the edits cost at `model`.
    pub(super) fn decide(&self, answers: &Answers, model: &Model, now: Timestamp) -> Decided {
        let Situation { mirror, settings, log, .. } = self.situation;
        // The answer as the user sees it: what it quotes is compared with the original lines.
        let Run { question, answer, notes, .. } = &self.run;
        let nothing = History::default();
        let scene = self.scene(&nothing, Told { question, answer, notes }, &[], None);
        let mut replies = answers.replies.as_slice();
        let mut judgements = vec![];
        for Large { plan, .. } in &self.large {
            let own = next(&mut replies, plan.questions());
            judgements.push(large(plan, plan.judge(own, &scene, settings)));
        }
        judgements.extend(self.small.judge(next(&mut replies, self.small.questions()), settings));
        judgements.extend(self.exchanges.judge(next(&mut replies, self.exchanges.questions()), settings));
        judgements.extend(items::unless_edited(&self.images, &judgements));

        let price = Price::new(mirror, model, settings, log, now);
        let lifted: Vec<Edit> = self.lifts.iter().flat_map(|lift| &lift.judgement.edits).cloned().collect();
        match self.phase {
            Phase::RunEnd => {
                Gates::new(mirror, settings, &price, self.run.start).weigh(&mut judgements, &lifted);
            }
            Phase::MidRun if settings.mid_run_break_even => {
                let place = |judgement: &Judgement| first_edited(mirror, &judgement.edits);
                let anyway = first_edited(mirror, &lifted);
                gates::keep_best_end(&mut judgements, place, &price, self.horizon(), anyway);
            }
            Phase::MidRun => {}
        }
        let saved = judgements.iter().map(Judgement::saved_chars).fold(0, u64::saturating_add);
        let grown = self.lifts.iter().map(|lift| lift.grown).fold(0, i64::saturating_add);
        judgements.extend(self.lifts.iter().map(|lift| lift.judgement.clone()));
        judgements.sort_by_key(|judgement| (judgement.result.kind, mirror.index(&judgement.result.entry_id)));

        let mut decided = Decided { saved_chars: signed(saved).saturating_sub(grown), ..Decided::default() };
        for judgement in judgements {
            decided.edits.extend(judgement.edits);
            decided.results.push(judgement.result);
        }
        decided.expected = self.expected(&decided, &price);
        decided
    }

    /// Returns the requests over which edits are expected to save: as many as the work has taken so far.
    fn horizon(&self) -> usize {
        match self.phase {
            Phase::RunEnd => self.situation.mirror.outline().replies().len().max(gates::LEAST_REQUESTS),
            Phase::MidRun => self.run.turns as usize,
        }
    }

    fn expected(&self, decided: &Decided, price: &Price<'_>) -> Option<Expected> {
        let first = first_edited(self.situation.mirror, &decided.edits)?;
        let cost = price.cost(Some(first), None);
        let saved = decided.saved_chars;
        Some(Expected {
            saved_chars: saved,
            rewritten_chars: signed(cost.rewritten as u64).saturating_sub(saved).max(0).unsigned_abs(),
            lost_thinking_chars: cost.thinking as u64,
            requests: self.horizon() as u64,
            // A cast from a float saturates.
            net_chars: price.net(saved, self.horizon(), cost).round() as i64,
        })
    }
}

/// Takes the next `count` replies, or as many as there are.
fn next<'r>(replies: &mut &'r [Reply], count: usize) -> &'r [Reply] {
    let (own, rest) = replies.split_at_checked(count).unwrap_or((replies, &[]));
    *replies = rest;
    own
}

/// Puts the judgement on a large output into the form that all kinds share.
fn large(plan: &outputs::Plan<'_>, judgement: outputs::Judgement) -> Judgement {
    let output = plan.candidate();
    let edit = |text| Edit { target: output.entry.to_owned(), replacement: Some(vec![Part::Text(text)]) };
    Judgement {
        edits: judgement.replacement.map(edit).into_iter().collect(),
        result: ItemResult {
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
        },
    }
}
