//! Sessions in which a guard had been at work.

use super::*;
use crate::contract::types::EntryBody;
use crate::replay::former_guard::{FormerGuard, leave_out};
use crate::replay::projection::context;

#[test]
fn its_edits_and_records_are_left_out_and_those_of_others_stay() {
    let mut branch = branch([
        user("p"),
        result("c1", "read", "long"),
        result("c2", "read", "other"),
        edit("e3", Value::Null),
        edit("e2", json!({"content": "[context-guard] Removed"})),
        guard_record(json!([{"entryId": "e2", "outcome": "removed"}])),
    ]);
    assert_eq!(leave_out(&mut branch), FormerGuard { edits: 1, records: 1 });
    let views: Vec<_> = context(&branch).into_iter().map(|visible| format!("{:?}", visible.view)).collect();
    assert_eq!(views, ["View::AsRecorded", "View::AsRecorded", "View::Omitted"]);
    assert_eq!(branch.len(), 6, "a compaction may name any of them");
    assert!(branch[4..].iter().all(|recorded| recorded.entry.body == EntryBody::Other));
}

#[test]
fn an_omitted_exchange_is_put_back_in_all_its_entries_and_so_is_what_a_pass_lifted() {
    let record = guard_record(json!([
        {"kind": "exchange", "entryId": "e1", "outcome": "removed", "omitted": ["e2"]},
        {"entryId": "e3", "outcome": "kept", "reason": "recalled"},
    ]));
    let mut branch = branch([
        user("p"),
        assistant("done"),
        user("q"),
        edit("e1", json!({"content": "stub"})),
        edit("e2", Value::Null),
        edit("e3", json!({"content": "q"})),
        record,
    ]);
    assert_eq!(leave_out(&mut branch), FormerGuard { edits: 3, records: 1 });
}

#[test]
fn an_edit_apart_from_the_record_is_somebody_elses() {
    let mut branch = branch([
        user("p"),
        edit("e1", Value::Null),
        assistant("between"),
        guard_record(json!([{"entryId": "e1"}])),
    ]);
    assert_eq!(leave_out(&mut branch), FormerGuard { edits: 0, records: 1 });
}
