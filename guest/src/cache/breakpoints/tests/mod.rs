mod budget;
mod properties;

use super::*;
use crate::contract::sessions::{RequestMessage, Section};
use crate::contract::types::{CacheScheme, ThinkingBinding};
use crate::session::fixtures::*;

const SHORT: &str = r#"{"type":"ephemeral"}"#;
const LONG: &str = r#"{"type":"ephemeral","ttl":"1h"}"#;

fn model() -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: None,
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

fn block(kind: &str) -> RequestBlock {
    RequestBlock { kind: kind.into(), has_text: kind == "text", tool_use_id: None, cache_control: None }
}

fn blank() -> RequestBlock {
    RequestBlock { has_text: false, ..block("text") }
}

fn result_of(call: &str) -> RequestBlock {
    RequestBlock { tool_use_id: Some(call.into()), ..block("tool_result") }
}

fn marked(block: RequestBlock, control: &str) -> RequestBlock {
    RequestBlock { cache_control: Some(control.into()), ..block }
}

fn message(role: &str, blocks: Vec<RequestBlock>) -> RequestMessage {
    RequestMessage { role: role.into(), blocks }
}

fn user(blocks: Vec<RequestBlock>) -> RequestMessage {
    message("user", blocks)
}

fn assistant() -> RequestMessage {
    message("assistant", vec![block("text"), block("tool_use")])
}

/// The request in which Pi sends the results of these calls, made one after the other. With an API key the last tool, the
/// system prompt and the end are marked.
fn with_key(calls: &[&str]) -> RequestShape {
    let mut messages = vec![user(vec![block("text")])];
    for call in calls {
        messages.extend([assistant(), user(vec![result_of(call)])]);
    }
    let mut shape = RequestShape {
        tools: vec![block("tool"), marked(block("tool"), SHORT)],
        system: vec![marked(block("text"), SHORT)],
        messages,
        replay: false,
    };
    roll(&mut shape, SHORT);
    shape
}

/// The same of a subscription, whose first block of the system prompt is an identity with a mark of its own.
fn with_oauth(calls: &[&str]) -> RequestShape {
    let mut shape = with_key(calls);
    shape.system.insert(0, marked(block("text"), SHORT));
    shape
}

/// Marks the end of the conversation.
fn roll(shape: &mut RequestShape, control: &str) {
    let last = shape.messages.last_mut().unwrap().blocks.last_mut().unwrap();
    last.cache_control = Some(control.into());
}

/// The request with the answer applied.
fn applied(shape: &RequestShape, changes: &[Breakpoint]) -> RequestShape {
    let mut shape = shape.clone();
    for change in changes {
        let block = match change.section {
            Section::Tools => &mut shape.tools[change.block as usize],
            Section::System => &mut shape.system[change.block as usize],
            Section::Messages => &mut shape.messages[change.message as usize].blocks[change.block as usize],
        };
        assert_ne!(block.cache_control, change.cache_control, "{change:?} changes nothing");
        block.cache_control.clone_from(&change.cache_control);
    }
    shape
}

/// Where the marks of a request are, such as `tools.1 system.0 messages.0.0`; those of an hour with `1h`.
fn marks(shape: &RequestShape) -> String {
    let name = |place: Place| match place {
        Place::Tool(at) => format!("tools.{at}"),
        Place::System(at) => format!("system.{at}"),
        Place::Message(message, at) => format!("messages.{message}.{at}"),
    };
    let hour = |mark: &marks::Mark| if mark.ttl == marks::Ttl::Hour { " 1h" } else { "" };
    let marks = Marks::of(shape);
    marks.iter().map(|mark| name(mark.place) + hour(mark)).collect::<Vec<_>>().join(", ")
}

/// A session that sends requests.
#[derive(Debug, Default)]
struct Wire {
    breakpoints: Breakpoints,
    log: CacheLog,
}

impl Wire {
    fn send(&mut self, items: &[Item], shape: &RequestShape, now: Timestamp) -> RequestShape {
        let mirror = session(items.iter().cloned());
        applied(shape, &self.breakpoints.request(&mirror, &mut self.log, &model(), shape, now))
    }

    fn read_point(&self, items: &[Item], before: usize, now: Timestamp) -> Option<usize> {
        self.log.read_point(&session(items.iter().cloned()), &model().name, before, now)
    }
}

/// The marks of a request of a session without edits, as they leave.
fn pinned(shape: &RequestShape) -> String {
    marks(&Wire::default().send(&[u("q")], shape, 0))
}

/// The session behind `with_key(calls)`; results are `e2`, `e4`, ….
fn run(calls: &[&str]) -> Vec<Item> {
    let mut items = vec![u("q")];
    for call in calls {
        items.extend([a("").call(call, "bash", "{}"), r(call, "output")]);
    }
    items
}

