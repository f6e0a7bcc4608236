//! Entries of Pi in the words of the contract, as the extension writes them.

use super::*;
use crate::contract::types::EntryBody;
use crate::replay::mapping::Role;

/// The contract's JSON, which is what the extension sends.
fn body(entry: Value) -> Value {
    serde_json::to_value(&branch([entry]).remove(0).entry.body).unwrap()
}

fn role(entry: Value) -> Role {
    branch([entry]).remove(0).role
}

#[test]
fn messages_of_every_role() {
    assert_eq!(body(user("hi")), json!({"Message": {"User": [{"Text": "hi"}]}}));
    assert_eq!(
        body(message(json!({
            "role": "assistant", "provider": "p", "model": "m", "stopReason": "toolUse",
            "usage": {"input": 1, "output": 2.9, "cacheRead": -3, "cacheWrite": "4"},
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "😀s"},
                {"type": "text", "text": "t", "textSignature": "x"},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls", "z": [1, "é"]}},
                {"type": "toolCall", "id": "c2", "name": "bash", "arguments": null},
            ],
        }))),
        json!({"Message": {"Assistant": {
            "blocks": [
                {"Thinking": {"text": "hm", "signature_length": 3}},
                {"Text": "t"},
                {"ToolCall": {"id": "c1", "name": "bash", "arguments": r#"{"command":"ls","z":[1,"é"]}"#}},
                {"ToolCall": {"id": "c2", "name": "bash", "arguments": "{}"}},
            ],
            "stop_reason": "ToolUse",
            "model": "p/m",
            "usage": {"input": 1, "output": 2, "cache_read": 0, "cache_write": 0},
        }}})
    );
    assert_eq!(
        body(message(json!({"role": "toolResult", "toolCallId": "c1", "isError": true, "content": "plain"}))),
        json!({"Message": {"ToolResult": {
            "call_id": "c1", "tool_name": null, "is_error": true, "blocks": [{"Text": "plain"}],
        }}})
    );
    assert_eq!(
        body(json!({"type": "custom_message", "customType": "todo", "content": "x"})),
        json!({"Message": {"Note": {"kind": "todo", "blocks": [{"Text": "x"}]}}})
    );
    assert_eq!(
        body(message(json!({"role": "system", "content": "You are"}))),
        json!({"Message": {"Fixed": 0}})
    );
}

#[test]
fn an_image_is_known_by_its_head_and_its_length() {
    let data = "A".repeat(70_000);
    let image = json!({"type": "image", "mimeType": "image/png", "data": data});
    let body = body(message(json!({"role": "user", "content": [image]})));
    let image = &body["Message"]["User"][0]["Image"];
    assert_eq!((&image["media_type"], &image["base64_length"]), (&json!("image/png"), &json!(70_000)));
    assert_eq!(image["head"].as_str().unwrap().len(), 65_536);
}

#[test]
fn unknown_blocks_count_by_their_length() {
    let body = body(message(json!({"role": "user", "content": [{"type": "audio", "é": 1}, "bare", 7]})));
    assert_eq!(body["Message"]["User"], json!([{"Opaque": 22}, {"Opaque": 6}, {"Opaque": 1}]));
}

#[test]
fn a_command_of_the_user_is_as_long_as_the_text_that_pi_makes_of_it() {
    let length = |fields: Value| {
        let mut shell = json!({"role": "bashExecution", "command": "ls"});
        shell.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body(message(shell))["Message"]["Fixed"].as_u64().unwrap() as usize
    };
    for (fields, text) in [
        (json!({"output": "a\nb", "exitCode": 0}), "Ran `ls`\n```\na\nb\n```"),
        (json!({"output": ""}), "Ran `ls`\n(no output)"),
        (json!({"output": "x", "exitCode": 127}), "Ran `ls`\n```\nx\n```\n\nCommand exited with code 127"),
        (
            json!({"output": "x", "exitCode": 1, "cancelled": true}),
            "Ran `ls`\n```\nx\n```\n\n(command cancelled)",
        ),
        (
            json!({"output": "x", "truncated": true, "fullOutputPath": "/tmp/o"}),
            "Ran `ls`\n```\nx\n```\n\n[Output truncated. Full output: /tmp/o]",
        ),
        (json!({"output": "x", "excludeFromContext": true}), ""),
    ] {
        assert_eq!(length(fields), text.len(), "{text}");
    }
}

#[test]
fn edits_summaries_and_the_guards_records() {
    assert_eq!(body(edit("e1", Value::Null)), json!({"Edit": "e1"}));
    assert_eq!(body(compaction("e1")), json!({"Compaction": "so far"}));
    assert_eq!(body(json!({"type": "branch_summary", "summary": "else"})), json!({"BranchSummary": "else"}));
    assert_eq!(body(guard_record(json!([]))), json!({"GuardRecord": r#"{"v":1,"results":[]}"#}));
    assert_eq!(body(json!({"type": "custom", "customType": "todo", "data": {}})), json!("Other"));
    assert_eq!(body(json!({"type": "model_change", "modelId": "m"})), json!("Other"));
}

#[test]
fn edits_reach_what_pi_lets_them_reach() {
    for entry in [
        user("p"),
        assistant("a"),
        result("c1", "read", "r"),
        json!({"type": "custom_message", "content": "x"}),
    ] {
        assert_eq!(role(entry), Role::Editable);
    }
    assert_eq!(role(message(json!({"role": "bashExecution"}))), Role::Fixed);
    assert_eq!(role(message(json!({"role": "system"}))), Role::System);
    assert_eq!(role(json!({"type": "label"})), Role::Unseen);
}

#[test]
fn an_entry_of_any_shape_is_mapped() {
    for entry in [
        json!({}),
        json!({"type": 7}),
        json!({"type": "message"}),
        json!({"type": "message", "message": null}),
        json!({"type": "message", "message": {"role": "user", "content": {"text": 1}}}),
        json!({"type": "message", "message": {"role": "assistant", "content": [null, {"type": "text"}]}}),
        json!({"type": "context_edit"}),
        json!({"type": "context_edit", "targetId": "e1", "replacement": {}}),
        json!({"type": "compaction", "firstKeptEntryId": 3}),
        json!({"type": "custom", "customType": "context-guard"}),
    ] {
        body(entry);
    }
}

#[test]
fn times_are_milliseconds_and_zero_where_there_is_none() {
    let time = |timestamp: Value| {
        let mut entry = user("p");
        entry["timestamp"] = timestamp;
        branch([entry]).remove(0).entry.time
    };
    assert_eq!(time(json!("2024-12-03T14:00:00.250Z")), 1_733_234_400_250);
    for timestamp in [json!("yesterday"), json!(7), json!("1969-01-01T00:00:00Z"), Value::Null] {
        assert_eq!(time(timestamp), 0);
    }
}

#[test]
fn nothing_of_the_file_can_stop_a_replay() {
    use proptest::prelude::*;

    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "[a-z]{0,6}".prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec(
                ("(type|message|role|content|text|data|summary|targetId|replacement)", inner),
                0..5
            )
            .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    proptest!(|(value in value)| {
        let line = value.to_string();
        let header = r#"{"type":"session","id":"s"}"#;
        let session = read(&format!("{header}\n{line}\n{line}")).unwrap();
        prop_assert!(session.branch.iter().all(|recorded| recorded.entry.id.len() == 8));
        prop_assert!(!matches!(session.branch.first().map(|r| &r.entry.body), Some(EntryBody::GuardRecord(_))));
    });
}
