//! The original behind a note's id.

use std::borrow::Cow;
use std::ops::Range;

use super::page::Body;
use super::transcript::Transcript;
use crate::contract::types::{Block, EntryBody, Message};
use crate::outputs::{ends_with_note, first_line};
use crate::session::{Mirror, call_of, text_of};
use crate::text::lines;

/// What an id stands for.
#[derive(Debug)]
pub(super) enum Original<'m> {
    /// The recorded result of one tool call.
    Output(Output<'m>),
    /// A prompt with what followed it.
    Exchange(Transcript<'m>),
}

/// The recorded result of one tool call.
#[derive(Debug)]
pub(super) struct Output<'m> {
    text: Cow<'m, str>,
    first_line: usize,
    /// Whether it ends with the host's note that the file goes on.
    noted: bool,
    images: Vec<Place<'m>>,
}

/// An image: its entry and its block there.
pub(super) type Place<'m> = (&'m str, u32);

impl<'m> Original<'m> {
    /// Finds an entry of the current branch, before a compaction or after; none where it holds no original.
    pub(super) fn find(mirror: &'m Mirror, id: &str) -> Option<Original<'m>> {
        let position = mirror.position(id)?;
        let entry = mirror.entry(id)?;
        match &entry.body {
            EntryBody::Message(Message::ToolResult(result)) => {
                let text = text_of(&result.blocks);
                let call = call_of(mirror.branch().get(..position).unwrap_or_default(), result);
                let tool =
                    result.tool_name.as_deref().or(call.map(|call| call.name.as_str())).unwrap_or_default();
                Some(Original::Output(Output {
                    first_line: first_line(tool, call.map(|call| call.arguments.as_str())),
                    noted: ends_with_note(tool, &text),
                    images: images_of(&entry.id, &result.blocks).collect(),
                    text,
                }))
            }
            EntryBody::Message(Message::User(_)) => {
                Some(Original::Exchange(Transcript::of(mirror, position)))
            }
            _ => None,
        }
    }

    /// Returns where its images are.
    pub(super) fn images(&self) -> &[Place<'m>] {
        match self {
            Original::Output(output) => &output.images,
            Original::Exchange(transcript) => transcript.images(),
        }
    }

    /// Returns the number of its first line.
    pub(super) fn first_line(&self) -> usize {
        match self {
            Original::Output(output) => output.first_line,
            Original::Exchange(_) => 1,
        }
    }

    /// Returns its whole text; `attached` says which of its images come with it.
    pub(super) fn text(&self, attached: &Range<usize>) -> Cow<'_, str> {
        match self {
            Original::Output(output) => Cow::Borrowed(&*output.text),
            Original::Exchange(transcript) => Cow::Owned(transcript.text(attached)),
        }
    }

    /// Cuts its text into lines.
    pub(super) fn body<'t>(&self, text: &'t str) -> Body<'t> {
        let mut lines: Vec<&str> = lines(text).collect();
        let mut tail = "";
        // A note alone, without a line of the file, is shown like any other text.
        if matches!(self, Original::Output(Output { noted: true, .. })) && lines.len() > 2 {
            let note = lines.pop().map_or(0, str::len);
            let gap = lines.pop().map_or(0, str::len);
            let end = text.strip_suffix('\n').unwrap_or(text);
            tail = end.get(end.len() - note - gap - 1..).unwrap_or_default();
        }
        Body { lines, first_line: self.first_line(), tail }
    }
}

/// Returns where the images among the blocks of an entry are.
pub(super) fn images_of<'m>(id: &'m str, blocks: &'m [Block]) -> impl Iterator<Item = Place<'m>> {
    let images = (0u32..).zip(blocks).filter(|(_, block)| matches!(block, Block::Image(_)));
    images.map(move |(index, _)| (id, index))
}
