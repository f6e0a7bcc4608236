//! A terse notation for sessions in tests.
//!
//! One function per kind of entry, named as worked examples write them: [`u`] a prompt, [`a`] a reply,
//! [`r`] a tool result, [`n`] a notice. Methods add the rest, and [`session`] mirrors the list:
//!
//! ```ignore
//! let mirror = session([
//!     u("Port the parser"),
//!     a("Reading.").call("c1", "read", r#"{"path":"src/parser.rs"}"#),
//!     r("c1", &"x".repeat(5_000)),
//!     a("Done.").omitted(),
//! ]);
//! let projection = mirror.projection();
//! ```
//!
//! Entries are called `e0`, `e1`, … by their place in the list, edits and records included, unless
//! [`Item::id`] names them. Everything that the model can see is also part of the context, in the order of
//! the list, a compaction before everything else; [`Item::compacted`] takes an entry out of it. A pass of the guard is written with
//! [`guard_pass`], and the views that it leaves with [`Item::replaced`] and [`Item::omitted`]:
//!
//! ```ignore
//! let mut items = vec![u("hi"), a("").call("c1", "bash", "{}"), r("c1", "long").replaced("[context-guard] …")];
//! items.extend(guard_pass(&[("e2", "removed")]));
//! let mirror = session(items);
//! ```

use super::Mirror;
use crate::contract::sessions::Delta;
use crate::contract::types::{
    Assistant, Block, Entry, EntryBody, Image, Message, Note, StopReason, Thinking, ToolCall, ToolResult,
    Usage, View, Visible,
};

/// An entry to be, with its view.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    id: Option<String>,
    time: u64,
    body: EntryBody,
    view: View,
    in_context: bool,
}

impl Item {
    fn new(body: EntryBody) -> Self {
        let in_context =
            matches!(body, EntryBody::Message(_) | EntryBody::Compaction(_) | EntryBody::BranchSummary(_));
        Item { id: None, time: 0, body, view: View::AsRecorded, in_context }
    }

    /// Names the entry.
    pub(crate) fn id(mut self, id: &str) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets when the entry was recorded, in milliseconds; 0 otherwise.
    pub(crate) fn at(mut self, time: u64) -> Self {
        self.time = time;
        self
    }

    /// Shows the entry as it was recorded, whatever was shown before.
    pub(crate) fn unedited(mut self) -> Self {
        self.view = View::AsRecorded;
        self
    }

    /// Shows nothing of the entry.
    pub(crate) fn omitted(mut self) -> Self {
        self.view = View::Omitted;
        self
    }

    /// Shows this text instead.
    pub(crate) fn replaced(self, text: &str) -> Self {
        self.replaced_by([Block::Text(text.into())])
    }

    /// Shows these blocks instead.
    pub(crate) fn replaced_by(mut self, blocks: impl IntoIterator<Item = Block>) -> Self {
        self.view = View::Replaced(blocks.into_iter().collect());
        self
    }

    /// Takes the entry out of the context, as a compaction does with what came before it.
    pub(crate) fn compacted(mut self) -> Self {
        self.in_context = false;
        self
    }

    /// Adds a block to the message.
    pub(crate) fn block(mut self, block: Block) -> Self {
        self.blocks().push(block);
        self
    }

    /// Adds a tool call to a reply; `arguments` is a JSON object.
    pub(crate) fn call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        self.assistant().stop_reason = StopReason::ToolUse;
        let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() };
        self.block(Block::ToolCall(call))
    }

    /// Sets why a reply ended; `stop` otherwise, `tool-use` where it calls a tool.
    pub(crate) fn stop(mut self, reason: StopReason) -> Self {
        self.assistant().stop_reason = reason;
        self
    }

    /// Sets the `provider/model` of a reply; `anthropic/claude` otherwise.
    pub(crate) fn model(mut self, model: &str) -> Self {
        self.assistant().model = model.into();
        self
    }

    /// Sets what a reply used.
    pub(crate) fn usage(mut self, usage: Usage) -> Self {
        self.assistant().usage = Some(usage);
        self
    }

    /// Sets the tool name that a result carries; none otherwise.
    pub(crate) fn tool(mut self, name: &str) -> Self {
        self.tool_result().tool_name = Some(name.into());
        self
    }

    /// Flags a result as an error.
    pub(crate) fn failed(mut self) -> Self {
        self.tool_result().is_error = true;
        self
    }

    fn blocks(&mut self) -> &mut Vec<Block> {
        match &mut self.body {
            EntryBody::Message(Message::User(blocks)) => blocks,
            EntryBody::Message(Message::Assistant(assistant)) => &mut assistant.blocks,
            EntryBody::Message(Message::ToolResult(result)) => &mut result.blocks,
            EntryBody::Message(Message::Note(note)) => &mut note.blocks,
            other => panic!("{other:?} has no blocks"),
        }
    }

    fn assistant(&mut self) -> &mut Assistant {
        match &mut self.body {
            EntryBody::Message(Message::Assistant(assistant)) => assistant,
            other => panic!("{other:?} is no reply"),
        }
    }

    fn tool_result(&mut self) -> &mut ToolResult {
        match &mut self.body {
            EntryBody::Message(Message::ToolResult(result)) => result,
            other => panic!("{other:?} is no tool result"),
        }
    }
}

/// No text is no block, so that `a("")` is a reply with only its calls and `u("")` a prompt of only images.
fn text_blocks(text: &str) -> Vec<Block> {
    if text.is_empty() { vec![] } else { vec![Block::Text(text.into())] }
}

