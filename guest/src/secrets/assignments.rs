//! Values that a name is given: in an environment, in code, in settings, options, headers and URLs.
//!
//! How sure it must be that a value is a secret depends on the form. An environment holds any text; code and settings
//! hold names and words as often.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::names::Name;
use super::runs::Runs;
use super::values;

/// Most bytes of a name, and of what stands between it and its value.
const NAME: usize = 100;

/// Most bytes of a value that are looked at to tell whether it is a secret.
const VALUE: usize = 256;

/// What stands between a name and its value: the end of a quoted or indexed name, a type, a sign, and an opening
/// quote. Its groups are in [`group`].
static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"\A(?P<close>\\*["'`])?(?:\x1b\[[0-9;]*[mK])*(?P<index>\])?[ \t]*"#,
        r#"(?:"#,
        // `name: X` and `value: …` beside or below it, `key="X" value="…"`
        r#"(?P<pair>,?(?-u:\s)*(?:[0-9]+[\t:|-](?-u:\s)*)?(?:[+-](?-u:\s)*)?\\*["']?(?i-u:value)\\*["']?\s?[:=]\s?)"#,
        // a field with its type, as in Python, TypeScript or Rust
        r#"|(?P<typed>:[ \t]*[&A-Za-z_][A-Za-z0-9_<>\[\], .|&'?]*?=[ \t]*(?:[rbuRBU]{1,2})?(?P<typedquote>\\*["'`]))"#,
        r#"|(?P<sign>:=|=>|<-|\?=|\+=|=|:|>|,|[ \t])"#,
        r#")(?:\x1b\[[0-9;]*[mK])*(?P<space>[ \t]*)(?:[rbuRBU@]{0,2}(?P<quote>\\*["'`]))?"#,
    ))
    .ok()
});

/// The groups of [`BETWEEN`]. Looking them up by name would take longer than the match itself.
mod group {
    pub(super) const CLOSE: usize = 1;
    pub(super) const INDEX: usize = 2;
    pub(super) const PAIR: usize = 3;
    pub(super) const TYPED: usize = 4;
    pub(super) const TYPED_QUOTE: usize = 5;
    pub(super) const SIGN: usize = 6;
    pub(super) const SPACE: usize = 7;
    pub(super) const QUOTE: usize = 8;
}

/// The form in which a name is given its value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// `NAME=value`, and what is as sure.
    Environment,
    /// A value in quotes, or the whole rest of a line.
    Code,
    /// `?token=value`
    Query,
    /// `--token=value`
    Option { joined: bool },
    /// `<password>value</password>`
    Element,
    /// `X-Api-Key: value`, `password=value` among other words.
    Loose,
}

/// What stands between a name and its value, as [`BETWEEN`] tells it.
#[derive(Default)]
struct Between<'t> {
    length: usize,
    close: bool,
    index: bool,
    pair: bool,
    typed: bool,
    sign: &'t str,
    spaced: bool,
    quote: Option<&'t str>,
}

impl<'t> Between<'t> {
    fn read(rest: &'t str) -> Option<Self> {
        // Nothing but the sign is what is found most often, and long lines may be full of it.
        if let [b'=', next, ..] = rest.as_bytes()
            && next.is_ascii_alphanumeric()
            && !b"rbuRBU".contains(next)
        {
            return Some(Between { length: 1, sign: "=", ..Between::default() });
        }
        let found = BETWEEN.as_ref()?.captures(rest)?;
        let text = |group: usize| found.get(group).map(|found| found.as_str());
        let has = |group: usize| found.get(group).is_some();
        Some(Between {
            length: found.get(0)?.end(),
            close: has(group::CLOSE),
            index: has(group::INDEX),
            pair: has(group::PAIR),
            typed: has(group::TYPED),
            sign: text(group::SIGN).unwrap_or_default(),
            spaced: text(group::SPACE).is_some_and(|space| !space.is_empty()),
            quote: text(group::TYPED_QUOTE).or(text(group::QUOTE)),
        })
    }
}