fn and(items: &[Item], more: impl IntoIterator<Item = Item>) -> Vec<Item> {
    items.iter().cloned().chain(more).collect()
}

fn anchors(items: &[Item], log: &CacheLog) -> Option<(Option<String>, Option<String>)> {
    let mirror = session(items.iter().cloned());
    let anchors = Anchors::of(&mirror, log, &model(), 0)?;
    Some((anchors.read.map(Into::into), anchors.write.map(Into::into)))
}

#[test]
fn c14_an_edit_is_pending_until_the_model_has_answered() {
    use crate::contract::types::StopReason;
    let pending = |more: Vec<Item>| anchors(&and(&run(&["c1"]), more), &CacheLog::default()).is_some();
    assert!(!pending(vec![]));
    assert!(pending(vec![edit("e2")]));
    assert!(pending(vec![edit("e2"), u("next")]));
    assert!(pending(vec![edit("e2"), a("").stop(StopReason::Error)]));
    assert!(pending(vec![edit("e2"), u("next"), a("No").stop(StopReason::Aborted)]));
    assert!(!pending(vec![edit("e2"), a("Done.")]));
    assert!(!pending(vec![edit("elsewhere")]), "its target is not on this branch");
}

#[test]
fn c15_the_read_anchor_is_the_last_known_entry_before_the_edit() {
    let calls = ["c1", "c2", "c3"];
    let mut wire = Wire::default();
    wire.send(&run(&calls[..1]), &with_key(&calls[..1]), 0);
    wire.send(&run(&calls), &with_key(&calls), 0);
    let items = and(&run(&calls), [edit("e4")]);
    assert_eq!(anchors(&items, &wire.log), Some((Some("c1".into()), Some("c2".into()))));
}

#[test]
fn c16_without_a_known_entry_before_the_edit_there_is_a_write_anchor_alone() {
    let items = and(&run(&["c1", "c2"]), [edit("e2")]);
    let log = Wire::default().log;
    assert_eq!(anchors(&items, &log), Some((None, Some("c1".into()))));
}

#[test]
fn c20_a_batch_of_parallel_results_is_never_split() {
    let items = [
        u("q"),
        a("").call("p1", "bash", "{}").call("p2", "bash", "{}"),
        r("p1", "one"),
        other(),
        r("p2", "two"),
        a("").call("c3", "bash", "{}"),
        r("c3", "three"),
        edit("e2"),
    ];
    assert_eq!(anchors(&items, &CacheLog::default()), Some((None, Some("p2".into()))));
}

#[test]
fn c21_an_edited_prompt_has_no_write_anchor() {
    let items = and(&run(&["c1"]), [u("next"), edit("e0"), edit("e2")]);
    assert_eq!(anchors(&items, &CacheLog::default()), Some((None, None)));
}

#[test]
fn c34_the_question_is_marked_beside_the_three_marks_of_a_request_with_a_key() {
    assert_eq!(pinned(&with_key(&["c1"])), "tools.1, system.0, messages.0.0, messages.2.0");
}

#[test]
fn c40_the_lifetime_keeps_longer_marks_before_shorter_ones() {
    let mut shape = with_key(&["c1", "c2"]);
    shape.tools[1].cache_control = None;
    shape.system[0].cache_control = Some(LONG.into());
    shape.messages[2].blocks[0].cache_control = Some(LONG.into());
    assert_eq!(pinned(&shape), "system.0 1h, messages.0.0 1h, messages.2.0 1h, messages.4.0");
    shape.system[0].cache_control = Some(SHORT.into());
    assert_eq!(pinned(&shape), marks(&shape), "no lifetime fits, so that the request stays as it is");
}

#[test]
fn a_rolling_mark_of_an_hour_makes_the_question_one_of_an_hour() {
    let mut shape = with_key(&["c1"]);
    for block in shape.tools.iter_mut().chain(&mut shape.system) {
        block.cache_control = block.cache_control.as_ref().map(|_| LONG.into());
    }
    roll(&mut shape, LONG);
    assert_eq!(pinned(&shape), "tools.1 1h, system.0 1h, messages.0.0 1h, messages.2.0 1h");
}

