//! Recognises search output, and which file each of its lines is about.
//!
//! Everything here is a heuristic over the look of lines. A wrong guess costs a worse cut and a worse note,
//! never a line.

mod call;
mod stamp;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

pub(super) use self::call::SearchCall;
use super::lines::{Lines, plain};
use super::pattern;
use crate::text::blank;

/// Longest name in bytes that counts as a file. It also bounds the work that a line made of dashes causes.
const NAME: usize = 1_024;

/// Fewest lines that make a search result.
const LEAST: usize = 3;

/// A line of a match with its number: `src/a.rs:12:text`, `C:\src\a.rs:12:text`.
static MATCH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^((?:[A-Za-z]:[\\/])?[^\s:][^:]*):[0-9]+:"));

/// A line near a match with its number: `src/a.rs-12-text`.
static NEAR: LazyLock<Regex> = LazyLock::new(|| pattern(r"^((?:[A-Za-z]:[\\/])?[^\s:][^:]*?)-([0-9]+)-"));

/// A line of a match without a number: `src/a.rs:text`.
static BARE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^((?:[A-Za-z]:[\\/])?[^\s:]+):"));

/// A line below a heading with its number: `12:text`, `12-text`.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[0-9]+[:-]"));

/// Looks like a path: it has a directory or an extension.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[^\[<>|*?]*(?:[/\\]|\.[0-9]*[A-Za-z][A-Za-z0-9_+]{0,9}$)"));

/// Returns the file of every line, none for a line without one; nothing where the text is no search output.
///
/// With line numbers any text is recognised by its lines alone. The other forms look like much else, so they
/// count only below a `call` that searches.
pub(super) fn files(lines: &Lines<'_>, call: Option<SearchCall>) -> Option<Vec<Option<String>>> {
    let lines: Vec<Cow<'_, str>> = lines.iter().map(plain).collect();
    if let Some(files) = numbered(&lines) {
        return Some(files);
    }
    let call = call?;
    under_headings(&lines, call).or_else(|| bare(&lines))
}

/// Returns the files if enough of the lines that count have one.
fn enough(lines: &[Cow<'_, str>], files: Vec<Option<String>>) -> Option<Vec<Option<String>>> {
    let counts = |line: &str| !blank(line) && line != "--";
    let total = lines.iter().filter(|line| counts(line)).count();
    let hits = lines.iter().zip(&files).filter(|(line, file)| counts(line) && file.is_some()).count();
    (total >= LEAST && hits * 5 >= total * 3).then_some(files)
}

/// `file:12:match` with `file-11-context` around it.
fn numbered(lines: &[Cow<'_, str>]) -> Option<Vec<Option<String>>> {
    let matches: Vec<Option<&str>> = lines.iter().map(|line| numbered_match(line)).collect();
    let known = Known::new(matches.iter().flatten().copied());
    let files = lines.iter().zip(&matches).map(|(line, file)| {
        file.or_else(|| known.before_number(line)).or_else(|| numbered_context(line)).map(str::to_owned)
    });
    enough(lines, files.collect())
}

fn numbered_match(line: &str) -> Option<&str> {
    let file = MATCH.captures(line)?.get(1)?.as_str();
    (file.len() <= NAME && !stamp::starts_with_clock(line) && !stamp::is_stamp(file)).then_some(file)
}

fn numbered_context(line: &str) -> Option<&str> {
    let captures = NEAR.captures(line)?;
    let (file, number) = (captures.get(1)?.as_str(), captures.get(2)?);
    let date = stamp::is_date(&line[number.start()..]);
    (file.len() <= NAME && !date && !stamp::is_stamp(file)).then_some(file)
}

/// `file`, then its matches as `12:match`, or as bare text where the call asked for headings.
fn under_headings(lines: &[Cow<'_, str>], call: SearchCall) -> Option<Vec<Option<String>>> {
    // `rg` and `ag` put a blank line between files, `git grep` does not.
    let broken = lines.iter().any(|line| blank(line));
    let opens = |at: usize| !broken || at == 0 || lines.get(at - 1).is_some_and(|line| blank(line));
    let is_heading = |at: usize, line: &str| {
        let next = lines.get(at + 1).map_or("", |next| next.as_ref());
        let numbers_follow = NUMBER.is_match(next);
        let text_follows = call.headings && opens(at) && !blank(next) && !line.contains(char::is_whitespace);
        line.len() <= NAME
            && PATH.is_match(line)
            && !NUMBER.is_match(line)
            && !stamp::is_stamp(line)
            && (numbers_follow || text_follows)
    };
    let mut file = None;
    let mut files = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        if is_heading(at, line) {
            file = Some(line.to_string());
            files.push(file.clone());
        } else if NUMBER.is_match(line) || call.headings && !blank(line) && *line != "--" {
            files.push(file.clone());
        } else {
            files.push(None);
        }
    }
    enough(lines, files)
}

/// `file:match` with `file-context` around it.
fn bare(lines: &[Cow<'_, str>]) -> Option<Vec<Option<String>>> {
    let matches: Vec<Option<&str>> = lines.iter().map(|line| bare_match(line)).collect();
    let known = Known::new(matches.iter().flatten().copied());
    let files = lines
        .iter()
        .zip(&matches)
        .map(|(line, file)| file.or_else(|| known.before_dash(line)).map(str::to_owned));
    enough(lines, files.collect())
}

fn bare_match(line: &str) -> Option<&str> {
    let file = BARE.captures(line)?.get(1)?.as_str();
    let rest = &line[file.len() + 1..];
    // `server.port: 80` is a setting. Code after a search's colon is indented by nothing or by more.
    let setting = !file.contains(['/', '\\']) && rest.starts_with(' ') && !rest[1..].starts_with([' ', '\t']);
    let is_file = PATH.is_match(file) && !rest.starts_with("//") && !setting;
    (file.len() <= NAME && is_file && !stamp::starts_with_clock(line) && !stamp::is_stamp(file))
        .then_some(file)
}

/// The files that have a match, which tell where a file's name ends in a line of context.
struct Known<'l> {
    files: HashSet<&'l str>,
    longest: usize,
}

impl<'l> Known<'l> {
    fn new(files: impl Iterator<Item = &'l str>) -> Self {
        let files: HashSet<&str> = files.collect();
        Known { longest: files.iter().map(|file| file.len()).max().unwrap_or(0), files }
    }

    /// Returns the longest known file that the line starts with, a dash, digits and a dash after it.
    fn before_number<'t>(&self, line: &'t str) -> Option<&'t str> {
        self.before(line, |rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && rest.as_bytes().get(digits) == Some(&b'-')
        })
    }

    /// Returns the longest known file that the line starts with, a dash after it.
    fn before_dash<'t>(&self, line: &'t str) -> Option<&'t str> {
        self.before(line, |_| true)
    }

    fn before<'t>(&self, line: &'t str, fits: impl Fn(&str) -> bool) -> Option<&'t str> {
        let dashes = line.match_indices('-').take_while(|(at, _)| *at <= self.longest);
        let ends: Vec<usize> = dashes.map(|(at, _)| at).collect();
        let file = |at: &usize| fits(&line[at + 1..]) && self.files.contains(&line[..*at]);
        ends.iter().rev().find(|at| file(at)).map(|&at| &line[..at])
    }
}
