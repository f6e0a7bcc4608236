//! Times, dates and numbers, which stand where a search result has its file.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern;

/// A number, a date, a time, an address, or the part of one up to its first colon.
static STAMP: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)^(?:
            [-+]?[0-9][0-9.,/+-]*                               # 12, 2026-10-06, 10.0.0.1
            | [0-9]{4}-?[0-9]{2}-?[0-9]{2}[Tt_][0-9]{1,2}       # 2026-10-06T12
            | [0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}                 # 06/Oct/2026
            | 0x[0-9A-Fa-f]+
        )$",
    )
});

/// A clock around the first colon of a line: `INFO-12:30:45`. A slash or a dot before it makes it a path.
static CLOCK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[^:]*(?:[^\w:/\\.]|T))?[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9](?:[^0-9:]|$)"));

/// A date at the start of a text.
static DATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[^0-9]|$)"));

/// Returns whether a line's first colon is that of a clock.
pub(super) fn starts_with_clock(line: &str) -> bool {
    CLOCK.is_match(line)
}

/// Returns whether a text starts with a date.
pub(super) fn is_date(text: &str) -> bool {
    DATE.is_match(text)
}

/// Returns whether a supposed file looks like a time, a date or a number, or ends in one after a space or a
/// bracket, as in `INFO 2026-10-06 12` or `[06/Oct/2026`.
pub(super) fn is_stamp(file: &str) -> bool {
    if ["/", "./", "../"].iter().any(|start| file.starts_with(start)) {
        return false;
    }
    let before = |c: char| c.is_whitespace() || "[(\"'=<|,".contains(c);
    file.rsplit(before).next().is_some_and(|last| STAMP.is_match(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b3_times_dates_and_numbers_are_no_files() {
        for file in [
            "12",
            "2026",
            "[12",
            "0x1f",
            "10.0.0.1",
            "2026/10/06 12",
            "2026-10-06T12",
            "Oct  6 12",
            "INFO 2026-10-06 12",
            "time=\"2026-10-06T12",
            "10.0.0.1 - - [06/Oct/2026",
            "web-1 | 12",
        ] {
            assert!(is_stamp(file), "{file}");
        }
    }

    #[test]
    fn b3_a_file_may_have_a_date_or_a_number_in_its_name() {
        for file in ["docs/2026", "2026-10-02-n.md", "./12", "/12", "src/v2", "a.7", "my file.txt"] {
            assert!(!is_stamp(file), "{file}");
        }
    }

    #[test]
    fn a_clock_is_told_from_a_line_number() {
        for line in ["12:30:45 up", "INFO-12:30:45.123", "T12:30:45Z", "<12:30:45>", "9:05:00"] {
            assert!(starts_with_clock(line), "{line}");
        }
        for line in ["src/12:30:45", "a.rs:30:45", "v12:30:45", "12:300:45", "a: 12:30:45"] {
            assert!(!starts_with_clock(line), "{line}");
        }
    }
}
