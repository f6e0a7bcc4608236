//! The model's context, as Pi makes it of a branch.

use super::*;
use crate::contract::types::{Block, View};
use crate::replay::projection::context;

/// Ids with `-` for an omitted entry and `=text` for a replaced one.
fn shown(entries: impl IntoIterator<Item = Value>) -> Vec<String> {
    let show = |visible: crate::contract::types::Visible| match visible.view {
        View::AsRecorded => visible.id,
        View::Omitted => format!("{}-", visible.id),
        View::Replaced(blocks) => match blocks.as_slice() {
            [Block::Text(text)] => format!("{}={text}", visible.id),
            _ => format!("{}={blocks:?}", visible.id),
        },
    };
    context(&branch(entries)).into_iter().map(show).collect()
}

#[test]
fn messages_have_a_place_and_other_entries_have_none() {
    let system = message(json!({"role": "system", "content": ""}));
    let shell = message(json!({"role": "bashExecution", "command": "ls"}));
    let entries =
        [system, user("p"), json!({"type": "label"}), assistant("done"), shell, guard_record(json!([]))];
    assert_eq!(shown(entries), ["e1", "e2", "e4", "e5"]);
}

#[test]
fn of_several_edits_the_last_is_in_force() {
    let entries = [
        user("p"),
        result("c1", "read", "long"),
        edit("e2", Value::Null),
        edit("e2", json!({"content": "short"})),
        edit("e1", json!({"content": [{"type": "text", "text": "asked"}]})),
        edit("e1", Value::Null),
    ];
    assert_eq!(shown(entries), ["e1-", "e2=short"]);
}

#[test]
fn an_edit_without_a_replacement_is_none() {
    assert_eq!(shown([user("p"), json!({"type": "context_edit", "targetId": "e1"})]), ["e1"]);
}

#[test]
fn a_compaction_comes_first_and_what_it_kept_follows_without_the_system_prompt() {
    let system = || message(json!({"role": "system", "content": ""}));
    let entries = [
        system(),
        user("old"),
        assistant("old"),
        user("kept"),
        system(),
        assistant("kept"),
        compaction("e4"),
        system(),
        user("new"),
    ];
    assert_eq!(shown(entries), ["e7", "e4", "e6", "e8", "e9"]);
}

#[test]
fn an_older_compaction_within_the_kept_range_says_nothing() {
    let entries = [user("1"), compaction("e1"), user("3"), compaction("e1"), user("5")];
    assert_eq!(shown(entries), ["e4", "e1", "e3", "e5"]);
}

#[test]
fn a_compaction_that_names_itself_or_nothing_keeps_nothing() {
    assert_eq!(shown([user("1"), compaction("e2"), user("3")]), ["e2", "e3"]);
    assert_eq!(shown([user("1"), json!({"type": "compaction", "summary": ""}), user("3")]), ["e2", "e3"]);
}

#[test]
fn an_edit_that_was_compacted_away_is_no_longer_in_force() {
    let entries = [user("1"), edit("e1", Value::Null), user("3"), compaction("e3")];
    assert_eq!(shown(entries), ["e4", "e3"]);
}
