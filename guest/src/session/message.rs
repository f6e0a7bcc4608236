//! A message as the model sees it now.

use std::borrow::Cow;

use crate::contract::types::{Assistant, Block, Note, ToolResult};

/// What kind of message an entry shows. The recorded metadata never changes; an edit replaces blocks only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind<'a> {
    /// A prompt or a steering message.
    User,
    /// A reply of the model.
    Assistant(&'a Assistant),
    /// The result of one tool call.
    ToolResult(&'a ToolResult),
    /// A message that an extension put into the context.
    Note(&'a Note),
    /// The summary that a compaction or a branch left.
    Summary(&'a str),
    /// A message that edits cannot reach, with its length in characters.
    Fixed(u32),
}

/// A visible message: its kind, and the blocks that the model is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// What it holds now; empty for summaries and fixed messages.
    pub blocks: &'a [Block],
}

impl<'a> Shown<'a> {
    /// Returns the text of the message, see [`text_of`].
    pub fn text(&self) -> Cow<'a, str> {
        text_of(self.blocks)
    }

    /// Returns the reply, if the message is one.
    pub fn assistant(&self) -> Option<&'a Assistant> {
        match self.kind {
            Kind::Assistant(assistant) => Some(assistant),
            _ => None,
        }
    }

    /// Returns the tool result, if the message is one.
    pub fn tool_result(&self) -> Option<&'a ToolResult> {
        match self.kind {
            Kind::ToolResult(result) => Some(result),
            _ => None,
        }
    }

    /// Returns whether the message is a prompt or a steering message.
    pub fn is_user(&self) -> bool {
        matches!(self.kind, Kind::User)
    }
}

/// Returns all text blocks of a message, joined with newlines.
pub fn text_of(blocks: &[Block]) -> Cow<'_, str> {
    let mut texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    match texts.next() {
        None => Cow::Borrowed(first),
        Some(second) => {
            let mut joined = format!("{first}\n{second}");
            for text in texts {
                joined.push('\n');
                joined.push_str(text);
            }
            Cow::Owned(joined)
        }
    }
}

/// Returns whether every block is text.
pub fn text_only(blocks: &[Block]) -> bool {
    blocks.iter().all(|block| matches!(block, Block::Text(_)))
}
