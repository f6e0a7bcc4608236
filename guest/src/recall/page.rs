//! One page of a text: from a line or a character on, as much as fits, and how to go on.

use std::borrow::Cow;

use super::pattern::{Pattern, PatternError, REACH};
use crate::contract::sessions::RecallRequest;
use crate::text::{plural, prefix, units};

/// Most lines of a page.
const LINES: usize = 2_000;

/// Most bytes of a page, line ends included and its notes left out.
const BYTES: usize = 51_200;

/// A text to be shown in pages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Body<'t> {
    /// Its lines, as an editor counts them.
    pub(super) lines: Vec<&'t str>,
    /// The number of the first of them.
    pub(super) first_line: usize,
    /// What follows the last line and has no number: the host's note that the file goes on.
    pub(super) tail: &'t str,
}

/// Which part of a text is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// First line or, with a pattern, first matching line.
    offset: usize,
    /// Most lines.
    limit: usize,
    /// First character of the first line, from 1.
    column: usize,
}

impl Window {
    /// Reads the request; 0 is as good as nothing.
    pub(super) fn of(request: &RecallRequest) -> Window {
        let number = |value: Option<u32>| value.unwrap_or(0) as usize;
        let limit = match number(request.limit) {
            0 => LINES,
            limit => limit.min(LINES),
        };
        Window { offset: number(request.offset), limit, column: number(request.column).max(1) }
    }

    /// Returns whether the page starts where a text with that first line starts.
    pub(super) fn opens(&self, first_line: usize) -> bool {
        self.offset <= first_line && self.column == 1
    }
}

/// The lines that a page is cut from.
struct Listing<'b> {
    body: &'b Body<'b>,
    /// Indices of the matching lines; none without a pattern.
    hits: Option<Vec<usize>>,
}

impl<'b> Listing<'b> {
    /// Returns the number of lines that can be shown.
    fn len(&self) -> usize {
        self.hits.as_ref().map_or(self.body.lines.len(), Vec::len)
    }

    /// Returns the offset of the first line.
    fn first(&self) -> usize {
        if self.hits.is_some() { 1 } else { self.body.first_line }
    }

    /// Returns the offset of the line at that place.
    fn offset(&self, place: usize) -> usize {
        self.first().saturating_add(place)
    }

    /// Returns the number and the text of the line at that place.
    fn line(&self, place: usize) -> (usize, &'b str) {
        let index = match &self.hits {
            Some(hits) => hits.get(place).copied().unwrap_or(usize::MAX),
            None => place,
        };
        let number = self.body.first_line.saturating_add(index);
        (number, self.body.lines.get(index).copied().unwrap_or_default())
    }

    /// Returns what stands before the text of a line.
    fn label(&self, number: usize) -> String {
        if self.hits.is_some() { format!("{number}: ") } else { String::new() }
    }

    /// Names lines by their offsets.
    fn span(&self, from: usize, to: usize) -> String {
        let lines = match (&self.hits, from == to) {
            (None, true) => "Line",
            (None, false) => "Lines",
            (Some(_), true) => "Matching line",
            (Some(_), false) => "Matching lines",
        };
        if from == to { format!("{lines} {from}") } else { format!("{lines} {from}–{to}") }
    }

    /// Names all lines by their offsets: their number, or first and last where they start further on.
    fn total(&self) -> String {
        let (first, last) = (self.first(), self.offset(self.len().saturating_sub(1)));
        if first == 1 { last.to_string() } else { format!("{first}–{last}") }
    }
}