struct Place<'t> {
    text: &'t str,
    line: Range<usize>,
    /// The name, without leading signs.
    name: Range<usize>,
}

/// Returns where the value stands that a name is given, if the name that holds the cue names a secret and the value
/// looks like one. One that lies within `known`, a secret that was found before, is passed over.
pub(super) fn value(
    text: &str,
    cue: Range<usize>,
    line: Range<usize>,
    known: Range<usize>,
    runs: &mut Runs,
) -> Option<Range<usize>> {
    let name = name(text, cue)?;
    let read = Name::read(&text[name.clone()])?;
    let place = Place { text, line, name };
    let between = Between::read(&text[place.name.end..floor(text, place.name.end + 2 * NAME)])?;
    let start = place.name.end + between.length;
    let quote = between.quote;
    let form = if between.pair {
        place.pair(between.close).then_some(Form::Environment)?
    } else if between.typed {
        Form::Code
    } else {
        place.form(between.sign, quote.is_some(), between.close || between.index, between.spaced)?
    };
    // The value of a pair may stand on the next line.
    let end = if start <= place.line.end { place.line.end } else { text.len() };
    let end = floor(text, end.min(start + VALUE));
    let value = match quote {
        Some(quote) => quoted(text[start..end].split('\n').next().unwrap_or_default(), start, quote),
        None => {
            let run = start..runs.value.end(text, start, end, ends_value);
            if within(&run, &known) {
                return None;
            }
            place.unquoted(run, end, form, between.sign, runs)?
        }
    };
    let secret =
        !within(&value, &known) && place.plausible(&text[value.clone()], read, form, quote.is_some());
    secret.then(|| extended(text, value, quote.is_some(), runs))
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the whole name around a cue, without what an escape before it adds; none where it goes on for longer than
/// names are.
fn name(text: &str, cue: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let belongs = |at: usize| {
        bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    let mut end = cue.end;
    while belongs(end) {
        end += 1;
        if end - cue.end > NAME {
            return None;
        }
    }
    let mut start = cue.start;
    while start > 0 && cue.start - start < NAME && belongs(start - 1) {
        start -= 1;
    }
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    match before {
        // `\nPASSWORD=`
        Some(b'\\') if matches!(bytes.get(start), Some(b'n' | b'r' | b't')) && start < cue.start => {
            start += 1
        }
        // `\x1b[32mPASSWORD=`
        Some(b'[' | b';') => {
            let digits = text[start..cue.start].bytes().take_while(u8::is_ascii_digit).count();
            if text[start + digits..cue.start].starts_with(['m', 'K']) {
                start += digits + 1;
            }
        }
        _ => {}
    }
    while start < cue.start && bytes[start] == b'-' {
        start += 1;
    }
    Some(start..end)
}

/// Returns the place at or before `at` where a character starts.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns what a quote holds: to the same quote with no more backslashes, or where there is none, to the next space.
fn quoted(window: &str, start: usize, quote: &str) -> Range<usize> {
    let (sign, depth) = (quote.chars().next_back().unwrap_or('"'), quote.len() - 1);
    for (at, _) in window.match_indices(sign) {
        let slashes = window[..at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        // Within a string that is escaped itself, a quote of its own has more.
        if slashes <= depth {
            return start..start + at - slashes;
        }
    }
    let end = window.find(char::is_whitespace).unwrap_or(window.len());
    start..start + end
}

/// Extends a value that is longer than what was looked at.
fn extended(text: &str, value: Range<usize>, quoted: bool, runs: &mut Runs) -> Range<usize> {
    if value.len() < VALUE - 4 {
        return value;
    }
    let ends = |c: char, _: Option<u8>| {
        c.is_whitespace() || c == '"' || c == '\'' || !quoted && matches!(c, ',' | ';' | ')' | '}')
    };
    let run = if quoted { &mut runs.quoted } else { &mut runs.plain };
    value.start..run.end(text, value.end, text.len(), ends)
}

/// Returns whether a value among other words ends at that character.
fn ends_word(c: char, _: Option<u8>) -> bool {
    matches!(c, ';' | ',' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '[' | ']')
}

/// Returns whether a value without quotes ends at that character. An escape that is written out ends it as a space
/// would.
fn ends_value(c: char, next: Option<u8>) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '\x1b')
        || c == '\\' && matches!(next, Some(b'n' | b'r' | b't' | b'"' | b'\''))
}

impl Place<'_> {
    fn name(&self) -> &str {
        &self.text[self.name.clone()]
    }

    /// Returns what stands before the name in its line, at most that much.
    fn before(&self, most: usize) -> &str {
        let mut start = self.line.start.max(self.name.start.saturating_sub(most));
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        self.text.get(start..self.name.start).unwrap_or_default()
    }

    /// Returns whether the name is all in capitals, as in an environment.
    fn capitals(&self) -> bool {
        !self.name().contains(|c: char| c.is_ascii_lowercase())
    }

    /// Returns whether the name is itself a value: of `name:` or `key=`.
    fn pair(&self, closed: bool) -> bool {
        let before = self.before(NAME).trim_end();
        let before = before.trim_end_matches(['"', '\'']).trim_end_matches('\\').trim_end();
        let Some(before) = before.strip_suffix([':', '=']) else { return false };
        let before = before.trim_end().trim_end_matches(['"', '\'', '\\']).to_ascii_lowercase();
        (before.ends_with("name") || before.ends_with("key")) && (closed || self.capitals())
    }

    /// Tells the form by what stands around the name.
    fn form(&self, sign: &str, quote: bool, closed: bool, spaced: bool) -> Option<Form> {
        let before = self.before(NAME);
        let option = before.ends_with("--") || before.ends_with(" -");
        let next = self.text.as_bytes().get(self.name.end);
        match sign {
            "=" | ":=" | "=>" | "<-" | "?=" | "+=" | ":" => {}
            ">" => return (before.ends_with('<') && !spaced).then_some(Form::Element),
            // `define('DB_PASSWORD', 'value')`
            "," => return (closed && quote && self.capitals()).then_some(Form::Code),
            _ => return (option && !closed).then_some(Form::Option { joined: false }),
        }
        let tight = sign == "=" && next == Some(&b'=') && !spaced;
        let compared = self.text.get(self.name.end..).is_some_and(|rest| rest.trim_start().starts_with("=="));
        if compared {
            return None;
        }
        if option && tight {
            return Some(Form::Option { joined: true });
        }
        if tight && before.ends_with(['?', '&']) && !before.ends_with("&&") {
            return Some(Form::Query);
        }
        if tight && self.capitals() {
            return Some(Form::Environment);
        }
        if quote {
            return Some(Form::Code);
        }
        if closed && sign == ":" {
            // JSON without quotes around the value holds a number or a name of code.
            return None;
        }
        let header = sign == ":" && self.name().contains('-') && next == Some(&b':');
        if header || tight { Some(Form::Loose) } else { Some(Form::Code) }
    }

    /// Returns the value in a run without quotes; in settings, the rest of the line. `end` is how far it is looked.
    fn unquoted(
        &self,
        run: Range<usize>,
        end: usize,
        form: Form,
        sign: &str,
        runs: &mut Runs,
    ) -> Option<Range<usize>> {
        let start = run.start;
        let (value, rest) = (&self.text[run.clone()], &self.text[run.end..end]);
        let rest = rest.split('\n').next().unwrap_or_default();
        let value = match form {
            Form::Query => value.split(['&', '#', '<', '>', ')', ']', ',', ';']).next()?,
            Form::Element => value.split('<').next()?,
            Form::Loose if value.ends_with(',') && self.starts_line() => return None,
            Form::Environment if self.starts_line() => value.trim_end_matches([';', ',']),
            Form::Loose if rest.trim().is_empty() && self.starts_line() => value.trim_end_matches(';'),
            Form::Environment if values::code(value) => value,
            Form::Environment | Form::Loose => {
                &self.text[start..runs.word.end(self.text, start, run.end, ends_word)]
            }
            Form::Option { .. } => value.trim_end_matches([';', ',', ')', ']', '}', '.']),
            Form::Code => {
                let rest = rest.trim_start();
                // In code something ends the statement.
                let ends = rest.is_empty() || rest.starts_with(['#', ';', '\x1b', '\\', '"']);
                let statement = value.ends_with([';', ',', ')', '}', '{', '(', '[', ']']);
                if !ends || statement || sign == "=>" || self.declares() {
                    return None;
                }
                value
            }
        };
        Some(start..start + value.len())
    }

    /// Returns whether the line begins with the assignment.
    fn starts_line(&self) -> bool {
        let before = self.before(NAME);
        let before = before.trim_end();
        let before = ["export", "set", "ENV", "declare -x", "setenv"]
            .iter()
            .find_map(|word| before.strip_suffix(word))
            .unwrap_or(before);
        before.trim().is_empty()
            || before.ends_with([':', '+', '>', '|'])
            || before.trim().chars().all(|c| c.is_ascii_digit() || c == '-')
    }

    /// Returns whether the line declares a variable, which the value then names.
    fn declares(&self) -> bool {
        let before = self.before(NAME).trim_end();
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        before.ends_with(['(', ',', '{', '.', '?'])
            || matches!(
                word,
                "let"
                    | "const"
                    | "var"
                    | "val"
                    | "mut"
                    | "def"
                    | "fn"
                    | "return"
                    | "if"
                    | "pub"
                    | "static"
                    | "final"
            )
    }

    /// Returns whether a value in that form is a secret.
    fn plausible(&self, value: &str, name: Name, form: Form, quoted: bool) -> bool {
        // One without quotes ends at a space.
        let spaces = quoted && value.contains(char::is_whitespace);
        let plain = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let same = value.len() <= NAME && {
            let own = plain(value);
            !own.is_empty() && plain(self.name()).ends_with(&own)
        };
        if same || spaces && form != Form::Environment {
            return false;
        }
        // Each looks at the whole value, so none is asked before it is needed.
        let opens = |value: &str| name == Name::Password || !values::path(value) && !values::count(value);
        let any =
            || value.len() >= 4 && values::literal(value) && opens(value) && (quoted || !values::code(value));
        let random = || values::random(value);
        match (form, name) {
            (Form::Environment, Name::Key) => {
                random() || value.len() >= 20 && any() && !value.contains(['_', '-', '.', '/', ' '])
            }
            (Form::Environment, _) => any() && !value.starts_with("ssh-"),
            (Form::Query, Name::Password) => any(),
            (Form::Option { joined: true }, Name::Password | Name::Token) => any(),
            (Form::Option { .. } | Form::Query, Name::Token) => {
                random() || values::password(value) && opens(value)
            }
            (Form::Element, Name::Password) => any() && !value.to_ascii_lowercase().starts_with("pass"),
            (Form::Code, Name::Password) if !quoted => values::password(value) && !self.variable(value),
            (Form::Loose, Name::Password) => {
                values::password(value) && !(self.argument() && self.variable(value))
            }
            (_, Name::Password) => values::password(value),
            (Form::Code | Form::Loose | Form::Element, Name::Token) => random(),
            (Form::Query, Name::Key) => value.len() >= 20 && random(),
            (_, Name::Key) => false,
        }
    }

    /// Returns whether the assignment is an argument of a call.
    fn argument(&self) -> bool {
        let before = self.before(NAME).trim_end();
        before.ends_with(['(', ','])
    }

    /// Returns whether a value can be the name of a variable that holds the secret.
    fn variable(&self, value: &str) -> bool {
        let lower = value.to_ascii_lowercase();
        let name = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let says =
            ["pass", "pwd", "pw", "secret", "token", "key", "input", "value", "param", "arg", "str", "text"];
        name && value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && (self.argument() || says.iter().any(|word| lower.starts_with(word) || lower.ends_with(word)))
    }
}
