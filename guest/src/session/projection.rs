//! One entry of the model's context: what was recorded, and what the model sees of it.

use super::message::{Kind, Shown};
use crate::contract::types::{Block, Entry, EntryBody, Message, View};

/// An entry of the context with its present view.
#[derive(Clone, Copy, Debug)]
pub struct Projected<'a> {
    /// The entry as the host recorded it.
    pub entry: &'a Entry,
    /// Its position on the branch.
    pub position: usize,
    /// How it stands in the context now.
    pub view: &'a View,
}

impl<'a> Projected<'a> {
    /// Returns the entry's id.
    pub fn id(&self) -> &'a str {
        &self.entry.id
    }

    /// Returns the message that the model sees; none for an omitted entry and for one that is no message.
    pub fn shown(&self) -> Option<Shown<'a>> {
        match self.view {
            View::AsRecorded => recorded(self.entry),
            View::Omitted => None,
            View::Replaced(blocks) => recorded(self.entry).map(|shown| Shown { blocks, ..shown }),
        }
    }

    /// Returns the message as recorded; none for an entry that is no message.
    pub fn recorded(&self) -> Option<Shown<'a>> {
        recorded(self.entry)
    }
}

/// Returns what an entry holds as recorded; none for an entry that the model never sees.
pub(crate) fn recorded(entry: &Entry) -> Option<Shown<'_>> {
    const NOTHING: &[Block] = &[];
    let (kind, blocks) = match &entry.body {
        EntryBody::Message(message) => match message {
            Message::User(blocks) => (Kind::User, blocks.as_slice()),
            Message::Assistant(assistant) => (Kind::Assistant(assistant), assistant.blocks.as_slice()),
            Message::ToolResult(result) => (Kind::ToolResult(result), result.blocks.as_slice()),
            Message::Note(note) => (Kind::Note(note), note.blocks.as_slice()),
            Message::Fixed(length) => (Kind::Fixed(*length), NOTHING),
        },
        EntryBody::Compaction(summary) | EntryBody::BranchSummary(summary) => {
            (Kind::Summary(summary), NOTHING)
        }
        EntryBody::Edit(_) | EntryBody::GuardRecord(_) | EntryBody::Other => return None,
    };
    Some(Shown { kind, blocks })
}