/// Returns the page of `body` that the window shows, only lines that match where a pattern is given.
///
/// # Errors
///
/// `TooSlow` where the search takes too long.
pub(super) fn page(
    body: &Body<'_>,
    window: Window,
    pattern: Option<(&str, &Pattern)>,
) -> Result<String, PatternError> {
    if body.lines == [""] && body.tail.is_empty() {
        return Ok("[The original has no text.]".into());
    }
    let hits = pattern.map(|(_, pattern)| pattern.filter(body.lines.iter().copied())).transpose()?;
    let listing = Listing { body, hits };
    if let (Some((source, _)), 0) = (pattern, listing.len()) {
        return Ok(no_match(body, source));
    }
    let start = window.offset.saturating_sub(listing.first());
    if start >= listing.len() {
        let matching = if pattern.is_some() { "matching line" } else { "line" };
        let there = plural(listing.len(), matching);
        let numbers = match listing.first() {
            1 => String::new(),
            first => format!(", numbered {first}–{}", listing.offset(listing.len() - 1)),
        };
        return Ok(format!("Offset {} is past the end: the original has {there}{numbers}.", window.offset));
    }
    let (number, line) = listing.line(start);
    let skipped = skip(line, window.column - 1);
    if window.column > 1 && skipped == line.len() {
        let length = plural(units(line), "character");
        return Ok(format!("Column {} is past the end: line {number} has {length}.", window.column));
    }
    Ok(cut(&listing, window, start, skipped))
}

/// Writes the lines from `start` on, without the first `skipped` bytes.
fn cut(listing: &Listing<'_>, window: Window, start: usize, skipped: usize) -> String {
    let tail = listing.body.tail;
    let room = BYTES.saturating_sub(if tail.is_empty() { 0 } else { tail.len() + 1 });
    let mut page = String::new();
    let mut place = start;
    while place < listing.len().min(start.saturating_add(window.limit)) {
        let (number, line) = listing.line(place);
        let rest = if place == start { line.get(skipped..).unwrap_or_default() } else { line };
        let label = listing.label(number);
        let needed = label.len() + rest.len() + 1;
        if place == start && needed > room {
            return cut_line(listing, place, (number, line, skipped), room);
        }
        if page.len() + needed > room {
            break;
        }
        page += &label;
        page += rest;
        page.push('\n');
        place += 1;
    }
    page.pop();
    if place < listing.len() {
        let shown = listing.span(listing.offset(start), listing.offset(place - 1));
        let (total, next) = (listing.total(), listing.offset(place));
        page += &format!("\n\n[{shown} of {total}. Continue with offset {next}.]");
    } else if listing.hits.is_none() && !tail.is_empty() {
        page.push('\n');
        page += tail;
    }
    page
}

/// Writes as much of a line above the cap as fits together with the note about it.
fn cut_line(
    listing: &Listing<'_>,
    place: usize,
    (number, line, skipped): (usize, &str, usize),
    room: usize,
) -> String {
    let label = listing.label(number);
    let note = format!("[line {number} cut at 50KB]");
    let rest = line.get(skipped..).unwrap_or_default();
    let piece = whole(rest, room.saturating_sub(label.len() + note.len() + 1));
    let before = units(line.get(..skipped).unwrap_or_default());
    let (from, to) = (before + 1, before + units(piece));
    let offset = listing.offset(place);
    let (shown, total, length) = (listing.span(offset, offset), listing.total(), units(line));
    format!(
        "{label}{piece}\n{note}\n\n[{shown} of {total}, characters {from}–{to} of {length}. Continue with offset \
         {offset} and column {}.]",
        to + 1
    )
}

/// Returns the longest start of at most `room` bytes that ends between two characters as a reader sees them, or
/// between any two where a single one is longer than that.
fn whole(text: &str, room: usize) -> &str {
    let bytes = &text[..text.floor_char_boundary(room)];
    match prefix(text, units(bytes)) {
        "" => bytes,
        characters => characters,
    }
}

/// Returns how many bytes the first `count` characters (UTF-16 units) have; a half one is not skipped.
fn skip(line: &str, count: usize) -> usize {
    let mut used = 0;
    for (at, c) in line.char_indices() {
        used += c.len_utf16();
        if used > count {
            return at;
        }
    }
    line.len()
}

/// Says that nothing was found, and in how much.
fn no_match(body: &Body<'_>, source: &str) -> String {
    let lines = plural(body.lines.len(), "line");
    let long = body.lines.iter().any(|line| units(line) > REACH);
    let searched: Cow<'_, str> = if long {
        format!(", of which only the first {REACH} characters each are searched").into()
    } else {
        "".into()
    };
    format!("No line matches `{source}`: the original has {lines}{searched}.")
}
