//! What holds for every request.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn control() -> impl Strategy<Value = Option<String>> {
    prop_oneof![6 => Just(None), 1 => Just(Some(SHORT.to_owned())), 1 => Just(Some(LONG.to_owned()))]
}

fn any_block() -> impl Strategy<Value = RequestBlock> {
    let kind = prop_oneof![Just("text"), Just("tool_use"), Just("image"), Just("tool_result")];
    (kind, any::<bool>(), 0usize..4, control()).prop_map(|(kind, has_text, call, cache_control)| {
        RequestBlock {
            kind: kind.into(),
            has_text: has_text && kind == "text",
            tool_use_id: (kind == "tool_result").then(|| format!("c{call}")),
            cache_control,
        }
    })
}

fn any_shape() -> impl Strategy<Value = RequestShape> {
    let role = prop_oneof![4 => Just("user"), 4 => Just("assistant"), 1 => Just("system")];
    let messages = vec((role, vec(any_block(), 0..3)), 0..9);
    (vec(any_block(), 0..3), vec(any_block(), 0..3), messages).prop_map(|(tools, system, messages)| {
        let messages = messages.into_iter().map(|(role, blocks)| message(role, blocks)).collect();
        let mut shape = RequestShape { tools, system, messages, replay: false };
        // No provider takes two results of one call.
        let mut answered = HashSet::new();
        for block in shape.messages.iter_mut().flat_map(|message| &mut message.blocks) {
            block.tool_use_id = block.tool_use_id.take().filter(|id| answered.insert(id.clone()));
        }
        shape
    })
}

/// A session with four results, of which some are known and some were edited.
fn any_wire() -> impl Strategy<Value = (Wire, Vec<Item>)> {
    (vec(0usize..4, 0..3), vec(0usize..8, 0..3)).prop_map(|(known, edited)| {
        let mut wire = Wire::default();
        let mut items = run(&["c0", "c1", "c2", "c3"]);
        for call in known {
            wire.send(&items, &with_key(&[&format!("c{call}")]), 0);
        }
        items.extend(edited.into_iter().map(|at| edit(&format!("e{at}"))));
        (wire, items)
    })
}

fn count(shape: &RequestShape) -> usize {
    Marks::of(shape).len()
}

fn in_order(shape: &RequestShape) -> bool {
    let ttls: Vec<_> = Marks::of(shape).iter().map(|mark| mark.ttl).collect();
    ttls.is_sorted_by(|one, next| one >= next)
}

proptest! {
    #[test]
    fn a_request_that_is_changed_has_at_most_four_marks_in_the_order_of_their_lifetimes(
        shape in any_shape(),
        (mut wire, items) in any_wire(),
    ) {
        let answer = wire.send(&items, &shape, 0);
        if answer != shape {
            prop_assert!(count(&answer) <= MOST);
            prop_assert!(in_order(&answer) || !in_order(&shape));
        }
    }

    #[test]
    fn a_request_is_changed_only_where_a_mark_of_the_guard_comes_of_it(
        shape in any_shape(),
        (mut wire, items) in any_wire(),
    ) {
        let mirror = session(items);
        let answer = wire.breakpoints.request(&mirror, &mut wire.log, &model(), &shape, 0);
        prop_assert!(answer.is_empty() || answer.iter().any(|change| change.cache_control.is_some()));
        prop_assert!(answer.iter().all(|change| change.cache_control.is_none() || change.section == Section::Messages));
        prop_assert!(answer.iter().all(|change| change.cache_control.is_some() || change.section != Section::Messages));
    }

    #[test]
    fn the_question_is_the_last_to_be_given_up(shape in any_shape(), (mut wire, items) in any_wire()) {
        let mirror = session(items);
        let answer = wire.breakpoints.request(&mirror, &mut wire.log, &model(), &shape, 0);
        let last = shape.messages.iter().rposition(|message| message.role != "system").unwrap_or(0);
        let Some(Place::Message(at, block)) = question(&shape, last) else { return Ok(()) };
        let free = shape.messages[at].blocks[block].cache_control.is_none();
        let set = answer.iter().filter(|change| change.cache_control.is_some());
        let anchors = set.clone().filter(|change| change.message as usize != at).count();
        // Where the order of lifetimes leaves it no place, it cannot be set in the first place.
        let alone = Marks::of(&shape);
        let mut trial = alone.clone();
        if let Some(rolling) = alone.rolling() {
            trial.set(Purpose::Question, Place::Message(at, block), rolling.ttl);
        }
        if free && trial.has(Purpose::Question) && anchors > 0 {
            prop_assert_eq!(set.count(), anchors + 1);
        }
    }

    #[test]
    fn a_second_look_changes_nothing(shape in any_shape(), (mut wire, items) in any_wire()) {
        let once = wire.send(&items, &shape, 0);
        if once != shape {
            prop_assert_eq!(wire.send(&items, &once, 0), once);
        }
    }
}
