//! What a pass has to judge, and what comes of it.

use super::gates::Gates;
use super::recalled::{Lift, Recalled};
use super::{Answers, Situation};
use crate::cache::{Price, is_cold};
use crate::contract::sessions::{Edit, Part, Phase};
use crate::contract::types::{Model, Timestamp};
use crate::items::{self, Calls, Judgement, OldExchange, OldImage, SmallOutput};
use crate::outputs::{self, Outcome, Reply, Scene};
use crate::secrets;
use crate::session::{History, ItemKind, ItemOutcome, ItemResult, Run};

/// The work of one pass, found in a session.
pub(super) struct Work<'a> {
    situation: Situation<'a>,
    run: Run<'a>,
    history: History,
    large: Vec<outputs::Plan<'a>>,
    small: items::Plan<SmallOutput<'a>>,
    exchanges: items::Plan<OldExchange<'a>>,
    images: Vec<OldImage<'a>>,
    lifts: Vec<Lift>,
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
}

impl<'a> Work<'a> {
    /// Finds what is to be judged; none where nothing is.
    pub(super) fn find(phase: Phase, situation: Situation<'a>) -> Option<Work<'a>> {
        match phase {
            Phase::RunEnd => Some(Self::at_run_end(situation)?).filter(|work| !work.is_empty()),
            // The outputs of a run are judged when its answer is there.
            Phase::MidRun => None,
        }
    }

    fn at_run_end(situation: Situation<'a>) -> Option<Work<'a>> {
        let Situation { mirror, settings, circumstances, .. } = situation;
        let projection = mirror.projection();
        let run = Run::of(projection)?;
        let recalled = Recalled::of(mirror);

        // Without a classifier only age can tell.
        let asks = circumstances.problem.is_none();
        let mut outputs = if asks { outputs::outputs(&run, settings) } else { vec![] };
        outputs.retain(|output| !recalled.holds(output.entry));
        let (mut large, small): (Vec<_>, Vec<_>) =
            outputs.into_iter().partition(|output| output.is_large(settings));
        if !outputs::worth_asking(&large, settings) {
            large.clear();
        }
        let small = if small.is_empty() {
            vec![]
        } else {
            let calls = Calls::of(&run, &circumstances.working_directory, settings);
            items::small_outputs(small, &calls, settings)
        };
        let mut exchanges = if asks && settings.prune_exchanges {
            items::old_exchanges(projection, run.start, settings)
        } else {
            vec![]
        };
        if !exchanges.is_empty() {
            let judged = items::judged_exchanges(mirror);
            exchanges.retain(|old| !judged.contains(old.prompt_id) && !recalled.holds_part_of(old));
        }
        let mut images = items::old_images(projection, settings);
        images.retain(|image| !recalled.holds(image.entry));

        Some(Work {
            history: History::before(projection, run.start, settings.history_exchanges),
            large: large.into_iter().map(|output| outputs::Plan::new(output, settings)).collect(),
            small: items::Plan::new(small, settings),
            exchanges: items::Plan::new(exchanges, settings),
            images,
            lifts: recalled.lifts(mirror),
            situation,
            run,
        })
    }

    fn is_empty(&self) -> bool {
        self.large.is_empty()
            && self.small.items().is_empty()
            && self.exchanges.items().is_empty()
            && self.images.is_empty()
            && self.lifts.is_empty()
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            history: &self.history,
            question: &self.run.question,
            phase: outputs::Phase::RunEnd { answer: &self.run.answer, notes: &self.run.notes },
        }
    }

    /// Returns the bodies of all questions, in the order of their ids, with their secrets masked.
    pub(super) fn requests(&self) -> Vec<String> {
        let scene = self.scene();
        let large = self.large.iter().flat_map(|plan| plan.requests(&scene));
        let requests = large.chain(self.small.requests(&scene)).chain(self.exchanges.requests(&scene));
        requests
            .map(|mut request| {
                secrets::mask(&mut request);
                request.to_json()
            })
            .collect()
    }

    /// Decides every item by the replies to [`Work::requests`], and weighs what the edits cost at `model`.
    pub(super) fn decide(&self, answers: &Answers, model: &Model, now: Timestamp) -> Decided {
        let Situation { mirror, settings, .. } = self.situation;
        let scene = self.scene();
        let mut replies = answers.replies.as_slice();
        let mut judgements = vec![];
        for plan in &self.large {
            let own = next(&mut replies, plan.questions());
            judgements.push(large(plan, plan.judge(own, &scene, settings)));
        }
        judgements.extend(self.small.judge(next(&mut replies, self.small.questions()), settings));
        judgements.extend(self.exchanges.judge(next(&mut replies, self.exchanges.questions()), settings));
        judgements.extend(items::unless_edited(&self.images, &judgements));

        if !is_cold(mirror, model, now) {
            let price = Price::new(mirror.projection(), model, settings);
            let lifted: Vec<Edit> =
                self.lifts.iter().flat_map(|lift| &lift.judgement.edits).cloned().collect();
            Gates::new(mirror, settings, price, self.run.start).weigh(&mut judgements, &lifted);
        }
        let saved = judgements.iter().map(Judgement::saved_chars).fold(0, u64::saturating_add);
        let grown = self.lifts.iter().map(|lift| lift.grown).fold(0, u64::saturating_add);
        judgements.extend(self.lifts.iter().map(|lift| lift.judgement.clone()));
        judgements.sort_by_key(|judgement| (judgement.result.kind, mirror.index(&judgement.result.entry_id)));

        let mut decided =
            Decided { saved_chars: signed(saved).saturating_sub(signed(grown)), ..Decided::default() };
        for judgement in judgements {
            decided.edits.extend(judgement.edits);
            decided.results.push(judgement.result);
        }
        decided
    }
}

fn signed(chars: u64) -> i64 {
    i64::try_from(chars).unwrap_or(i64::MAX)
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
