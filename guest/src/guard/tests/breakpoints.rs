//! The cache breakpoints of a session's requests.

use super::*;
use crate::contract::sessions::{RequestBlock, RequestMessage};

fn block(kind: &str, marked: bool) -> RequestBlock {
    RequestBlock {
        kind: kind.into(),
        has_text: kind == "text",
        tool_use_id: (kind == "tool_result").then(|| "c1".into()),
        cache_control: marked.then(|| r#"{"type":"ephemeral"}"#.into()),
    }
}

/// A prompt, a call, and its result at the end, which the host has marked.
fn shape() -> RequestShape {
    let message = |role: &str, block| RequestMessage { role: role.into(), blocks: vec![block] };
    RequestShape {
        tools: vec![block("tool", true)],
        system: vec![block("text", true)],
        messages: vec![
            message("user", block("text", false)),
            message("assistant", block("tool_use", false)),
            message("user", block("tool_result", true)),
        ],
        replay: false,
    }
}

fn run() -> Delta {
    whole([u("q"), a("").call("c1", "bash", "{}"), r("c1", "output")])
}

#[test]
fn the_question_of_every_request_to_anthropic_is_marked() {
    let mut guard = guard_with("{}", run());
    let answer = guard.request(model(), shape(), 0);
    assert_eq!(answer.len(), 1);
    assert_eq!((answer[0].message, answer[0].block), (0, 0));
    assert_eq!(guard.log.read_point(&guard.mirror, "anthropic/claude", 3, 0), Some(2));
}

#[test]
fn breakpoints_need_neither_recall_nor_a_classifier() {
    let mut guard = Guard::new();
    guard.update(run()).unwrap();
    assert_eq!(guard.request(model(), shape(), 0).len(), 1);
}

#[test]
fn c27_with_breakpoints_off_nothing_is_marked_and_nothing_logged() {
    for settings in [r#"{"pinAnthropicCache":false}"#, r#"{"enabled":false}"#] {
        let mut guard = guard_with("{}", run());
        guard.request(model(), shape(), 0);
        assert!(!guard.configure(settings, None).breakpoints);
        assert_eq!(guard.log.read_point(&guard.mirror, "anthropic/claude", 3, 0), None, "{settings}");
        assert_eq!(guard.request(model(), shape(), 0), []);
        assert_eq!(guard.log.read_point(&guard.mirror, "anthropic/claude", 3, 0), None, "{settings}");
        assert!(guard.configure("{}", None).breakpoints);
    }
}

#[test]
fn c47_a_request_to_somebody_else_is_left_as_it_is() {
    let mut guard = guard_with("{}", run());
    for cache in [CacheScheme::Other, CacheScheme::OpenaiCodex] {
        assert_eq!(guard.request(Model { cache, ..model() }, shape(), 0), []);
    }
    assert_eq!(guard.log.read_point(&guard.mirror, "anthropic/claude", 3, 0), None);
}

#[test]
fn a_response_renews_what_the_request_read_through() {
    let usage = |cache_read| Usage { input: 10, output: 10, cache_read, cache_write: 990 };
    let first = a("").call("c1", "bash", "{}").usage(usage(0));
    let mut guard =
        guard_with("{}", whole([u("q"), first, r("c1", "output"), a("").call("c2", "bash", "{}")]));
    guard.request(model(), shape(), 0);
    let mut later = shape();
    later.messages[2].blocks[0].tool_use_id = Some("c2".into());
    guard.request(model(), later, 200_000);
    guard.response("anthropic/claude".into(), usage(5_000));
    assert_eq!(guard.log.read_point(&guard.mirror, "anthropic/claude", 3, 500_000), Some(2));
}
