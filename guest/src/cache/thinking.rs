//! Thinking that the provider binds to the history before it.
//!
//! A model's signed thinking goes back to it with every request. Some providers check that nothing before it has
//! changed since, and then drop it, or refuse the request.

use crate::contract::types::{Block, Model, StopReason, ThinkingBinding};
use crate::session::{Projected, Projection, block_size};
use crate::settings::Settings;

/// Returns by index in the projection the size of the thinking still in use that an edit there loses, in characters;
/// nothing at all where edits lose none.
///
/// A heuristic says what is in use: the thinking of the newest replies, as many as an output is left alone for at
/// checkpoints. What is older has gone into replies and calls, which stay. So it counts for nothing of its own,
/// though it is priced as written anew with the rest while in truth it leaves the context, which keeps the estimate
/// on the dear side.
pub(super) fn lost_by_edits(projection: Projection<'_>, model: &Model, settings: &Settings) -> Vec<usize> {
    if model.thinking != ThinkingBinding::Dropped {
        return vec![];
    }
    let mut lost = vec![0; projection.len()];
    let (mut total, mut replies) = (0usize, 0u32);
    for (place, item) in lost.iter_mut().zip(projection.iter()).rev() {
        if item.shown().is_some_and(|shown| shown.assistant().is_some()) {
            if replies < settings.mid_run_min_age_turns {
                total = total.saturating_add(bound(&item, model));
            }
            replies = replies.saturating_add(1);
        }
        *place = total;
    }
    lost
}

/// Returns the index in the projection of the last entry with thinking that would make the provider refuse the next
/// request if anything before it changed; none where nothing does.
///
/// Only what is sent counts: not the thinking of another model, nor that of a reply which was broken off. So edits
/// become safe when the model changes, when a compaction or an omission takes such replies away, and where the
/// model thinks no more.
pub fn last_refusing(projection: Projection<'_>, model: &Model) -> Option<usize> {
    if model.thinking != ThinkingBinding::Refused {
        return None;
    }
    projection.iter().rposition(|item| bound(&item, model) > 0)
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
    use crate::session::Mirror;
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
        lost_by_edits(mirror.projection(), &model(ThinkingBinding::Dropped), &Settings::default())
    }

    fn last(items: Vec<Item>) -> Option<usize> {
        let mirror: Mirror = session(items);
        last_refusing(mirror.projection(), &model(ThinkingBinding::Refused))
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
            assert!(lost_by_edits(mirror.projection(), &model(thinking), &Settings::default()).is_empty());
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
            assert_eq!(last_refusing(mirror.projection(), &model(thinking)), None);
        }
    }
}
