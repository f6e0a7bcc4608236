//! The shape of a request that sends a session's whole context, as Pi tells it.

use context_guard::contract::types::{Block, Entry, EntryBody, Message};
use serde_json::{Value, json};

/// Returns the shape of a request with a message per entry, and Pi's breakpoints: on the last tool, on the system prompt
/// and on the last message.
pub(super) fn shape<'a>(context: impl Iterator<Item = &'a Entry>) -> Value {
    let mut messages: Vec<Value> = context.filter_map(message).collect();
    if let Some(block) = messages.last_mut().and_then(|message| message["blocks"].as_array_mut()?.last_mut())
    {
        mark(block);
    }
    let (mut tool, mut system) = (block("tool", None), block("text", None));
    mark(&mut tool);
    mark(&mut system);
    json!({ "tools": [tool], "system": [system], "messages": messages, "replay": false })
}

fn message(entry: &Entry) -> Option<Value> {
    let (role, blocks) = match &entry.body {
        EntryBody::Message(Message::User(_)) => ("user", vec![block("text", None)]),
        EntryBody::Message(Message::ToolResult(result)) => {
            ("user", vec![block("tool_result", Some(&result.call_id))])
        }
        EntryBody::Message(Message::Assistant(reply)) => {
            let blocks = reply.blocks.iter().map(|said| match said {
                Block::ToolCall(call) => block("tool_use", Some(&call.id)),
                _ => block("text", None),
            });
            ("assistant", blocks.collect())
        }
        _ => return None,
    };
    Some(json!({ "role": role, "blocks": blocks }))
}

fn block(kind: &str, call: Option<&str>) -> Value {
    json!({ "kind": kind, "has_text": kind == "text", "tool_use_id": call, "cache_control": null })
}

fn mark(block: &mut Value) {
    block["cache_control"] = r#"{"type":"ephemeral"}"#.into();
}
