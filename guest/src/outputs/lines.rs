//! The lines of one output, addressed by number.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern;
use crate::text;

/// Terminal colours and hyperlinks.
static ESCAPE: LazyLock<Regex> =
    LazyLock::new(|| pattern("\x1b(?:\\[[0-9;:?]*[A-Za-z]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\))"));

/// A text with the places where its lines begin. Numbers count from 0, ends are exclusive.
#[derive(Clone, Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    /// First byte of every line, and one more: where a line after the last would begin.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Splits a text as an editor does: a newline at the end opens no line of its own.
    pub(super) fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        for line in text::lines(text) {
            at += line.len() + 1;
            starts.push(at);
        }
        Lines { text, starts }
    }

    /// Returns the whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the number of lines, which is at least one.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns one line without its newline; an empty one past the end.
    pub(super) fn get(&self, at: usize) -> &'t str {
        self.slice(at..at.saturating_add(1))
    }

    /// Returns consecutive lines as they stand in the text, without the last one's newline.
    pub(super) fn slice(&self, lines: Range<usize>) -> &'t str {
        let (Some(&start), Some(&next)) = (self.starts.get(lines.start), self.starts.get(lines.end)) else {
            return "";
        };
        self.text.get(start..next.saturating_sub(1)).unwrap_or_default()
    }

    /// Returns all lines in order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &'t str> {
        (0..self.count()).map(|at| self.get(at))
    }
}

/// Strips what a terminal does not show, and a carriage return at the end.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains('\x1b') { ESCAPE.replace_all(line, "") } else { Cow::Borrowed(line) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l50_a_newline_at_the_end_is_no_line() {
        assert_eq!(Lines::new(&"x\n".repeat(10)).count(), 10);
        assert_eq!(Lines::new("").count(), 1);
        assert_eq!(Lines::new("\n\n").iter().collect::<Vec<_>>(), ["", ""]);
    }

    #[test]
    fn lines_keep_every_character_but_their_newline() {
        let lines = Lines::new("a\r\n\u{2028}b\rc\n\n😀");
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["a\r", "\u{2028}b\rc", "", "😀"]);
        assert_eq!(lines.slice(1..3), "\u{2028}b\rc\n");
        assert_eq!(lines.slice(0..4), "a\r\n\u{2028}b\rc\n\n😀");
        assert_eq!((lines.slice(2..2), lines.slice(3..9), lines.get(4)), ("", "", ""));
    }
}