/// A prompt or a steering message.
pub(crate) fn u(text: &str) -> Item {
    Item::new(EntryBody::Message(Message::User(text_blocks(text))))
}

/// A reply of the model.
pub(crate) fn a(text: &str) -> Item {
    Item::new(EntryBody::Message(Message::Assistant(Assistant {
        blocks: text_blocks(text),
        stop_reason: StopReason::Stop,
        model: "anthropic/claude".into(),
        usage: None,
    })))
}

/// A tool result.
pub(crate) fn r(call: &str, text: &str) -> Item {
    Item::new(EntryBody::Message(Message::ToolResult(ToolResult {
        call_id: call.into(),
        tool_name: None,
        is_error: false,
        blocks: text_blocks(text),
    })))
}

/// A notice of an extension.
pub(crate) fn n(text: &str) -> Item {
    Item::new(EntryBody::Message(Message::Note(Note { kind: "notice".into(), blocks: text_blocks(text) })))
}

/// A message that edits cannot reach, such as the system prompt (0) or the user's own shell command.
pub(crate) fn fixed(length: u32) -> Item {
    Item::new(EntryBody::Message(Message::Fixed(length)))
}

/// The summary that a compaction left.
pub(crate) fn compaction(summary: &str) -> Item {
    Item::new(EntryBody::Compaction(summary.into()))
}

/// The summary of a branch that the session came back from.
pub(crate) fn branch_summary(summary: &str) -> Item {
    Item::new(EntryBody::BranchSummary(summary.into()))
}

/// An edit of that entry, whoever made it.
pub(crate) fn edit(target: &str) -> Item {
    Item::new(EntryBody::Edit(target.into()))
}

/// A record of the guard.
pub(crate) fn record(json: &str) -> Item {
    Item::new(EntryBody::GuardRecord(json.into()))
}

/// An entry that the model never sees.
pub(crate) fn other() -> Item {
    Item::new(EntryBody::Other)
}

/// What a pass at run end appends: an edit per target, then the record with their outcomes (`distilled` or
/// `removed`).
pub(crate) fn guard_pass(results: &[(&str, &str)]) -> Vec<Item> {
    let named: Vec<_> = results
        .iter()
        .map(|(target, outcome)| serde_json::json!({ "entryId": target, "outcome": outcome }))
        .collect();
    let written = serde_json::json!({ "v": 1, "phase": "run-end", "results": named });
    results.iter().map(|(target, _)| edit(target)).chain([record(&written.to_string())]).collect()
}

/// A PNG of that size.
pub(crate) fn png(width: u32, height: u32) -> Block {
    use base64::Engine as _;

    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0]);
    image("image/png", &base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// An image with that base64 text.
pub(crate) fn image(media_type: &str, base64: &str) -> Block {
    let base64_length = u32::try_from(base64.len()).unwrap();
    Block::Image(Image { media_type: media_type.into(), head: base64.into(), base64_length })
}

/// Thinking with a signature of that length.
pub(crate) fn thinking(text: &str, signature_length: u32) -> Block {
    Block::Thinking(Thinking { text: text.into(), signature_length })
}

/// Mirrors a session that was sent whole.
pub(crate) fn session(items: impl IntoIterator<Item = Item>) -> Mirror {
    let mut mirror = Mirror::default();
    mirror.update(whole(items)).unwrap();
    mirror
}

/// The delta that sends a session whole.
pub(crate) fn whole(items: impl IntoIterator<Item = Item>) -> Delta {
    let mut delta = Delta { keep_branch: 0, branch: vec![], keep_context: 0, context: vec![] };
    for (at, item) in items.into_iter().enumerate() {
        let id = item.id.unwrap_or_else(|| format!("e{at}"));
        if item.in_context {
            let first = matches!(item.body, EntryBody::Compaction(_));
            let place = if first { 0 } else { delta.context.len() };
            delta.context.insert(place, Visible { id: id.clone(), view: item.view });
        }
        delta.branch.push(Entry { id, time: item.time, body: item.body });
    }
    delta
}

mod tests {
    use super::*;

    #[test]
    fn entries_are_named_by_their_place_and_only_the_visible_kinds_are_in_the_context() {
        let mut items =
            vec![u("old").compacted(), u("hi").id("prompt"), a("").omitted(), compaction("so far")];
        items.extend(guard_pass(&[("e2", "removed")]));
        let mirror = session(items);
        let branch: Vec<_> = mirror.branch().iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(branch, ["e0", "prompt", "e2", "e3", "e4", "e5"]);
        let context: Vec<_> = mirror.projection().iter().map(|item| item.id()).collect();
        assert_eq!(context, ["e3", "prompt", "e2"]);
    }

    #[test]
    fn what_a_message_carries_besides_its_text_can_be_set() {
        let usage = Usage { input: 1, output: 2, cache_read: 3, cache_write: 4 };
        let mirror =
            session([a("hi").model("openai/gpt").usage(usage).at(5), r("c1", "x").tool("bash").failed()]);
        let items: Vec<_> = mirror.projection().iter().collect();
        let reply = items[0].shown().unwrap().assistant().unwrap();
        assert_eq!((items[0].entry.time, reply.model.as_str(), reply.usage), (5, "openai/gpt", Some(usage)));
        let result = items[1].shown().unwrap().tool_result().unwrap();
        assert_eq!((result.tool_name.as_deref(), result.is_error), (Some("bash"), true));
    }
}
