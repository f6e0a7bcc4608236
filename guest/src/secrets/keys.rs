//! Private keys in PEM form.
//!
//! They are found by their first or last line, so that a key counts also if the other one is cut off. Lines in
//! between count as long as they look like parts of a key: a text that only mentions the first line stays.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::scan::Secret;

/// Every first and last line has it.
pub(super) const CUE: &str = "PRIVATE KEY";

/// Fewest characters of Base64 that are taken for a full line of a key. Those of keys have 64 to 76.
const LINE: usize = 40;

/// Most characters of the line that ends a key.
const LAST: usize = 76;

/// Most lines without parts of a key in a row: the headers of an encrypted one and the blank line after them.
const PAUSE: usize = 4;

/// A line break, also one that is written out, as in JSON, or the next marker.
static BREAK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\r?\n|\\+r\\+n|\\+n|-----").ok());

/// What `cat -n`, `grep`, `diff`, quotations and code put before a line, and nothing else.
static PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\A(?:[\s\d:|│→>+#*/"'.-]|\S+[:-]\d+[:-]|\S+:)*\z"#).ok());

static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|Subject|X-[\w-]+): ").ok()
});

/// Finds the parts of the key whose first or last line names it at `at`. `from` is where the text was searched up to.
pub(super) fn find(text: &str, at: usize, from: usize) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let end = at + CUE.len();
    let head = start_of_marker(bytes, at);
    let dashes = text.get(end..).unwrap_or_default();
    let dashes = dashes.strip_prefix(" BLOCK").unwrap_or(dashes);
    let Some(after) = dashes.strip_prefix("-----").or_else(|| dashes.strip_prefix(" ----")) else {
        return vec![];
    };
    let parts = match text.get(head..at) {
        Some(marker) if marker.contains("BEGIN ") => following(text, text.len() - after.len()),
        Some(marker) if marker.contains("END ") => preceding(text, head, from),
        _ => return vec![],
    };
    let whole: String = parts.iter().filter_map(|part| text.get(part.clone())).collect();
    parts.into_iter().map(|range| Secret { range, whole: Some(whole.as_str().into()) }).collect()
}

/// Returns where `-----BEGIN RSA ` starts.
fn start_of_marker(bytes: &[u8], at: usize) -> usize {
    let mut start = at;
    while start > 0 && at - start < 40 && matches!(bytes[start - 1], b'A'..=b'Z' | b'0'..=b'9' | b' ') {
        start -= 1;
    }
    while start > 0 && at - start < 60 && bytes[start - 1] == b'-' {
        start -= 1;
    }
    start
}

/// Reads the lines after a first line.
fn following(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let Some(breaks) = BREAK.as_ref() else { return parts };
    let (mut at, mut pause) = (start, 0);
    while at < text.len() && pause <= PAUSE {
        let found = breaks.find_at(text, at);
        let (end, next) = found.map_or((text.len(), text.len()), |found| (found.start(), found.end()));
        match part(text, at..end, !parts.is_empty()) {
            Line::Part(part) => {
                pause = 0;
                parts.push(part);
            }
            Line::Last(part) => {
                parts.push(part);
                break;
            }
            Line::Pause => pause += 1,
            Line::Other => break,
        }
        if found.is_some_and(|found| found.as_str() == "-----") {
            break;
        }
        at = next;
    }
    parts
}

/// Reads the lines before a last line, back to where the text was searched already.
fn preceding(text: &str, end: usize, from: usize) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let Some(before) = text.get(from..end) else { return parts };
    // What stands before the marker on its own line is a prefix, or the end of a key on one line.
    let mut rest = before;
    let mut pause = 0;
    loop {
        let (start, cut) = last_break(rest);
        match part(text, from + start..from + rest.len(), true) {
            Line::Part(part) => {
                pause = 0;
                parts.push(part);
            }
            Line::Last(part) if parts.is_empty() => parts.push(part),
            Line::Pause if pause < PAUSE => pause += 1,
            // The marker's own line may hold any prefix.
            Line::Other if rest.len() == before.len() => {}
            _ => break,
        }
        let Some(cut) = cut else { break };
        rest = &before[..cut];
    }
    // A word before a marker that is only mentioned is no end of a key.
    if parts.iter().map(ExactSizeIterator::len).sum::<usize>() < LINE / 2 {
        return vec![];
    }
    parts.reverse();
    parts
}

/// Returns where the last line of a text starts, and where the line before it ends if there is one. A marker ends it,
/// too, and has nothing before it.
fn last_break(text: &str) -> (usize, Option<usize>) {
    let bytes = text.as_bytes();
    let mut at = text.len();
    while at > 0 {
        at -= 1;
        let before = bytes.get(..at).unwrap_or_default();
        if before.ends_with(b"----") && bytes[at] == b'-' {
            return (at + 1, None);
        }
        if bytes[at] == b'\n' {
            return (at + 1, Some(text[..at].trim_end_matches('\r').len()));
        }
        if bytes[at] == b'n' && before.ends_with(b"\\") {
            let end = text[..at].trim_end_matches('\\');
            return (at + 1, Some(end.strip_suffix("\\r").unwrap_or(end).trim_end_matches('\\').len()));
        }
    }
    (0, None)
}

enum Line {
    Part(Range<usize>),
    /// Shorter than the others.
    Last(Range<usize>),
    /// Blank or a header.
    Pause,
    Other,
}

/// Reads one line. Only after a full line a short one can be part of the key.
fn part(text: &str, line: Range<usize>, short: bool) -> Line {
    let Some(whole) = text.get(line.clone()) else { return Line::Other };
    // Code puts quotes, commas and signs behind the strings that it joins.
    let joins = |c: char| c.is_whitespace() || "\"'`,;\\".contains(c);
    let shown = whole.trim_end_matches(joins);
    let shown = shown.strip_suffix(" +").map_or(shown, |shown| shown.trim_end_matches(joins));
    let ends =
        shown.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | ' '));
    let mut start = ends.len();
    // Lines that were joined by spaces are parts as well; what `cat -n` and an indented list put before is none.
    while let Some(space) = shown[start..].find(' ').filter(|space| *space < LINE) {
        start += space + 1;
    }
    if shown[..start].trim().is_empty() && shown[start..].starts_with('+') {
        start += 1;
    }
    let run = &shown[start..];
    let range = line.start + start..line.start + shown.len();
    let prefix = || PREFIX.as_ref().is_some_and(|prefix| prefix.is_match(&shown[..start]));
    if run.len() >= LINE {
        Line::Part(range)
    } else if run.is_empty() || run.chars().all(|c| c.is_ascii_digit()) && run.len() < 6 {
        if prefix() { Line::Pause } else { header(whole) }
    } else if short && run.len() <= LAST && run.len() % 4 == 0 && prefix() {
        Line::Last(range)
    } else {
        header(whole)
    }
}

fn header(line: &str) -> Line {
    if HEADER.as_ref().is_some_and(|header| header.is_match(line)) { Line::Pause } else { Line::Other }
}
