//! The lines of a failing result that say what failed. They stay, whatever the classifier says.
//!
//! Which lines name a failure is a heuristic over what test runners, compilers and shells write. It prefers
//! lines that say so in words, and leaves out those that only count to zero, report a pass or name a file.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lines::{Lines, plain};
use super::pattern;
use crate::text::{blank, units};

/// Non-blank lines at the end that stay.
const LAST: usize = 5;

/// Lines that name a failure and stay, the last such ones.
const NAMED: usize = 20;

/// Length of the shortest note about lines that go: `[… 1 line omitted (output lines 1–1) …]`.
const NOTE: usize = 39;

/// Longest part of a line that is looked at, in bytes.
const LOOK: usize = 2_000;

/// Words that name a failure, as words: `error_handler.rs` and `throw new Error(` are code, not failures.
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        (?: ^ | [^\w./\\$:-] )
        (?: (?i: errors? | fatal | panic(?:ked|s)? | assert(?:ion|ions|ed|_eq|_ne)?
              | undefined\ reference | segmentation\ fault | core\ dumped )
          | FAIL(?:ED|URE|URES)? | [\w.$]*[a-z](?:Error|Exception)
          | SIG(?:ABRT|BUS|FPE|ILL|KILL|SEGV|TERM) )
        (?: $ | [^\w./\\(-] | [.!-](?:\s|$) )
      | (?i: \b exit(?:ed|s)? (?: \s+(?:with|status|code|signal|value) )* \s* [:=(]? \s* -?[0-9]+ \b )
      | (?i: \b (?:exit|return) \ (?:status|code) \b )
      | ^ \s* (?: not\ ok \b | [✖✗✘×✕] \s )                    # a test's name
      | ^ E \s{2,} \S                                          # pytest
      | _test\.go:[0-9]+:                                      # go test
      | ^ \s* (?i: left | right | expected | received | actual | got | want ) \s* :",
    )
});

/// Words that look like a failure and are none: a count of zero, an empty field, a good exit.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?ix)
        \b (?:0|no|zero|without|any) \s+ (?:[a-z]+\s+)? (?:errors? | failures? | exceptions? | panics? | fatal) \b
      | \b (?:errors | failures | error["'] | error\s*=) ["']? \s* [:=]? \s* 0 \b
      | \b errors? ["']? \s* [:=] \s* (?: none\b | null\b | false\b | nil\b | \[\] | "" | '' )
      | \b exit(?:ed|s)? (?: \s+(?:with|status|code|value) )* \s* [:=(]? \s* 0 \b"#,
    )
});

/// A line that reports a pass.
static PASS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:[✓✔√]|ok\b|PASS\b|--- PASS|test .* \.\.\. ok$)|\bPASSED\b"));

/// The word that `npm` puts before every line it has to say about a failed script.
static NPM: LazyLock<Regex> = LazyLock::new(|| pattern(r"^npm (?:error|ERR!)"));

/// The head of a Rust panic, whose message stands on the next line.
static PANICKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"panicked at .*:[0-9]+:[0-9]+:$"));

/// Where a Rust error is, on the line after it.
static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*--> \S"));

/// Returns the lines that stay as ranges in order, with what is between two of them where a note about it
/// would be longer.
///
/// `passed_over` tells of a line that it is a search hit and so names nothing about this call.
pub(super) fn lines(lines: &Lines<'_>, passed_over: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let backwards = || (0..lines.count()).rev().filter(|&at| !blank(lines.get(at)));
    let last = backwards().take(LAST);
    let named = backwards().filter(|&at| !passed_over(at) && names(lines, at)).take(NAMED);
    let mut kept: Vec<usize> = last.chain(named).collect();
    kept.sort_unstable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for at in kept {
        match ranges.last_mut() {
            Some(range) if units(lines.slice(range.end..at.max(range.end))) < NOTE => {
                range.end = range.end.max(at + 1);
            }
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

/// Returns whether that line names a failure, or goes with the line before it that does.
fn names(lines: &Lines<'_>, at: usize) -> bool {
    let line = look(lines.get(at));
    let before = look(at.checked_sub(1).map_or("", |before| lines.get(before)));
    names_failure(&line) || PANICKED.is_match(&before) || PLACE.is_match(&line) && names_failure(&before)
}

/// Returns whether a line names an error, a panic, an assertion or an exit status.
fn names_failure(line: &str) -> bool {
    if PASS.is_match(line) {
        return false;
    }
    let line = NPM.replace(line, "");
    NAMES.is_match(&HARMLESS.replace_all(&line, " "))
}

/// Returns the start of a line as a terminal shows it, which is enough to see what it is about.
fn look(line: &str) -> Cow<'_, str> {
    plain(&line[..line.floor_char_boundary(LOOK)])
}
