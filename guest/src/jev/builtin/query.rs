//! What the judge looks for: the terms and quotations of the answer, the question and the notes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::terms::{Kind, visit};

/// A query with less weight than this says too little to judge by: four words of an answer.
const INFORMED: f64 = 2.0;

/// The weight of a rare word of the answer, and how many words have it in full: more of them, each counts
/// for less, by the root. A long text shares some words with everything.
const WORD: f64 = 0.5;
const FEW_WORDS: f64 = 20.0;

/// Shortest quotation, in bytes, and how many letters and digits it must have. Less is found by chance.
const SHORTEST_QUOTATION: usize = 12;
const FEWEST_LETTERS: usize = 8;

/// What the state says the work is about.
pub(super) struct Query<'a> {
    /// Sorted by text.
    terms: Vec<(String, Term)>,
    /// Texts that can quote, and what they seem to quote.
    quoting: Vec<&'a str>,
    quotations: Vec<&'a str>,
}

/// A term looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Term {
    /// What finding it says, where it is rare; a rare word of the answer is 0.5.
    pub(super) weight: f64,
    /// A name that the answer or the question uses: its presence alone makes an output relevant.
    pub(super) strong: bool,
    /// Known only as the last part of a path: then the last part of another path is another thing.
    base_only: bool,
}

/// A text of the state, what its terms count, and whether it speaks of the work itself.
struct Source<'a> {
    text: &'a str,
    weight: f64,
    leading: bool,
}

impl<'a> Query<'a> {
    pub(super) fn new(state: &'a Map<String, Value>) -> Self {
        let sources = sources(state);
        let mut terms: BTreeMap<String, Term> = BTreeMap::new();
        for source in &sources {
            let mut add = |kind, term: &str| {
                let weight = weight(kind, term) * source.weight;
                if weight > 0.0 {
                    let entry =
                        terms.entry(term.to_owned()).or_insert(Term { base_only: true, ..Term::default() });
                    entry.base_only &= kind == Kind::Base;
                    entry.weight = entry.weight.max(weight);
                    entry.strong |= source.leading && matches!(kind, Kind::Path | Kind::Identifier);
                }
            };
            visit(source.text, &mut add);
            for span in code_spans(source.text).filter(|span| is_name(span)) {
                // Its first term is the whole of it. A word set as code on its own is a name.
                let mut whole = None;
                visit(span, |kind, term| {
                    whole.get_or_insert_with(|| (kind, term.to_owned()));
                });
                if let Some((Kind::Word, name)) = whole {
                    add(Kind::Identifier, &name);
                }
            }
        }
        let words = terms.values().filter(|term| term.weight <= WORD).count();
        let damping = (FEW_WORDS / words as f64).sqrt().min(1.0);
        terms.values_mut().filter(|term| term.weight <= WORD).for_each(|term| term.weight *= damping);
        let quoting: Vec<&str> = sources.iter().filter(|source| source.leading).map(|s| s.text).collect();
        let mut quotations: Vec<&str> = quoting
            .iter()
            .flat_map(|text| text.lines().map(undecorated).chain(code_spans(text)).chain(quoted_spans(text)))
            .filter(|text| is_quotation(text))
            .collect();
        quotations.sort_unstable();
        quotations.dedup();
        Self { terms: terms.into_iter().collect(), quoting, quotations }
    }

    /// Returns whether the state says enough to judge by.
    pub(super) fn informed(&self) -> bool {
        self.terms.iter().map(|(_, term)| term.weight).sum::<f64>() >= INFORMED
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        self.terms.iter().map(|(_, term)| *term)
    }

    /// Returns how often `text` has each term, in the order of [`Query::terms`].
    pub(super) fn count(&self, text: &str) -> Vec<u32> {
        let mut counts = vec![0; self.terms.len()];
        visit(text, |kind, term| {
            let found = self.terms.binary_search_by(|(known, _)| known.as_str().cmp(term));
            if let Ok(at) = found
                && !(kind == Kind::Base && self.terms[at].1.base_only)
            {
                counts[at] += 1;
            }
        });
        counts
    }

    /// Returns what of `text` is quoted: quotations that it holds, and its lines that are part of an answer's
    /// line.
    pub(super) fn quoted<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let fragments = self.quotations.iter().copied().filter(move |quotation| text.contains(quotation));
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| is_quotation(line) && self.quoting.iter().any(|quoting| quoting.contains(line)));
        fragments.chain(lines)
    }
}

/// What it says that two texts share a rare term of that kind. Settled by trying, on outputs like those of
/// the tests; a weight of 1.33 alone makes a chunk worth keeping.
fn weight(kind: Kind, term: &str) -> f64 {
    match kind {
        Kind::Path => 2.5,
        Kind::Identifier => 2.0,
        // The text may have it without its folders, but an `index.ts` is found in many.
        Kind::Base => 1.5,
        // An answer that names a file does not speak of all the files beside it.
        Kind::Folder => 0.0,
        Kind::Number if term.len() > 2 => 1.0,
        Kind::Number | Kind::Word => WORD,
    }
}

fn sources<'a>(state: &'a Map<String, Value>) -> Vec<Source<'a>> {
    let text =
        |value: Option<&'a Value>| value.and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let progress = |field| state.get("agent_progress").and_then(|progress| progress.get(field));
    let answer = text(state.get("final_answer"));
    let latest = text(progress("latest_note"));
    let mut sources = Vec::new();
    let mut add = |text: Option<&'a str>, weight, leading| {
        sources.extend(text.map(|text| Source { text, weight, leading }));
    };
    add(answer, 1.0, true);
    add(latest, 0.8, true);
    // Where nothing is answered yet, the question is all there is.
    let question = if answer.is_some() { 0.5 } else { 0.8 };
    add(text(state.get("user_question")), question, true);
    add(text(progress("earlier_notes")), 0.3, false);
    add(text(state.get("agent_notes_during_the_run")), 0.3, false);
    for (field, weight) in [("later_tool_calls", 0.3), ("earlier_conversation", 0.25)] {
        let mut texts = Vec::new();
        strings(state.get(field).unwrap_or(&Value::Null), &mut texts);
        texts.into_iter().for_each(|text| add(Some(text), weight, false));
    }
    sources
}

/// Collects all strings of a value.
pub(super) fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns what stands between backticks within a line.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    enclosed(text, '`')
}

/// Returns what stands between double quotes within a line.
fn quoted_spans(text: &str) -> impl Iterator<Item = &str> {
    enclosed(text, '"')
}

fn enclosed(text: &str, mark: char) -> impl Iterator<Item = &str> {
    text.lines()
        // Every other piece is inside; a last piece without its closing mark is not.
        .flat_map(move |line| {
            let pieces = line.matches(mark).count();
            line.split(mark).enumerate().filter(move |(at, _)| at % 2 == 1 && *at < pieces)
        })
        .map(|(_, piece)| piece.trim())
        .filter(|piece| !piece.is_empty())
}

/// Returns a line without what Markdown puts around a quotation.
fn undecorated(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '*' | '-' | '+' | '|' | '`'))
}

/// Returns whether a code span is one name, such as `retry`, `retry()` or `max-age`.
fn is_name(span: &str) -> bool {
    let name = span.trim_matches(|c: char| !c.is_alphanumeric());
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

/// Returns whether a text is long and wordy enough to be found only where it was taken from. A single name
/// is no quotation.
fn is_quotation(text: &str) -> bool {
    text.len() >= SHORTEST_QUOTATION
        && text.contains(' ')
        && text.chars().filter(|c| c.is_alphanumeric()).nth(FEWEST_LETTERS - 1).is_some()
}
