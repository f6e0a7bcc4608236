//! The part of a file that a call shows.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// A part of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    /// Without `.` and `..`; absolute where that can be known.
    pub(super) path: String,
    /// The first line, from 1.
    offset: f64,
    /// The number of lines, as the call gives it; none for all that follow.
    limit: Option<Value>,
}

/// The lines that `sed -n` prints.
static PRINTED: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::unwrap_used, reason = "the pattern is fixed, and a test uses it")]
    Regex::new(r"^([0-9]+)(?:,(?:([0-9]+)|\+([0-9]+)|(\$)))?p$").unwrap()
});

impl Reading {
    /// Reads the arguments of a `read`: an offset that is missing, 0 or no number is the first line.
    pub(super) fn new(path: String, offset: Option<&Value>, limit: Option<&Value>) -> Self {
        let offset = offset.and_then(Value::as_f64).filter(|offset| *offset != 0.0).unwrap_or(1.0);
        Reading { path, offset, limit: limit.cloned() }
    }
}

/// Reads a command that prints a single file or a range of it (`cat`, `head`, `sed -n`), also behind a `cd`; none
/// for anything else, and for whatever a shell would do more with.
pub(super) fn of_command(command: &str, directory: &str) -> Option<Reading> {
    let command = command.trim().trim_end_matches("2>&1").trim_end();
    if command.contains('\n') {
        return None;
    }
    if let Some((first, rest)) = command.split_once("&&") {
        let words = shlex::split(first)?;
        let [cd, to] = words.as_slice() else { return None };
        return if cd == "cd" && is_plain(to) { of_command(rest, &absolute(to, directory)) } else { None };
    }
    let words = shlex::split(command)?;
    let (program, words) = words.split_first()?;
    let (file, offset, limit) = match (program.as_str(), words) {
        ("cat", _) => (only_file(words.iter())?, 1, None),
        ("head", _) => {
            let (lines, file) = head(words)?;
            (file, 1, Some(lines))
        }
        ("sed", [n, script, file]) if n == "-n" => {
            let (offset, limit) = printed(script)?;
            (file.as_str(), offset, limit)
        }
        _ => return None,
    };
    let plain = is_plain(file).then(|| absolute(file, directory))?;
    Some(Reading::new(plain, Some(&offset.into()), limit.map(Value::from).as_ref()))
}

/// Returns the only word that is no option.
fn only_file<'w>(words: impl Iterator<Item = &'w String>) -> Option<&'w str> {
    let mut files = words.filter(|word| !word.starts_with('-'));
    files.next().filter(|_| files.next().is_none()).map(String::as_str)
}

/// Reads the arguments of `head`: the number of lines, and the file.
fn head(words: &[String]) -> Option<(u64, &str)> {
    let (lines, files) = match words {
        [n, lines, rest @ ..] if n == "-n" => (lines.parse().ok()?, rest),
        [option, rest @ ..] if option.starts_with('-') => {
            let number = ["--lines=", "-n", "-"].iter().find_map(|start| option.strip_prefix(start))?;
            (number.parse().ok()?, rest)
        }
        _ => (10, words),
    };
    let [file] = files else { return None };
    Some((lines, file))
}

/// Reads a script of `sed -n`: the first line, and the number of lines.
fn printed(script: &str) -> Option<(u64, Option<u64>)> {
    let found = PRINTED.captures(script)?;
    let number = |group| found.get(group).and_then(|text| text.as_str().parse::<u64>().ok());
    let first = number(1)?;
    if found.get(4).is_some() {
        return Some((first, None));
    }
    let more = match (number(2), number(3)) {
        (Some(last), _) => last.checked_sub(first)?,
        (_, Some(more)) => more,
        _ => 0,
    };
    Some((first, Some(more.checked_add(1)?)))
}

/// Returns whether a shell takes the word for just what it says.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && !word.contains(|c| "|&;<>()`*?[]{}#!$\"'\\".contains(c))
}

/// Resolves a path against a directory, without a look at the disk: `..` drops the name before it.
pub(super) fn absolute(path: &str, directory: &str) -> String {
    let rooted = path.starts_with(['/', '~']) || has_drive(path) || directory.is_empty();
    let mut whole = if rooted { path.to_owned() } else { format!("{directory}/{path}") };
    if has_drive(&whole) {
        whole = whole.replace('\\', "/");
    }
    let mut names: Vec<&str> = vec![];
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let root = if whole.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}
