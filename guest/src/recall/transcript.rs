//! An omitted exchange as a text to read.

use std::collections::HashSet;
use std::ops::Range;

use super::original::{Place, images_of};
use crate::contract::types::{Block, Entry, EntryBody, Message};
use crate::outputs::recall as call;
use crate::session::{ItemKind, ItemOutcome, Mirror, prompts_on_branch, text_of};
use crate::text::{blank, plural};

/// The recorded entries of an exchange, whatever edits made of them.
#[derive(Debug)]
pub(super) struct Transcript<'m> {
    entries: Vec<&'m Entry>,
    images: Vec<Place<'m>>,
}

impl<'m> Transcript<'m> {
    /// Collects the exchange of the prompt at that position: what the newest record that omitted it names, else
    /// everything up to the next prompt.
    pub(super) fn of(mirror: &'m Mirror, position: usize) -> Self {
        let branch = mirror.branch();
        let following = branch.get(position..).unwrap_or_default();
        let entries: Vec<&Entry> = match omitted(mirror, position) {
            Some(omitted) => {
                let omitted: HashSet<&str> = omitted.iter().map(String::as_str).collect();
                let rest = following.iter().skip(1).filter(|entry| omitted.contains(entry.id.as_str()));
                following.iter().take(1).chain(rest).collect()
            }
            None => {
                let end = prompts_on_branch(branch).into_iter().find(|&prompt| prompt > position);
                following.iter().take(end.map_or(usize::MAX, |end| end - position)).collect()
            }
        };
        let images = entries
            .iter()
            .filter_map(|entry| match &entry.body {
                EntryBody::Message(Message::User(blocks)) => Some(images_of(&entry.id, blocks)),
                _ => None,
            })
            .flatten()
            .collect();
        Transcript { entries, images }
    }

    /// Returns where the images of its user messages are; those of tool results are recalled with the result.
    pub(super) fn images(&self) -> &[Place<'m>] {
        &self.images
    }

    /// Writes it; `attached` says which of its images come with it.
    pub(super) fn text(&self, attached: &Range<usize>) -> String {
        let mut lines = vec![];
        for entry in &self.entries {
            let EntryBody::Message(message) = &entry.body else { continue };
            match message {
                Message::User(blocks) => {
                    lines.push("## user".into());
                    lines.push(text_of(blocks).into_owned());
                    lines.extend(self.images_line(&entry.id, attached));
                }
                Message::Assistant(reply) => {
                    lines.push("## assistant".into());
                    let text = text_of(&reply.blocks);
                    if !blank(&text) {
                        lines.push(text.into_owned());
                    }
                    lines.extend(reply.blocks.iter().filter_map(call_line));
                }
                Message::ToolResult(result) => {
                    lines.push(format!("## tool result ({})", result.tool_name.as_deref().unwrap_or("tool")));
                    lines.push(text_of(&result.blocks).into_owned());
                    let images = images_of(&entry.id, &result.blocks).count();
                    if images > 0 {
                        lines.push(format!("[{}: {}]", plural(images, "image"), call(&entry.id)));
                    }
                }
                Message::Note(note) => {
                    let kind = if note.kind.is_empty() { "custom" } else { &note.kind };
                    lines.push(format!("## custom message ({kind})"));
                    lines.push(text_of(&note.blocks).into_owned());
                }
                Message::Fixed(_) => {}
            }
        }
        lines.join("\n")
    }

    /// Says how many images a user message has, and how many come with the text.
    fn images_line(&self, id: &str, attached: &Range<usize>) -> Option<String> {
        let own = || self.images.iter().enumerate().filter(|(_, (entry, _))| *entry == id);
        let total = own().count();
        let here = own().filter(|(index, _)| attached.contains(index)).count();
        (total > 0).then(|| format!("[{}, {here} attached]", plural(total, "image")))
    }
}

/// Returns what the newest record that omitted the exchange of that prompt took with it.
fn omitted(mirror: &Mirror, position: usize) -> Option<&[String]> {
    let prompt = &mirror.branch().get(position)?.id;
    mirror.records().iter().rev().find_map(|(_, record)| {
        let result = record.results.iter().find(|result| {
            result.kind == ItemKind::Exchange
                && result.outcome == ItemOutcome::Removed
                && result.entry_id == *prompt
        })?;
        Some(result.omitted.as_slice())
    })
}

fn call_line(block: &Block) -> Option<String> {
    let Block::ToolCall(call) = block else { return None };
    let arguments = if blank(&call.arguments) { "{}" } else { &call.arguments };
    Some(format!("[tool call] {} {arguments}", call.name))
}
