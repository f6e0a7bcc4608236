//! Thinking that the provider binds to the history before it.
//!
//! A model's signed thinking goes back to it with every request. Some providers check that nothing before it has
//! changed since, and then drop it, or refuse the request.

use crate::contract::types::{Block, Model, StopReason, ThinkingBinding};
use crate::session::{Mirror, Projected, block_size};
use crate::settings::Settings;

/// Thinking still in use that edits lose, since the provider drops what comes behind one.
///
/// A heuristic says what is in use: the thinking of the newest replies, as many as an output is left alone for at
/// checkpoints. What is older has gone into replies and calls, which stay. So it counts for nothing of its own,
/// though it is priced as written anew with the rest while in truth it leaves the context, which keeps the estimate
/// on the dear side.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// Indices of replies in the projection, newest first, each with the size of its thinking.
    replies: Vec<(usize, usize)>,
}

impl Bound {
    /// Reads the thinking that an edit loses at that model.
    pub(super) fn in_use(mirror: &Mirror, model: &Model, settings: &Settings) -> Self {
        let newest = match model.thinking {
            ThinkingBinding::Dropped => settings.mid_run_min_age_turns as usize,
            ThinkingBinding::Unbound | ThinkingBinding::Refused => 0,
        };
        let newest = mirror.outline().replies().iter().rev().take(newest);
        let sized = |&index: &usize| Some((index, bound(&mirror.projection().get(index)?, model)));
        Bound { replies: newest.filter_map(sized).collect() }
    }

    /// Returns the size of what edits lose, in characters, by the index of the earliest entry that they change.
    pub(super) fn lost(&self, first: Option<usize>) -> usize {
        let Some(first) = first else { return 0 };
        let behind = self.replies.iter().take_while(|(reply, _)| *reply >= first);
        behind.map(|(_, size)| *size).fold(0, usize::saturating_add)
    }
}

/// Returns the index in the projection of the last entry with thinking that would make the provider refuse the next
/// request if anything before it changed; none where nothing does.
///
/// Only what is sent counts: not the thinking of another model, nor that of a reply which was broken off. So edits
/// become safe when the model changes, when a compaction or an omission takes such replies away, and where the
/// model thinks no more.
pub fn last_refusing(mirror: &Mirror, model: &Model) -> Option<usize> {
    if model.thinking != ThinkingBinding::Refused {
        return None;
    }
    let refuses = |index: &usize| mirror.projection().get(*index).is_some_and(|item| bound(&item, model) > 0);
    mirror.outline().thinking().iter().copied().rfind(refuses)
}

/// Returns the size of the thinking in an entry that is bound to what comes before it.
fn bound(item: &Projected<'_>, model: &Model) -> usize {
    let Some(shown) = item.shown() else { return 0 };
    let sent = |stop| !matches!(stop, StopReason::Aborted | StopReason::Error);
    let Some(reply) = shown.assistant() else { return 0 };
    if reply.model != model.name || !sent(reply.stop_reason) {
        return 0;
    }
    let signed =
        shown.blocks.iter().filter(|block| matches!(block, Block::Thinking(it) if it.signature_length > 0));
    signed.map(block_size).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::types::CacheScheme;
    use crate::session::fixtures::*;

    fn model(thinking: ThinkingBinding) -> Model {
        let (name, cache) = ("anthropic/claude".into(), CacheScheme::Anthropic);
        Model { name, cache, prices: None, cache_lifetime: 300, thinking }
    }

    /// A run of calls whose replies think 100, 200 and so on.
    fn run() -> Vec<Item> {
        let mut items = vec![u("p")];
        for at in 1..=6 {
            let call = format!("c{at}");
            let reply = a("").block(thinking(&"t".repeat(at * 100), 2)).call(&call, "bash", "{}");
            items.extend([reply, r(&call, "x")]);
        }
        items
    }

    fn lost(items: Vec<Item>) -> Vec<usize> {
        let mirror = session(items);
        let bound = Bound::in_use(&mirror, &model(ThinkingBinding::Dropped), &Settings::default());
        (0..mirror.projection().len()).map(|index| bound.lost(Some(index))).collect()
    }

    fn last(items: Vec<Item>) -> Option<usize> {
        let mirror: Mirror = session(items);
        last_refusing(&mirror, &model(ThinkingBinding::Refused))
    }

    #[test]
    fn b32_thinking_of_the_newest_four_replies_is_in_use() {
        let newest = 301 + 401 + 501 + 601;
        assert_eq!(lost(run())[..6], [newest; 6], "what is older counts for nothing");
        assert_eq!(lost(run())[8..], [501 + 601, 501 + 601, 601, 601, 0]);
    }

    #[test]
    fn b32_only_where_the_provider_drops_it_is_thinking_lost() {
        let mirror = session(run());
        for thinking in [ThinkingBinding::Unbound, ThinkingBinding::Refused] {
            let bound = Bound::in_use(&mirror, &model(thinking), &Settings::default());
            assert_eq!(bound.lost(Some(0)), 0);
        }
    }

    #[test]
    fn b32_only_thinking_that_is_sent_back_is_bound() {
        let thought = || a("Done.").block(thinking("t", 2));
        assert_eq!((lost(vec![u("p"), thought()]), last(vec![u("p"), thought()])), (vec![2, 2], Some(1)));
        let unsigned = a("Done.").block(thinking("t", 0));
        let others = [
            unsigned,
            thought().model("openai/gpt"),
            thought().stop(StopReason::Aborted),
            thought().stop(StopReason::Error),
            thought().omitted(),
        ];
        for other in others {
            assert_eq!(lost(vec![u("p"), other.clone()]), [0, 0], "{other:?}");
            assert_eq!(last(vec![u("p"), other.clone()]), None, "{other:?}");
        }
    }

    #[test]
    fn b32_the_last_thinking_decides_what_would_be_refused() {
        let mut items = run();
        assert_eq!(last(items.clone()), Some(11));
        items.push(a("Done."));
        assert_eq!(last(items.clone()), Some(11));
        let mirror = session(items);
        for thinking in [ThinkingBinding::Unbound, ThinkingBinding::Dropped] {
            assert_eq!(last_refusing(&mirror, &model(thinking)), None);
        }
    }
}
