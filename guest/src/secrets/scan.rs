//! The search of a text: where cues stand, and which form may begin or stand there.
//!
//! All cues of all forms are found at once, and most texts have few. Each form then looks at what is around its
//! cue and no further than a limit, so that the search takes linear time on any text.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use regex::Regex;

use super::assignments;
use super::forms::{self, FORMS, Reach, Taken};
use super::runs::Runs;
use super::tokens::{self, TOKENS};
use super::{OPEN, keys, names};

/// A secret, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Secret {
    /// Where it stands, within one line.
    pub(super) range: Range<usize>,
    /// The whole that it is a part of.
    pub(super) whole: Option<Rc<str>>,
}

/// What a cue may stand for.
#[derive(Clone, Copy)]
enum Lead {
    Token(usize),
    Form(usize),
    Name,
    Key,
}

/// All cues, with what they stand for.
struct Cues {
    pattern: Regex,
    /// By cue, in lower case where case does not count.
    leads: HashMap<&'static str, Vec<Lead>>,
}

static CUES: LazyLock<Option<Cues>> = LazyLock::new(Cues::new);
static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| FORMS.iter().map(|form| Regex::new(form.pattern).ok()).collect());

impl Cues {
    fn new() -> Option<Self> {
        let exact = TOKENS.iter().enumerate().map(|(at, token)| (token.prefix, Lead::Token(at)));
        let exact = exact.chain([(keys::CUE, Lead::Key)]);
        let forms = FORMS.iter().enumerate();
        let any = forms.flat_map(|(at, form)| form.cues.iter().map(move |cue| (*cue, Lead::Form(at))));
        let any = any.chain(names::CUES.iter().map(|cue| (*cue, Lead::Name)));

        let mut alternatives: Vec<(usize, String)> = vec![];
        let mut leads: HashMap<&'static str, Vec<Lead>> = HashMap::new();
        for (cue, lead, flag) in
            exact.map(|(cue, lead)| (cue, lead, "")).chain(any.map(|(cue, lead)| (cue, lead, "i-u")))
        {
            leads.entry(cue).or_default().push(lead);
            alternatives.push((cue.len(), format!("(?{flag}:{})", regex::escape(cue))));
        }
        // Of cues that begin alike the longest is found, and shares what the others stand for.
        alternatives.sort_by(|a, b| b.cmp(a));
        alternatives.dedup();
        let pattern: Vec<String> = alternatives.into_iter().map(|(_, cue)| cue).collect();
        let shorter: Vec<(&str, Vec<Lead>)> =
            leads.iter().map(|(cue, leads)| (*cue, leads.clone())).collect();
        for (cue, leads) in &mut leads {
            for (start, more) in &shorter {
                if start.len() < cue.len() && cue.starts_with(start) {
                    leads.extend(more);
                }
            }
        }
        Some(Cues { pattern: Regex::new(&pattern.join("|")).ok()?, leads })
    }

    fn leads(&self, cue: &str) -> &[Lead] {
        let found = self.leads.get(cue);
        found.or_else(|| self.leads.get(cue.to_ascii_lowercase().as_str())).map_or(&[], Vec::as_slice)
    }
}

/// Finds the secrets of a text: ranges that do not overlap, in order.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let Some(cues) = CUES.as_ref() else { return vec![] };
    let mut search = Search { text, found: vec![], line: 0..0, done: HashMap::new(), runs: Runs::default() };
    for cue in cues.pattern.find_iter(text) {
        for lead in cues.leads(cue.as_str()) {
            search.follow(*lead, cue.range());
        }
    }
    search.secrets()
}

struct Search<'t> {
    text: &'t str,
    found: Vec<Secret>,
    /// The line that the last cue stood in.
    line: Range<usize>,
    /// Up to where a token or form was looked for, by its place in its table.
    done: HashMap<(bool, usize), usize>,
    runs: Runs,
}

impl Search<'_> {
    fn follow(&mut self, lead: Lead, cue: Range<usize>) {
        match lead {
            Lead::Token(at) => {
                if self.done.get(&(true, at)).is_some_and(|done| cue.start < *done) {
                    return;
                }
                let end = match tokens::end(&TOKENS[at], self.text, cue.start) {
                    Ok(end) => {
                        self.add(cue.start..end);
                        end
                    }
                    Err(end) => end,
                };
                self.done.insert((true, at), end);
            }
            Lead::Form(at) => self.form(at, cue.start),
            Lead::Name => {
                self.enter(cue.start);
                let known = self.found.last().map_or(0..0, |secret| secret.range.clone());
                let (line, runs) = (self.line.clone(), &mut self.runs);
                if let Some(value) = assignments::value(self.text, cue, line, known, runs) {
                    self.add(value);
                }
            }
            Lead::Key => {
                let from = self.found.iter().rev().take(1).map(|secret| secret.range.end).next().unwrap_or(0);
                self.found.extend(keys::find(self.text, cue.start, from.min(cue.start)));
            }
        }
    }

    /// Looks for a form in the line of its cue.
    fn form(&mut self, at: usize, cue: usize) {
        if self.done.get(&(false, at)).is_some_and(|done| cue < *done) {
            return;
        }
        self.enter(cue);
        let (form, Some(pattern)) = (&FORMS[at], PATTERNS.get(at).and_then(Option::as_ref)) else { return };
        let mut end = self.line.end;
        match form.reach {
            Reach::Line => {}
            Reach::Continued => {
                while self.text[..end].trim_end_matches('\r').ends_with('\\') && end < self.text.len() {
                    end = line_end(self.text, end + 1);
                }
            }
            Reach::Next => end = line_end(self.text, (end + 1).min(self.text.len())),
        }
        self.done.insert((false, at), end);
        for captures in pattern.captures_iter(&self.text[self.line.start..end]) {
            for secret in captures.iter().skip(1).flatten() {
                let start = self.line.start + secret.start();
                match form.taken {
                    Taken::Whole(plausible) if plausible(secret.as_str()) => {
                        self.add(start..start + secret.len());
                    }
                    Taken::Whole(_) => {}
                    Taken::Cookies => {
                        for cookie in forms::cookies(secret.as_str()) {
                            self.add(start + cookie.start..start + cookie.end);
                        }
                    }
                }
            }
        }
    }

    /// Goes on to the line of a place, which is never before the line of the last one.
    fn enter(&mut self, place: usize) {
        if place >= self.line.end {
            let start = self.text[self.line.end..place].rfind('\n').map(|at| self.line.end + at + 1);
            self.line = start.unwrap_or(self.line.end)..line_end(self.text, place);
        }
    }

    fn add(&mut self, range: Range<usize>) {
        // A value that a mask stands for already is none.
        if self.text.get(range.clone()).is_some_and(|secret| !secret.is_empty() && !secret.contains(OPEN)) {
            self.found.push(Secret { range, whole: None });
        }
    }

    fn secrets(self) -> Vec<Secret> {
        let mut found = self.found;
        found.sort_by_key(|secret| (secret.range.start, std::cmp::Reverse(secret.range.end)));
        // Where two forms overlap, neither may show the rest of the other.
        found.dedup_by(|next, kept| {
            let overlap = next.range.start < kept.range.end;
            if overlap {
                kept.range.end = kept.range.end.max(next.range.end);
            }
            overlap
        });
        found
    }
}

fn line_end(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(CUES.is_some());
        assert!(PATTERNS.iter().all(Option::is_some));
    }
}
