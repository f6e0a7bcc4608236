//! A light copy of the session's shape: enough to judge an answer, without any text.

use crate::contract::sessions::Delta;
use crate::contract::types::{Block, Entry, EntryBody, Message, View, Visible};
use std::collections::HashMap;

/// The branch and the context as the last update left them.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    branch: Vec<(String, Facts)>,
    places: HashMap<String, usize>,
    context: Vec<Context>,
}

/// What an edit of an entry has to respect.
#[derive(Debug)]
pub(super) enum Facts {
    /// A prompt or an extension's note.
    Plain { blocks: usize },
    /// An answer of the model: per block the ID of its tool call, if it is one.
    Assistant { blocks: Vec<Option<String>> },
    /// The result of that call.
    ToolResult { call: String, blocks: usize },
    /// What no edit can reach.
    Fixed,
}

/// An entry as it stands in the context.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) id: String,
    pub(super) view: Shown,
}

/// How much of an entry is visible.
#[derive(Debug)]
pub(super) enum Shown {
    AsRecorded,
    Omitted,
    /// Replaced; the tool calls that are left.
    Replaced(Vec<String>),
}

impl Mirror {
    /// Returns whether the delta builds on what is here.
    pub(crate) fn fits(&self, delta: &Delta) -> bool {
        delta.keep_branch as usize <= self.branch.len() && delta.keep_context as usize <= self.context.len()
    }

    /// Takes a delta that fits.
    pub(crate) fn update(&mut self, delta: &Delta) {
        for (id, _) in self.branch.drain(delta.keep_branch as usize..) {
            self.places.remove(&id);
        }
        for entry in &delta.branch {
            self.places.insert(entry.id.clone(), self.branch.len());
            self.branch.push((entry.id.clone(), facts(entry)));
        }
        self.context.truncate(delta.keep_context as usize);
        self.context.extend(delta.context.iter().map(context));
    }

    pub(super) fn facts(&self, id: &str) -> Option<&Facts> {
        self.places.get(id).and_then(|place| self.branch.get(*place)).map(|(_, facts)| facts)
    }

    pub(super) fn context(&self) -> &[Context] {
        &self.context
    }
}

impl Facts {
    /// The number of blocks, if edits can reach the entry.
    pub(super) fn blocks(&self) -> Option<usize> {
        match self {
            Self::Plain { blocks } | Self::ToolResult { blocks, .. } => Some(*blocks),
            Self::Assistant { blocks } => Some(blocks.len()),
            Self::Fixed => None,
        }
    }

    /// The tool call in that block.
    pub(super) fn call(&self, block: u32) -> Option<&str> {
        match self {
            Self::Assistant { blocks } => blocks.get(block as usize)?.as_deref(),
            _ => None,
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        let blocks = match self {
            Self::Assistant { blocks } => blocks.as_slice(),
            _ => &[],
        };
        blocks.iter().flatten().map(String::as_str)
    }
}

impl Shown {
    pub(super) fn is_omitted(&self) -> bool {
        matches!(self, Self::Omitted)
    }

    /// Whether that recorded tool call is visible.
    pub(super) fn shows(&self, call: &str) -> bool {
        match self {
            Self::AsRecorded => true,
            Self::Omitted => false,
            Self::Replaced(calls) => calls.iter().any(|other| other == call),
        }
    }
}

fn facts(entry: &Entry) -> Facts {
    let EntryBody::Message(message) = &entry.body else { return Facts::Fixed };
    match message {
        Message::User(blocks) => Facts::Plain { blocks: blocks.len() },
        Message::Note(note) => Facts::Plain { blocks: note.blocks.len() },
        Message::Assistant(answer) => Facts::Assistant { blocks: answer.blocks.iter().map(call).collect() },
        Message::ToolResult(result) => {
            Facts::ToolResult { call: result.call_id.clone(), blocks: result.blocks.len() }
        }
        Message::Fixed(_) => Facts::Fixed,
    }
}

fn call(block: &Block) -> Option<String> {
    match block {
        Block::ToolCall(call) => Some(call.id.clone()),
        _ => None,
    }
}

fn context(Visible { id, view }: &Visible) -> Context {
    let view = match view {
        View::AsRecorded => Shown::AsRecorded,
        View::Omitted => Shown::Omitted,
        View::Replaced(blocks) => Shown::Replaced(blocks.iter().filter_map(call).collect()),
    };
    Context { id: id.clone(), view }
}
