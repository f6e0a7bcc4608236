//! The shape of a request that Pi makes of a context.

use context_guard::session::{Kind, Mirror, Shown};

use crate::contract::sessions::{RequestBlock, RequestMessage, RequestShape};
use crate::contract::types::Block;

/// Marks its system prompt and its last message, as Pi does.
pub(super) fn shape(mirror: &Mirror, replay: bool) -> RequestShape {
    let mut messages: Vec<RequestMessage> = vec![];
    for shown in mirror.projection().iter().filter_map(|item| item.shown()) {
        let role = if shown.assistant().is_some() { "assistant" } else { "user" };
        let blocks = blocks(&shown);
        match messages.last_mut().filter(|last| last.role == role) {
            Some(last) => last.blocks.extend(blocks),
            None => messages.push(RequestMessage { role: role.into(), blocks }),
        }
    }
    messages.retain(|message| !message.blocks.is_empty());
    if let Some(last) =
        messages.last_mut().filter(|last| last.role == "user").and_then(|last| last.blocks.last_mut())
    {
        last.cache_control = Some(r#"{"type":"ephemeral"}"#.into());
    }
    let system = RequestBlock { cache_control: Some(r#"{"type":"ephemeral"}"#.into()), ..block("text") };
    RequestShape { tools: vec![block("custom")], system: vec![system], messages, replay }
}

fn blocks(shown: &Shown<'_>) -> Vec<RequestBlock> {
    if let Kind::ToolResult(result) = shown.kind {
        return vec![RequestBlock { tool_use_id: Some(result.call_id.clone()), ..block("tool_result") }];
    }
    if matches!(shown.kind, Kind::Summary(_)) {
        return vec![block("text")];
    }
    let kind = |part: &Block| match part {
        Block::Text(_) => "text",
        Block::Image(_) => "image",
        Block::Thinking(_) => "thinking",
        Block::ToolCall(_) => "tool_use",
        Block::Opaque(_) => "document",
    };
    shown.blocks.iter().map(|part| block(kind(part))).collect()
}

fn block(kind: &str) -> RequestBlock {
    RequestBlock { kind: kind.into(), has_text: kind == "text", tool_use_id: None, cache_control: None }
}