#[test]
fn a_mark_of_the_guard_is_a_copy_of_the_rolling_one() {
    let mut shape = with_key(&["c1"]);
    roll(&mut shape, r#"{"type":"ephemeral","ttl":"5m","scope":"org"}"#);
    let answer =
        Breakpoints::default().request(&session([u("q")]), &mut CacheLog::default(), &model(), &shape, 0);
    assert_eq!(answer.len(), 1);
    let written: serde_json::Value =
        serde_json::from_str(answer[0].cache_control.as_deref().unwrap()).unwrap();
    assert_eq!(written, serde_json::json!({ "type": "ephemeral", "scope": "org" }));
}

#[test]
fn c41_system_messages_behind_the_conversation_are_no_turn_of_it() {
    let mut shape = with_key(&["c1"]);
    let expected = pinned(&shape);
    shape.messages.push(message("system", vec![]));
    assert_eq!(pinned(&shape), expected);
}

#[test]
fn c42_a_question_that_is_a_string_is_one_block_of_text() {
    let answer = Wire::default().send(&[u("q")], &with_key(&["c1"]), 0);
    assert_eq!(answer.messages[0].blocks, [marked(block("text"), SHORT)]);
}

#[test]
fn c43_the_last_text_that_is_not_blank_is_marked() {
    let mut shape = with_key(&["c1"]);
    shape.messages[0].blocks = vec![block("text"), block("text"), blank(), block("image")];
    assert_eq!(pinned(&shape), "tools.1, system.0, messages.0.1, messages.2.0");
}

#[test]
fn a_message_of_results_alone_is_no_question_and_neither_is_the_last_one() {
    let mut shape = with_key(&["c1", "c2"]);
    shape.messages[2].blocks.push(blank());
    assert_eq!(pinned(&shape), "tools.1, system.0, messages.0.0, messages.4.0");
    shape.messages[2].blocks.push(block("text"));
    assert_eq!(pinned(&shape), "tools.1, system.0, messages.2.2, messages.4.0", "a steering message");
    shape.messages[4].blocks.push(block("text"));
    assert_eq!(pinned(&shape), "tools.1, system.0, messages.2.2, messages.4.0");
}

#[test]
fn nothing_is_set_where_the_host_caches_nothing_and_where_there_is_no_earlier_question() {
    let mut uncached = with_key(&["c1"]);
    uncached.messages[2].blocks[0].cache_control = None;
    let mut unreadable = with_key(&["c1"]);
    roll(&mut unreadable, "ephemeral");
    let mut silent = with_key(&["c1"]);
    silent.messages[0].blocks = vec![block("image")];
    for shape in [with_key(&[]), uncached, unreadable, silent] {
        assert_eq!(pinned(&shape), marks(&shape));
    }
}

#[test]
fn a_question_that_is_marked_already_is_left_as_it_is() {
    let mut shape = with_key(&["c1"]);
    shape.messages[0].blocks[0].cache_control = Some(LONG.into());
    assert_eq!(pinned(&shape), marks(&shape));
}

#[test]
fn c44_an_anchor_finds_its_result_by_the_id_as_it_was_sent() {
    let sent = ["call_1_fc_9", "c2"];
    let items = and(&run(&["call_1|fc_9", "c2"]), [edit("e2")]);
    let answer = Wire::default().send(&items, &with_key(&sent), 0);
    assert_eq!(marks(&answer), "system.0, messages.0.0, messages.2.0, messages.4.0");
}

#[test]
fn an_anchor_in_the_last_message_or_without_a_block_is_not_placed() {
    let items = and(&run(&["c1"]), [edit("e2")]);
    let in_the_last = Wire::default().send(&items, &with_key(&["c1"]), 0);
    assert_eq!(marks(&in_the_last), "tools.1, system.0, messages.0.0, messages.2.0");
    let without = Wire::default().send(&items, &with_key(&["c8", "c9"]), 0);
    assert_eq!(marks(&without), "tools.1, system.0, messages.0.0, messages.4.0");
}

#[test]
fn c46_a_replay_of_the_request_after_edits_has_the_same_marks() {
    let calls = ["c1", "c2", "c3"];
    let mut wire = Wire::default();
    wire.send(&run(&calls[..1]), &with_key(&calls[..1]), 0);
    let items = and(&run(&calls), [edit("e4")]);
    let sent = wire.send(&items, &with_key(&calls), 1_000);
    let mut replay = with_key(&calls);
    replay.replay = true;
    // The first mark would be too old now, if the request had not set it again.
    let repeated = wire.send(&items, &replay, 300_500);
    assert_eq!(marks(&repeated), marks(&sent));
    assert_eq!(marks(&sent), "system.0, messages.0.0, messages.2.0, messages.6.0");
}

#[test]
fn the_next_checkpoint_reads_up_to_the_last_output_that_this_one_edited() {
    let calls: Vec<String> = (1..=8).map(|at| format!("c{at}")).collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let mut wire = Wire::default();
    let mut items = and(&run(&calls[..4]), [edit("e4"), edit("e2")]);
    let first = wire.send(&items, &with_key(&calls[..4]), 0);
    assert_eq!(marks(&first), "system.0, messages.0.0, messages.4.0, messages.8.0");
    for call in &calls[4..] {
        items.extend([a("").call(call, "bash", "{}"), r(call, "output")]);
    }
    items.push(edit("e6"));
    let second = wire.send(&items, &with_key(&calls), 1_000);
    assert_eq!(marks(&second), "system.0, messages.0.0, messages.4.0, messages.16.0");
}
