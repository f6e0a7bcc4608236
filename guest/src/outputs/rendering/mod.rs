//! What takes the place of an output: kept lines as they were, and a note for everything else.

#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::Value;

use super::Candidate;
use super::chunk::Chunk;
use super::lines::Lines;
use super::numbering::Numbering;
use crate::text::{MARKER, plural, short, units};

/// Most files that a note names.
const FILES: usize = 5;

/// Writes the call that returns the original of an entry.
pub fn recall(entry: &str) -> String {
    format!("recall({{\"entryId\":{}}})", Value::from(entry))
}

/// Returns the parts of an output that stay, in order: kept chunks, and of the others the `extra` lines.
pub(super) fn pieces(chunks: &[Chunk], kept: &[bool], extra: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for (chunk, &keep) in chunks.iter().zip(kept) {
        if keep {
            pieces.push(chunk.lines.clone());
            continue;
        }
        let inside =
            extra.iter().map(|range| range.start.max(chunk.lines.start)..range.end.min(chunk.lines.end));
        pieces.extend(inside.filter(|range| !range.is_empty()));
    }
    pieces
}

/// An output with what is needed to write about it.
#[derive(Clone, Copy)]
pub(super) struct Original<'p> {
    pub(super) candidate: &'p Candidate<'p>,
    pub(super) lines: &'p Lines<'p>,
    pub(super) chunks: &'p [Chunk],
    /// Its lines may be called matches.
    pub(super) searched: bool,
}

impl<'p> Original<'p> {
    /// Writes the output with only some pieces of it left; with none, a single line.
    pub(super) fn reduced_to(self, pieces: &[Range<usize>]) -> String {
        let Original { candidate, lines, .. } = self;
        let (label, recall) = (candidate.label(), recall(candidate.entry));
        let total = plural(lines.count(), "line");
        let length = short(units(&candidate.text));
        if pieces.is_empty() {
            return format!(
                "{MARKER} Removed the output of {label}: {total} ({length} chars) judged not needed for the \
                 answer. Full output: {recall}."
            );
        }
        let kept: usize = pieces.iter().map(Range::len).sum();
        let chars = short(pieces.iter().map(|piece| units(lines.slice(piece.clone()))).sum());
        let mut text = format!(
            "{MARKER} Distilled the output of {label}: kept {kept} of {total} ({chars} of {length} chars); the \
             rest was judged not needed for the answer. Full output: {recall}."
        );
        let mut add = |line: &str| {
            text.push('\n');
            text.push_str(line);
        };
        let numbering = Numbering::of(candidate, lines);
        let mut at = 0;
        for piece in pieces {
            if let Some(note) = self.note(at..piece.start, &numbering) {
                add(&note);
            }
            add(lines.slice(piece.clone()));
            at = piece.end;
        }
        if let Some(note) = self.note(at..lines.count(), &numbering) {
            add(&note);
        }
        text
    }

    /// Writes the note for lines that go; none where there is nothing to tell.
    fn note(self, gone: Range<usize>, numbering: &Numbering) -> Option<String> {
        let gone = gone.start..gone.end.min(numbering.end);
        if gone.is_empty() {
            return None;
        }
        let omitted = format!("{} omitted", plural(gone.len(), "line"));
        let files = self.files(&gone);
        if self.searched && !files.is_empty() {
            return Some(format!("[… {omitted}: matches in {} …]", list(&files)));
        }
        // The numbers are those that `recall` takes, so that the model can ask for just these lines.
        let first = numbering.base.saturating_add(gone.start);
        let last = numbering.base.saturating_add(gone.end - 1);
        Some(match &numbering.path {
            Some(path) => format!("[… {omitted} (lines {first}–{last} of {path}) …]"),
            None => format!("[… {omitted} (output lines {first}–{last}) …]"),
        })
    }

    /// Returns the files of the chunks that lose those lines, each once, in order.
    fn files(self, gone: &Range<usize>) -> Vec<&'p str> {
        let touched = |chunk: &&Chunk| chunk.lines.start < gone.end && gone.start < chunk.lines.end;
        let mut files: Vec<&str> = Vec::new();
        for file in self.chunks.iter().filter(touched).flat_map(|chunk| &chunk.files) {
            if !files.contains(&file.as_str()) {
                files.push(file);
            }
        }
        files
    }
}

fn list(files: &[&str]) -> String {
    let named = files.iter().take(FILES).copied().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(FILES) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
