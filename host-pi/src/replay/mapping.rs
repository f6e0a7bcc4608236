//! Pi's entries as the contract has them, the way the extension maps them inside Pi.

use crate::contract::types::{
    Assistant, Block, Entry, EntryBody, Image, Message, Note, StopReason, Thinking, ToolCall, ToolResult,
    Usage,
};
use serde_json::{Map, Value};
use std::time::UNIX_EPOCH;

/// The type of the record that the guard keeps in a session.
pub(super) const RECORD_TYPE: &str = "context-guard";

/// Image sizes stand near the start of a file: 48 KiB of it are enough, which are so many characters of base64.
const IMAGE_HEAD: usize = 65_536;

pub(super) type Fields = Map<String, Value>;

/// An entry with what Pi's projection has to know about it.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) entry: Entry,
    pub(super) role: Role,
}

/// The part that an entry plays in the model's context.
#[derive(Debug, PartialEq)]
pub(super) enum Role {
    /// Seen by the model; context edits reach it.
    Editable,
    /// Seen by the model; no edit reaches it.
    Fixed,
    /// A part of the system prompt, which a compaction writes anew.
    System,
    /// Stands for what came before the entry of that id.
    Compaction { first_kept: Option<String> },
    /// Changes how an earlier entry is seen; without blocks it omits that one.
    Edit { target: String, replacement: Option<Vec<Block>> },
    /// Never seen by the model.
    Unseen,
}

/// Maps one entry. Pi validates nothing that it reads, so any field can be missing or of any type: what cannot be
/// read is empty, and an entry of an unknown type is one that the model never sees.
pub(super) fn recorded(id: String, mut fields: Fields) -> Recorded {
    let time = time(fields.get("timestamp"));
    let (body, role) = body(&mut fields);
    Recorded { entry: Entry { id, time, body }, role }
}

fn body(fields: &mut Fields) -> (EntryBody, Role) {
    match take_text(fields, "type").as_str() {
        "message" => match fields.remove("message") {
            Some(Value::Object(message)) => {
                let (message, role) = self::message(message);
                (EntryBody::Message(message), role)
            }
            _ => (EntryBody::Other, Role::Unseen),
        },
        "custom_message" => {
            let note = Note { kind: take_text(fields, "customType"), blocks: take_blocks(fields) };
            (EntryBody::Message(Message::Note(note)), Role::Editable)
        }
        "context_edit" => edit(fields),
        "compaction" => {
            let first_kept = fields.get("firstKeptEntryId").and_then(Value::as_str).map(str::to_owned);
            (EntryBody::Compaction(take_text(fields, "summary")), Role::Compaction { first_kept })
        }
        "branch_summary" => {
            let summary = take_text(fields, "summary");
            let role = if summary.is_empty() { Role::Unseen } else { Role::Fixed };
            (EntryBody::BranchSummary(summary), role)
        }
        "custom" if fields.get("customType").and_then(Value::as_str) == Some(RECORD_TYPE) => {
            let data = fields.get("data").map_or_else(|| "null".to_owned(), Value::to_string);
            (EntryBody::GuardRecord(data), Role::Unseen)
        }
        _ => (EntryBody::Other, Role::Unseen),
    }
}

fn edit(fields: &mut Fields) -> (EntryBody, Role) {
    let target = take_text(fields, "targetId");
    let replacement = match fields.remove("replacement") {
        Some(Value::Null) => None,
        Some(Value::Object(mut replacement)) => Some(take_blocks(&mut replacement)),
        _ => return (EntryBody::Edit(target), Role::Unseen),
    };
    (EntryBody::Edit(target.clone()), Role::Edit { target, replacement })
}

fn message(mut fields: Fields) -> (Message, Role) {
    let fields = &mut fields;
    match take_text(fields, "role").as_str() {
        "user" => (Message::User(take_blocks(fields)), Role::Editable),
        "assistant" => (Message::Assistant(assistant(fields)), Role::Editable),
        "toolResult" => {
            let result = ToolResult {
                call_id: take_text(fields, "toolCallId"),
                tool_name: fields.get("toolName").and_then(Value::as_str).map(str::to_owned),
                is_error: fields.get("isError") == Some(&Value::Bool(true)),
                blocks: take_blocks(fields),
            };
            (Message::ToolResult(result), Role::Editable)
        }
        "system" => (Message::Fixed(0), Role::System),
        "bashExecution" => (Message::Fixed(length_u32(shell_length(fields))), Role::Fixed),
        "custom" => {
            let texts = take_blocks(fields).into_iter().map(|block| match block {
                Block::Text(text) => units(&text),
                _ => 0,
            });
            (Message::Fixed(length_u32(texts.sum())), Role::Fixed)
        }
        _ => (Message::Fixed(0), Role::Fixed),
    }
}

