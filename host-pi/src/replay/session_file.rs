//! A Pi session file: JSON lines that form a tree, of which one branch is active.

use super::mapping::{self, Fields, Recorded};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, BufRead};

/// The format that this was written for. Newer ones are read as far as they look alike.
const VERSION: u64 = 3;
/// In this format and later ones entries name themselves and their parents.
const FIRST_WITH_IDS: u64 = 2;
/// Warnings about single lines; what is wrong with every line need not be said more often.
const MOST_WARNINGS: usize = 8;

/// The active branch of a session file.
#[derive(Debug)]
pub(super) struct SessionFile {
    pub(super) version: u64,
    /// Working directory of the session.
    pub(super) directory: String,
    /// Entries in the file, on all branches.
    pub(super) entries: usize,
    /// From the root to the last entry of the file.
    pub(super) branch: Vec<Recorded>,
    /// What could not be read, with line numbers.
    pub(super) warnings: Vec<String>,
}

/// Why a file is no session.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(
        "this is no Pi session file: one starts with a line like {{\"type\":\"session\",\"version\":3,\"id\":…}}; \
         Pi keeps them below ~/.pi/agent/sessions"
    )]
    NoHeader,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a session line by line, so that only what is kept of it is ever in memory.
pub(super) fn read(mut input: impl BufRead) -> Result<SessionFile, ReadError> {
    let mut reading = None;
    let mut warnings = Warnings::default();
    let mut line = Vec::new();
    let mut number = 0;
    while input.read_until(b'\n', &mut line)? > 0 {
        number += 1;
        line.truncate(line.trim_ascii_end().len());
        if !line.is_empty() {
            match (parse(&mut line), &mut reading) {
                (Err(reason), _) => {
                    warnings.add(number, &format!("skipped, since it holds no JSON object ({reason})"))
                }
                (Ok(fields), None) => reading = Some(Reading::start(&fields)?),
                (Ok(fields), Some(reading)) => reading.add(number, fields, &mut warnings),
            }
        }
        line.clear();
    }
    Ok(reading.ok_or(ReadError::NoHeader)?.finish(warnings))
}

/// A session of which the lines so far have been read.
struct Reading {
    version: u64,
    directory: String,
    slots: Vec<Slot>,
    places: HashMap<String, usize>,
    /// Lines that held JSON, the header included: the oldest format counts entries by them.
    parsed: usize,
}

struct Slot {
    parent: Option<String>,
    recorded: Option<Recorded>,
}

impl Reading {
    fn start(header: &Fields) -> Result<Self, ReadError> {
        let text = |key| header.get(key).and_then(Value::as_str);
        if text("type") != Some("session") || text("id").is_none() {
            return Err(ReadError::NoHeader);
        }
        Ok(Self {
            version: header.get("version").and_then(Value::as_u64).unwrap_or(1),
            directory: text("cwd").unwrap_or_default().to_owned(),
            slots: Vec::new(),
            places: HashMap::new(),
            parsed: 1,
        })
    }

    fn add(&mut self, number: usize, mut fields: Fields, warnings: &mut Warnings) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let parent = text("parentId").map(str::to_owned);
        let (id, parent) = if self.version < FIRST_WITH_IDS {
            (Some(numbered(self.parsed)), (self.parsed > 1).then(|| numbered(self.parsed - 1)))
        } else {
            (text("id").map(str::to_owned), parent)
        };
        self.parsed += 1;
        let Some(id) = id else { return warnings.add(number, "skipped, since the entry has no id") };
        if self.version < VERSION {
            migrate(&mut fields);
        }
        self.places.insert(id.clone(), self.slots.len());
        self.slots.push(Slot { parent, recorded: Some(mapping::recorded(id, fields)) });
    }

    fn finish(mut self, mut warnings: Warnings) -> SessionFile {
        if self.version > VERSION {
            warnings.general(format!(
                "the session has format {}, newer than {VERSION}: what is unknown in it is passed over",
                self.version
            ));
        }
        let entries = self.slots.len();
        let mut branch = Vec::new();
        let mut place = entries.checked_sub(1);
        // An entry is taken out of its slot, so that parents in a circle come to an end.
        while let Some(slot) = place.and_then(|place| self.slots.get_mut(place)) {
            let Some(recorded) = slot.recorded.take() else { break };
            place = slot.parent.as_ref().and_then(|parent| self.places.get(parent)).copied();
            if let (Some(parent), None) = (&slot.parent, place) {
                warnings.general(format!(
                    "entry {} continues {parent}, which the file lacks: the session starts there",
                    recorded.entry.id
                ));
            }
            branch.push(recorded);
        }
        branch.reverse();
        SessionFile {
            version: self.version,
            directory: self.directory,
            entries,
            branch,
            warnings: warnings.finish(),
        }
    }
}

/// Names the entries of the oldest format by their place in the file. Pi gives them random ids when it opens such a
/// file; these are the same every time.
fn numbered(place: usize) -> String {
    format!("{place:08x}")
}

/// Does what Pi does when it opens a file of an older format.
fn migrate(fields: &mut Fields) {
    if let Some(place) = fields.get("firstKeptEntryIndex").and_then(Value::as_u64).filter(|place| *place > 0)
    {
        fields.insert("firstKeptEntryId".into(), numbered(place as usize).into());
    }
    if let Some(role) = fields.get_mut("message").and_then(|message| message.get_mut("role"))
        && role == "hookMessage"
    {
        *role = "custom".into();
    }
}

fn parse(line: &mut [u8]) -> Result<Fields, String> {
    match serde_json::from_slice(line) {
        Ok(fields) => Ok(fields),
        Err(error) => {
            replace_lone_surrogates(line);
            serde_json::from_str(&String::from_utf8_lossy(line)).map_err(|_| reason(&error))
        }
    }
}

/// The parser's message without its place, which counts lines of its own.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason).to_owned()
}

/// Replaces escapes of half a character by those of U+FFFD, as `String.prototype.toWellFormed` does. Tools cut text
/// anywhere, so that Pi writes such escapes, which no UTF-8 text can hold.
fn replace_lone_surrogates(line: &mut [u8]) {
    let mut at = 0;
    while at < line.len() {
        if line.get(at) != Some(&b'\\') {
            at += 1;
            continue;
        }
        let Some(unit) = escaped(line, at) else {
            at += 2;
            continue;
        };
        let low = |unit| (0xDC00..=0xDFFF).contains(&unit);
        let is_pair = (0xD800..=0xDBFF).contains(&unit) && escaped(line, at + 6).is_some_and(low);
        if is_pair {
            at += 12;
            continue;
        }
        if (0xD800..=0xDFFF).contains(&unit)
            && let Some(digits) = line.get_mut(at + 2..at + 6)
        {
            digits.copy_from_slice(b"fffd");
        }
        at += 6;
    }
}

/// Returns the code unit that a `\uXXXX` at that place stands for.
fn escaped(line: &[u8], at: usize) -> Option<u16> {
    let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[derive(Default)]
struct Warnings {
    lines: Vec<String>,
    more: usize,
    general: Vec<String>,
}

impl Warnings {
    fn add(&mut self, number: usize, text: &str) {
        if self.lines.len() < MOST_WARNINGS {
            self.lines.push(format!("line {number}: {text}"));
        } else {
            self.more += 1;
        }
    }

    fn general(&mut self, text: String) {
        self.general.push(text);
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more lines that could not be read", self.more));
        }
        self.lines.append(&mut self.general);
        self.lines
    }
}
