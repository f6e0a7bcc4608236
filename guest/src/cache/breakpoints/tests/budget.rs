//! Room for four marks.

use super::*;

const CALLS: [&str; 3] = ["c1", "c2", "c3"];

/// A session whose log knows `c1`, and in which `e4` has just been edited: both anchors can be placed.
fn anchored(shape: impl Fn(&[&str]) -> RequestShape) -> (Wire, Vec<Item>) {
    let mut wire = Wire::default();
    wire.send(&run(&CALLS[..1]), &shape(&CALLS[..1]), 0);
    (wire, and(&run(&CALLS), [edit("e4")]))
}

#[test]
fn c35_a_subscriptions_identity_makes_room_for_the_question() {
    assert_eq!(pinned(&with_oauth(&["c1"])), "tools.1, system.1, messages.0.0, messages.2.0");
}

#[test]
fn c36_a_request_with_five_marks_is_left_as_it_is() {
    let mut shape = with_oauth(&["c1", "c2"]);
    shape.messages[2].blocks[0].cache_control = Some(SHORT.into());
    assert_eq!(pinned(&shape), marks(&shape));
}

#[test]
fn c37_the_mark_of_the_tools_makes_room_for_the_read_anchor() {
    let (mut wire, items) = anchored(with_key);
    let answer = wire.send(&items, &with_key(&CALLS), 0);
    assert_eq!(marks(&answer), "system.0, messages.0.0, messages.2.0, messages.6.0");
}

#[test]
fn c38_a_subscription_gives_up_identity_and_tools_and_the_guard_its_write_anchor() {
    let (mut wire, items) = anchored(with_oauth);
    let answer = wire.send(&items, &with_oauth(&CALLS), 0);
    assert_eq!(marks(&answer), "system.1, messages.0.0, messages.2.0, messages.6.0");
}

/// Nothing else covers the tools here, and somebody else has a mark among the messages.
fn foreign(calls: &[&str]) -> RequestShape {
    let mut shape = with_key(calls);
    shape.system[0].cache_control = None;
    shape.messages[1].blocks[0].cache_control = Some(SHORT.into());
    shape
}

#[test]
fn c39_the_question_outlasts_the_anchors() {
    let (mut wire, items) = anchored(with_key);
    let answer = wire.send(&items, &foreign(&CALLS), 0);
    assert_eq!(marks(&answer), "tools.1, messages.0.0, messages.1.0, messages.6.0");
}

#[test]
fn c45_an_anchor_that_had_no_room_is_never_a_read_point() {
    let (mut wire, items) = anchored(with_key);
    wire.send(&items, &with_key(&CALLS), 0);
    assert_eq!(wire.read_point(&items, 5, 0), Some(2), "`e4` was to be the write anchor");
    assert_eq!(wire.read_point(&items, 7, 0), Some(6));

    let items = and(&run(&CALLS), [edit("e4")]);
    let mut roomy = Wire::default();
    roomy.send(&items, &with_key(&CALLS), 0);
    assert_eq!(roomy.read_point(&items, 5, 0), Some(4), "without a read anchor there was room");
}

#[test]
fn what_a_request_with_too_many_marks_would_write_is_not_logged() {
    let mut shape = with_oauth(&["c1", "c2"]);
    shape.messages[2].blocks[0].cache_control = Some(SHORT.into());
    let mut wire = Wire::default();
    wire.send(&run(&["c1", "c2"]), &shape, 0);
    assert_eq!(wire.read_point(&run(&["c1", "c2"]), 9, 0), None);
}

/// Pi continues a thread only while `system` and `tools` are sent as before, marks included.
#[test]
fn a_thread_goes_on_after_the_request_that_carried_the_edit() {
    let fixed = |shape: &RequestShape| (shape.tools.clone(), shape.system.clone());
    for shape in [with_key, with_oauth] {
        let (mut wire, mut items) = anchored(shape);
        let edited = wire.send(&items, &shape(&CALLS), 0);
        items.extend([a("").call("c4", "bash", "{}"), r("c4", "output")]);
        let calls = ["c1", "c2", "c3", "c4"];
        let next = wire.send(&items, &shape(&calls), 0);
        assert_eq!(fixed(&next), fixed(&edited));
        let question = marks(&next);
        assert!(question.ends_with("messages.0.0, messages.8.0"), "{question}");

        // The next edit makes a full request anyway, so that the marks are set as it needs them.
        let again = wire.send(&and(&run(&calls), [u("next"), edit("e0")]), &shape(&calls), 0);
        assert_eq!(again, Wire::default().send(&run(&calls), &shape(&calls), 0));
    }
}

#[test]
fn a_subscriptions_thread_goes_on_from_its_second_request() {
    let mut wire = Wire::default();
    let fixed = |shape: RequestShape| (shape.tools, shape.system);
    let second = fixed(wire.send(&run(&CALLS[..1]), &with_oauth(&CALLS[..1]), 0));
    assert_eq!(fixed(wire.send(&run(&CALLS), &with_oauth(&CALLS), 0)), second);
}

#[test]
fn another_model_has_a_cache_of_its_own() {
    let (mut wire, mut items) = anchored(with_key);
    wire.send(&items, &with_key(&CALLS), 0);
    items.push(a("Done."));
    let mirror = session(items);
    let other = Model { name: "anthropic/other".into(), ..model() };
    let answer = wire.breakpoints.request(&mirror, &mut wire.log, &other, &with_key(&CALLS), 0);
    assert_eq!(answer.len(), 1, "{answer:?}");
}
