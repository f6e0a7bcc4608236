//! What a session holds to be judged, whichever pass looks.

use super::Situation;
use super::recalled::{Lift, Recalled};
use crate::cache::last_refusing;
use crate::contract::types::{Model, ThinkingBinding};
use crate::items::{self, OldExchange, OldImage};
use crate::outputs::{self, Candidate};
use crate::session::{ItemKind, Mirror, Phase, Run};

/// Everything that may be judged, put back or removed now.
///
/// What the model recalled in the run is left alone. So is what an edit of now would make the provider refuse: it
/// comes up again by itself, and nothing is asked about it for nothing.
pub(super) struct Found<'a> {
    /// Outputs of the run, of any length.
    pub(super) outputs: Vec<Candidate<'a>>,
    pub(super) exchanges: Vec<OldExchange<'a>>,
    pub(super) images: Vec<OldImage<'a>>,
    pub(super) lifts: Vec<Lift>,
}

impl<'a> Found<'a> {
    /// Looks through the session. Without a model, as for a preview, no edit counts as one to be refused.
    pub(super) fn in_session(
        phase: Phase,
        situation: Situation<'a>,
        run: &Run<'a>,
        model: Option<&Model>,
    ) -> Found<'a> {
        let Situation { mirror, settings, circumstances, .. } = situation;
        let projection = mirror.projection();
        let recalled = Recalled::of(mirror);
        let refusal = Refusal::of(mirror, model);

        // Without a classifier only age can tell.
        let asks = circumstances.problem.is_none();
        let mut outputs = if asks { outputs::outputs(run, settings) } else { vec![] };
        outputs.retain(|output| !recalled.holds(output.entry) && !refusal.meets(output.entry));
        let mut exchanges = if asks && settings.prune_exchanges {
            items::old_exchanges(projection, run.start, settings)
        } else {
            vec![]
        };
        if !exchanges.is_empty() {
            let judged = items::judged_exchanges(mirror, phase);
            exchanges.retain(|old| {
                !judged.contains(old.prompt_id)
                    && !recalled.holds_part_of(old)
                    && !refusal.meets(old.last_id())
            });
        }
        let mut images = items::old_images(projection, settings);
        images.retain(|image| !recalled.holds(image.entry) && !refusal.meets(image.entry));
        let mut lifts = recalled.lifts(mirror);
        lifts.retain(|lift| !refusal.meets_lift(lift));
        Found { outputs, exchanges, images, lifts }
    }
}

/// Which edits would make the provider refuse the next request.
struct Refusal<'a> {
    mirror: &'a Mirror,
    binds: bool,
    /// Index in the projection of the last entry that nothing before may change for.
    last: Option<usize>,
}

impl<'a> Refusal<'a> {
    fn of(mirror: &'a Mirror, model: Option<&Model>) -> Self {
        Refusal {
            mirror,
            binds: model.is_some_and(|model| model.thinking == ThinkingBinding::Refused),
            last: model.and_then(|model| last_refusing(mirror.projection(), model)),
        }
    }

    /// Returns whether edits that end with that entry would be refused. An omitted exchange takes its own thinking
    /// with it, so that only what follows it counts.
    fn meets(&self, last_edited: &str) -> bool {
        let index = self.mirror.index(last_edited);
        self.last.is_some_and(|last| index.is_none_or(|index| index < last))
    }

    /// Returns whether putting an original back would be refused. Thinking that comes back with an exchange was
    /// bound to a history that need not be there any more.
    fn meets_lift(&self, lift: &Lift) -> bool {
        let exchange = lift.judgement.result.kind == ItemKind::Exchange;
        let last = lift.judgement.edits.last();
        self.binds && (exchange || last.is_some_and(|edit| self.meets(&edit.target)))
    }
}
