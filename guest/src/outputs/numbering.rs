//! The numbers of an output's lines, as notes write them and `recall` takes them.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::lines::Lines;
use super::{Candidate, pattern};
use crate::label;
use crate::text;

/// The tool whose output is a part of a file, numbered as in that file.
const READ: &str = "read";

/// What Pi's `read` appends, after a blank line, when a file goes on.
static CONTINUATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\[(?:Showing lines [0-9]+-[0-9]+ of [0-9]+.*|[0-9]+ more lines in file)\. Use offset=[0-9]+ to continue\.\]$",
    )
});

/// Returns the number of an output's first line: where a call of `read` started, else 1.
///
/// `arguments` is a JSON object as text; an offset counts only as a number of at least 1.
pub fn first_line(tool: &str, arguments: Option<&str>) -> usize {
    if tool == READ { offset(&label::object(arguments)) } else { 1 }
}

/// Returns whether the last two lines of an output are a blank one and Pi's note that the file goes on, so that
/// they are no lines of the file.
pub fn ends_with_note(tool: &str, output: &str) -> bool {
    let mut lines = text::lines(output).rev();
    tool == READ
        && lines.next().is_some_and(|line| CONTINUATION.is_match(line))
        && lines.next().is_some_and(text::blank)
}

fn offset(arguments: &Map<String, Value>) -> usize {
    let offset = arguments.get("offset").and_then(Value::as_f64).filter(|offset| *offset >= 1.0);
    // The cast cuts to the whole part, and to what a number can hold.
    offset.map_or(1, |offset| offset as usize)
}

/// How notes number the lines of an output.
pub(super) struct Numbering {
    /// Number of the first line.
    pub(super) base: usize,
    /// Lines that have a number; what comes after is the host's own note.
    pub(super) end: usize,
    /// The file that the numbers belong to.
    pub(super) path: Option<String>,
}

impl Numbering {
    /// Counts file lines where the output is part of a file, else output lines.
    pub(super) fn of(candidate: &Candidate<'_>, lines: &Lines<'_>) -> Self {
        let count = lines.count();
        if candidate.tool != READ {
            return Numbering { base: 1, end: count, path: None };
        }
        let arguments = candidate.object();
        let path = arguments.get("path").and_then(Value::as_str).map(label::one_line);
        let continues = ends_with_note(candidate.tool, lines.text());
        Numbering { base: offset(&arguments), end: if continues { count - 2 } else { count }, path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t9_only_a_numeric_offset_counts() {
        let first = |arguments| first_line("read", Some(arguments));
        assert_eq!(first(r#"{"offset":201}"#), 201);
        assert_eq!(first(r#"{"offset":2.9}"#), 2);
        assert_eq!(first(r#"{"offset":"201"}"#), 1);
        assert_eq!(first(r#"{"offset":0}"#), 1);
        assert_eq!(first("{}"), 1);
        assert_eq!(first_line("bash", Some(r#"{"offset":201}"#)), 1);
    }

    #[test]
    fn an_absurd_offset_is_cut_to_what_a_number_holds() {
        assert_eq!(first_line("read", Some(r#"{"offset":1e300}"#)), usize::MAX);
    }
}
