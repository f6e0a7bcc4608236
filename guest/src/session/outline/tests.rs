use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::session::changes::*;
use crate::session::fixtures::*;
use crate::session::{Mirror, Projected, message_size, prompts_of};

/// The same figures, each by a walk over the projection.
struct Walked {
    sizes: Vec<usize>,
    replies: Vec<usize>,
    thinking: Vec<usize>,
    images: Vec<usize>,
    altered: Vec<usize>,
    /// Start, messages, size, whether it finished, whether it is torn.
    exchanges: Vec<(usize, usize, usize, bool, bool)>,
    /// Of every result: the reply that it answers.
    answered: Vec<(usize, Option<usize>)>,
}

impl Walked {
    fn of(mirror: &Mirror) -> Self {
        let projection = mirror.projection();
        let indices = |fits: &dyn Fn(&Projected<'_>) -> bool| {
            let fitting = projection.iter().enumerate().filter(|(_, item)| fits(item));
            fitting.map(|(index, _)| index).collect::<Vec<_>>()
        };
        let shows = |fits: fn(&Block) -> bool| {
            move |item: &Projected<'_>| item.shown().is_some_and(|shown| shown.blocks.iter().any(fits))
        };
        let reply = |item: &Projected<'_>| item.shown().is_some_and(|shown| shown.assistant().is_some());
        let mut made: HashMap<&str, usize> = HashMap::new();
        let mut answered = vec![];
        for (index, item) in projection.iter().enumerate() {
            let Some(shown) = item.shown() else { continue };
            made.extend(calls(&shown).map(|call| (call.id.as_str(), index)));
            if let Some(result) = shown.tool_result() {
                answered.push((index, made.get(result.call_id.as_str()).copied()));
            }
        }
        let size = |item: Projected<'_>| item.shown().map_or(0, |shown| message_size(&shown));
        Walked {
            sizes: projection.iter().map(size).collect(),
            replies: indices(&reply),
            thinking: indices(&shows(
                |block| matches!(block, Block::Thinking(it) if it.signature_length > 0),
            )),
            images: indices(&|item| {
                item.shown().is_some_and(|shown| shown.tool_result().is_some())
                    && shows(|block| matches!(block, Block::Image(_)))(item)
            }),
            altered: indices(&|item| match item.shown() {
                Some(shown) => item.recorded().is_none_or(|recorded| recorded.blocks != shown.blocks),
                None => true,
            }),
            exchanges: exchanges(mirror, &answered),
            answered,
        }
    }
}

fn exchanges(mirror: &Mirror, answered: &[(usize, Option<usize>)]) -> Vec<(usize, usize, usize, bool, bool)> {
    let projection = mirror.projection();
    let starts = prompts_of(projection);
    let own = |index: usize| starts.iter().rposition(|&start| start <= index);
    let torn = |at: usize| {
        answered.iter().any(|&(result, call)| {
            let call = call.map(own);
            call != Some(own(result)) && (own(result) == Some(at) || call.flatten() == Some(at))
        })
    };
    let exchange = |(at, &start): (usize, &usize)| {
        let end = starts.get(at + 1).copied().unwrap_or(projection.len());
        let shown: Vec<_> = projection.within(start..end).iter().filter_map(|item| item.shown()).collect();
        let going = shown.iter().filter(|shown| !matches!(shown.kind, Kind::Summary(_) | Kind::Fixed(_)));
        let last = shown.iter().rev().find(|shown| shown.assistant().is_some());
        let finished = last.is_some_and(|reply| calls(reply).next().is_none());
        (start, shown.len(), going.map(message_size).sum(), finished, torn(at))
    };
    starts.iter().enumerate().map(exchange).collect()
}

fn assert_walked(mirror: &Mirror) -> Result<(), TestCaseError> {
    let (outline, walked) = (mirror.outline(), Walked::of(mirror));
    let count = walked.sizes.len();
    for index in 0..=count + 1 {
        let size: usize = walked.sizes.iter().skip(index).sum();
        prop_assert_eq!(outline.size_from(index), size);
        let later = walked.replies.iter().filter(|&&reply| reply > index).count();
        prop_assert_eq!(outline.replies_after(index), later);
        let altered: Vec<usize> =
            walked.altered.iter().copied().filter(|altered| (index..count).contains(altered)).collect();
        prop_assert_eq!(outline.altered(&(index..count)), altered);
    }
    prop_assert_eq!(outline.replies(), &walked.replies);
    prop_assert_eq!(outline.thinking(), &walked.thinking);
    prop_assert_eq!(outline.images(), &walked.images);
    let extents = outline.exchanges().iter();
    let extents: Vec<_> =
        extents.map(|it| (it.start, it.messages, it.chars, it.finished, it.is_torn())).collect();
    prop_assert_eq!(extents, walked.exchanges);
    for extent in outline.exchanges() {
        let prompt = mirror.projection().get(extent.start).unwrap();
        prop_assert_eq!(extent.position, prompt.position);
    }
    for (index, reply) in walked.answered {
        let result = mirror.projection().get(index).and_then(|item| item.shown()?.tool_result()).unwrap();
        prop_assert_eq!(outline.reply_calling(&result.call_id, index), reply);
    }
    Ok(())
}

proptest! {
    #[test]
    fn after_any_deltas_it_equals_a_walk_over_the_context(
        steps in vec(step(), 1..40),
        stops in vec(any::<bool>(), 40),
    ) {
        let states = play(steps);
        let mut mirror = Mirror::default();
        let mut held = &states[0];
        for (state, stop) in states.iter().zip(stops) {
            if stop {
                mirror.update(state.since(held)).unwrap();
                assert_walked(&mirror)?;
                held = state;
            }
        }
    }
}

#[test]
fn a_result_in_a_later_exchange_tears_both_until_it_is_gone() {
    let torn = |mirror: &Mirror| mirror.outline().exchanges().iter().map(Extent::is_torn).collect::<Vec<_>>();
    let mut mirror = session([
        u("one"),
        a("").call("c1", "bash", "{}").stop(crate::contract::types::StopReason::Aborted),
        u("two"),
        r("c1", "late"),
    ]);
    assert_eq!(torn(&mirror), [true, true]);
    mirror.update(delta(3, vec![], 3, vec![])).unwrap();
    assert_eq!(torn(&mirror), [false, false]);
}

#[test]
fn sizes_that_a_host_only_tells_never_overflow() {
    let mirror = session([fixed(u32::MAX), fixed(u32::MAX), fixed(1)]);
    assert!(mirror.outline().size_from(0) >= u32::MAX as usize);
    assert_eq!(mirror.outline().size_from(2), 1);
}