fn assistant(fields: &mut Fields) -> Assistant {
    Assistant {
        blocks: take_blocks(fields),
        stop_reason: match fields.get("stopReason").and_then(Value::as_str) {
            Some("toolUse") => StopReason::ToolUse,
            Some("length") => StopReason::Length,
            Some("aborted") => StopReason::Aborted,
            Some("error") => StopReason::Error,
            _ => StopReason::Stop,
        },
        model: format!("{}/{}", take_text(fields, "provider"), take_text(fields, "model")),
        usage: fields.get("usage").and_then(Value::as_object).map(usage),
    }
}

fn usage(fields: &Fields) -> Usage {
    // A cast from a float saturates and cuts the fraction off.
    let count = |key| fields.get(key).and_then(Value::as_f64).map_or(0, |count| count as u64);
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
    }
}

/// The length of the text that Pi makes of a command that the user ran; 0 for one that the model is not shown.
fn shell_length(fields: &Fields) -> usize {
    let text = |key| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let is = |key| fields.get(key) == Some(&Value::Bool(true));
    if is("excludeFromContext") {
        return 0;
    }
    let mut length = units("Ran ``\n") + text("command").map_or(0, units);
    length += text("output").map_or(units("(no output)"), |output| units("```\n\n```") + units(output));
    let code = fields.get("exitCode").filter(|code| !code.is_null() && code.as_f64() != Some(0.0));
    if is("cancelled") {
        length += units("\n\n(command cancelled)");
    } else if let Some(code) = code {
        length += units("\n\nCommand exited with code ") + units(&code.to_string());
    }
    if let Some(path) = text("fullOutputPath").filter(|_| is("truncated")) {
        length += units("\n\n[Output truncated. Full output: ]") + units(path);
    }
    length
}

/// Takes `content` as blocks: a plain string is one text block, and what is neither string nor list is none.
fn take_blocks(fields: &mut Fields) -> Vec<Block> {
    match fields.remove("content") {
        Some(Value::String(text)) => vec![Block::Text(text)],
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        _ => Vec::new(),
    }
}

fn block(value: Value) -> Block {
    let opaque = |value: &Value| Block::Opaque(length_u32(units(&value.to_string())));
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    if !matches!(kind, "text" | "image" | "thinking" | "toolCall") {
        return opaque(&value);
    }
    let kind = kind.to_owned();
    let Value::Object(mut fields) = value else { return opaque(&value) };
    let fields = &mut fields;
    match kind.as_str() {
        "text" => Block::Text(take_text(fields, "text")),
        "image" => {
            let mut head = take_text(fields, "data");
            let base64_length = length_u32(units(&head));
            head.truncate(head.floor_char_boundary(IMAGE_HEAD));
            // Of megabytes of pixels only this much is kept.
            head.shrink_to_fit();
            Block::Image(Image { media_type: take_text(fields, "mimeType"), head, base64_length })
        }
        "thinking" => Block::Thinking(Thinking {
            text: take_text(fields, "thinking"),
            signature_length: length_u32(
                fields.get("thinkingSignature").and_then(Value::as_str).map_or(0, units),
            ),
        }),
        _ => Block::ToolCall(ToolCall {
            id: take_text(fields, "id"),
            name: take_text(fields, "name"),
            arguments: fields
                .get("arguments")
                .filter(|arguments| !arguments.is_null())
                .map_or_else(|| "{}".to_owned(), Value::to_string),
        }),
    }
}

/// Takes a text out of an object, without copying it; what is no text counts as empty.
fn take_text(fields: &mut Fields, key: &str) -> String {
    match fields.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Pi writes dates as ISO 8601 in UTC; 0 for anything else.
fn time(timestamp: Option<&Value>) -> u64 {
    let text = timestamp.and_then(Value::as_str).unwrap_or_default();
    let since_epoch =
        humantime::parse_rfc3339_weak(text).ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since_epoch.and_then(|time| time.as_millis().try_into().ok()).unwrap_or(0)
}

/// Length in UTF-16 code units, which is how Pi and the guard count characters.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn length_u32(length: usize) -> u32 {
    length.try_into().unwrap_or(u32::MAX)
}
