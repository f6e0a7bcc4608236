use super::*;
use crate::contract::sessions::RequestMessage;

const SHORT: &str = r#"{"type":"ephemeral"}"#;
const LONG: &str = r#"{"type":"ephemeral","ttl":"1h"}"#;

fn block(kind: &str, control: Option<&str>) -> RequestBlock {
    let cache_control = control.map(Into::into);
    RequestBlock { kind: kind.into(), has_text: kind == "text", tool_use_id: None, cache_control }
}

/// A tool, a system prompt and three messages, marked as Pi does it.
fn shape() -> RequestShape {
    let message = |blocks| RequestMessage { role: "user".into(), blocks };
    RequestShape {
        tools: vec![block("tool", None), block("tool", Some(SHORT))],
        system: vec![block("text", Some(SHORT))],
        messages: vec![
            message(vec![block("text", None)]),
            message(vec![block("thinking", None), RequestBlock { has_text: false, ..block("text", None) }]),
            message(vec![block("tool_result", None), block("tool_result", Some(SHORT))]),
        ],
        replay: false,
    }
}

fn set(section: Section, message: u32, block: u32, control: &str) -> Breakpoint {
    Breakpoint { section, message, block, cache_control: Some(control.into()) }
}

fn remove(section: Section, block: u32) -> Breakpoint {
    Breakpoint { section, message: 0, block, cache_control: None }
}

use Section::{Messages, System, Tools};

#[test]
fn what_fits_the_request_is_passed_on() {
    for answer in [
        vec![],
        vec![set(Messages, 0, 0, SHORT)],
        vec![
            remove(Tools, 1),
            set(Messages, 0, 0, SHORT),
            set(Messages, 2, 0, r#"{"type":"ephemeral","ttl":"5m"}"#),
        ],
    ] {
        assert_eq!(check(&shape(), &answer), Ok(()), "{answer:?}");
        assert_eq!(checked(&shape(), answer.clone()), answer);
    }
}

#[test]
fn a_block_that_is_not_there_is_a_fault() {
    for (section, message, block) in [
        (Messages, 3, 0),
        (Messages, 0, 1),
        (Messages, u32::MAX, 0),
        (Messages, 1, u32::MAX),
        (Tools, 0, 2),
        (Tools, 1, 0),
        (System, 0, 1),
    ] {
        let answer = [set(section, message, block, SHORT)];
        assert_eq!(check(&shape(), &answer), Err(Fault::NoBlock { section, message, block }));
    }
}

#[test]
fn only_what_can_be_marked_is_marked_and_only_with_a_breakpoint() {
    for block in [0, 1] {
        assert!(matches!(check(&shape(), &[set(Messages, 1, block, SHORT)]), Err(Fault::Unmarkable(_))));
    }
    for control in [
        "",
        "null",
        "[]",
        "{}",
        r#""ephemeral""#,
        r#"{"type":"forever"}"#,
        r#"{"type":"ephemeral","ttl":"1d"}"#,
        r#"{"type":"ephemeral","ttl":60}"#,
    ] {
        assert_eq!(check(&shape(), &[set(Messages, 0, 0, control)]), Err(Fault::Unknown), "{control}");
    }
}

#[test]
fn at_most_four_are_left() {
    let five = [set(Messages, 0, 0, SHORT), set(Messages, 2, 0, SHORT)];
    assert_eq!(check(&shape(), &five), Err(Fault::TooMany(5)));
    assert_eq!(check(&shape(), &[&five[..], &[remove(Tools, 1)]].concat()), Ok(()));
}

#[test]
fn an_hour_never_follows_five_minutes() {
    assert_eq!(check(&shape(), &[set(Messages, 0, 0, LONG)]), Err(Fault::Order));
    let first = [remove(Tools, 1), set(Tools, 0, 0, LONG)];
    assert_eq!(check(&shape(), &first), Ok(()));
}

#[test]
fn no_block_is_changed_twice() {
    let answer = [remove(Tools, 1), remove(Tools, 1)];
    assert_eq!(check(&shape(), &answer), Err(Fault::Twice));
    assert_eq!(checked(&shape(), answer.into()), []);
}
