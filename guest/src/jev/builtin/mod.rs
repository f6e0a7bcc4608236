//! The built-in judge: answers the classifier's questions offline, by the words that texts share.
//!
//! It is a heuristic. It compares terms and understands nothing: a chunk that matters without sharing a
//! rare word, name, path or number with the answer, the question or the notes is missed, and one that
//! shares them by chance is kept. It is for trying the guard out and for people without a classifier, and
//! never stands in silently for one. What it can do, it does alike every time: same request, same answers.

mod query;
mod terms;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::question::{Answer, Question, Request};
use query::{Query, strings};

/// The `api` of a service that stands for the judge.
pub const API: &str = "builtin";

/// The name of the judge as a model.
pub const MODEL: &str = "lexical";

/// From this probability a chunk is meant to stay, as the guard's default threshold has it.
const KEEP: f64 = 0.6;

/// From this share of chunks that are meant to stay, the whole is.
const MOST: f64 = 0.6;

/// The probability of what the answer quotes.
const QUOTED: f64 = 0.97;

/// With at least so many texts, what more than half of them have in common tells them apart no more.
const MANY: usize = 4;

/// Best score up to which an output has nothing to do with the work: less than one rare word.
const NOTHING: f64 = 0.45;

/// Okapi BM25's usual constants: how soon a repeated term stops counting, and how much length matters
/// (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;

/// Answers the questions of a request, by id. A question of an unknown type gets no answer.
pub fn judge(request: &Request) -> Map<String, Value> {
    let judgement = Judgement::new(&request.state);
    let mut answers = Map::new();
    for (id, question) in &request.questions {
        let answer = match serde_json::from_value(question.clone()) {
            Ok(Question::Bool { .. }) => {
                Some(Answer::Bool { probability: rounded(judgement.probability(id)) })
            }
            Ok(Question::Choice { criteria, .. }) => judgement.choice(&criteria),
            Err(_) => None,
        };
        if let Some(answer) = answer.and_then(|answer| serde_json::to_value(answer).ok()) {
            answers.insert(id.clone(), answer);
        }
    }
    answers
}

/// What the judge thinks of the texts of one request.
struct Judgement {
    /// Probabilities by label, in order: that the text is still needed.
    needed: Vec<(String, f64)>,
    verdict: Overall,
}

/// What it thinks of all of them together.
#[derive(Clone, Copy, PartialEq)]
enum Overall {
    /// The state says too little to tell.
    Unknown,
    /// They share nothing with the work.
    Nothing,
    /// This share of them is needed.
    Share(f64),
}

/// A text to judge: a chunk, or an item or exchange with its fields.
struct Unit<'a> {
    label: &'a str,
    text: Cow<'a, str>,
    /// Factor for what usually matters less.
    fade: f64,
}

impl Judgement {
    fn new(state: &Map<String, Value>) -> Self {
        let units = units(state);
        let query = Query::new(state);
        if !query.informed() || units.is_empty() {
            let needed = units.iter().map(|unit| (unit.label.to_owned(), 0.5)).collect();
            return Self { needed, verdict: Overall::Unknown };
        }
        let counts: Vec<Vec<u32>> = units.iter().map(|unit| query.count(&unit.text)).collect();
        let quoted = quoted(&units, &query);
        let scores = scores(&units, &query, &counts);
        let needed: Vec<(String, f64)> = units
            .iter()
            .enumerate()
            .map(|(at, unit)| {
                // Every unit of weight halves the doubt.
                let probability = (1.0 - (-scores[at]).exp2()).clamp(0.02, 0.95);
                (unit.label.to_owned(), if quoted[at] { QUOTED } else { probability })
            })
            .collect();
        let arguments = state.get("tool_arguments").and_then(Value::as_str).unwrap_or_default();
        let related = std::iter::once(&query.count(arguments))
            .chain(&counts)
            .any(|counts| query.terms().zip(counts).any(|(term, count)| term.strong && *count > 0));
        let best = scores.iter().copied().fold(0.0, f64::max);
        let verdict = if !related && !quoted.contains(&true) && best < NOTHING {
            Overall::Nothing
        } else {
            let passing = needed.iter().filter(|(_, probability)| *probability >= KEEP).count();
            Overall::Share(passing as f64 / needed.len() as f64)
        };
        Self { needed, verdict }
    }

    /// Answers a yes-or-no question: about all, about the text of that label, or unknown.
    fn probability(&self, id: &str) -> f64 {
        if let Some((_, probability)) = self.needed.iter().find(|(label, _)| label == id) {
            return *probability;
        }
        match self.verdict {
            Overall::Nothing if id == "keep_whole" => 0.02,
            Overall::Share(share) if id == "keep_whole" => 0.9 * share * share,
            _ => 0.5,
        }
    }

    /// Chooses among `whole`, `none`, and the labels of texts.
    fn choice(&self, criteria: &Map<String, Value>) -> Option<Answer> {
        let options: Vec<&String> = criteria.keys().collect();
        let needed = |option: &str| {
            self.needed.iter().find(|(label, _)| label == option).map(|(_, probability)| *probability)
        };
        let (whole, none) = match self.verdict {
            Overall::Unknown => (0.5, 0.02),
            Overall::Nothing => (0.02, 0.9),
            Overall::Share(share) if share >= MOST => (share.clamp(MOST, 0.95), 0.01),
            Overall::Share(share) => (share / 4.0, 0.05),
        };
        // The texts share what is left; the best of them gets half of it, so that it stands out among many.
        let left = 1.0 - whole - none;
        let total: f64 = options.iter().map(|option| needed(option).unwrap_or(0.02)).sum();
        let best = options
            .iter()
            .copied()
            .filter(|option| needed(option).is_some())
            .rev()
            .max_by(|a, b| needed(a).unwrap_or_default().total_cmp(&needed(b).unwrap_or_default()));
        let weights: Vec<f64> = options
            .iter()
            .map(|option| match option.as_str() {
                "whole" => whole,
                "none" => none,
                _ => {
                    let share = needed(option).unwrap_or(0.02) / total * left;
                    if best == Some(*option) { left / 2.0 + share / 2.0 } else { share / 2.0 }
                }
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        let (chosen, _) = weights.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1))?;
        let probabilities = options.iter().zip(&weights);
        Some(Answer::Choice {
            choice: options[chosen].clone(),
            probabilities: probabilities
                .map(|(option, weight)| ((*option).clone(), rounded(weight / sum).into()))
                .collect(),
        })
    }
}

/// Returns the texts to judge, in order.
fn units(state: &Map<String, Value>) -> Vec<Unit<'_>> {
    let fade = |fields: &Map<String, Value>| {
        let failed = ["tool_status", "status"]
            .iter()
            .filter_map(|field| fields.get(*field)?.as_str())
            .any(|status| status.starts_with("failed"));
        let superseded = fields.get("superseded").is_some_and(Value::is_string);
        (if failed { 0.75 } else { 1.0 }) * (if superseded { 0.5 } else { 1.0 })
    };
    let all = fade(state);
    ["chunks", "items", "exchanges"]
        .iter()
        .filter_map(|field| state.get(*field)?.as_object())
        .flatten()
        .map(|(label, value)| match value {
            Value::Object(fields) => {
                let mut texts = Vec::new();
                fields
                    .iter()
                    .filter(|(name, _)| !matches!(name.as_str(), "status" | "superseded" | "size"))
                    .for_each(|(_, value)| strings(value, &mut texts));
                Unit { label, text: texts.join("\n").into(), fade: all * fade(fields) }
            }
            value => Unit { label, text: value.as_str().unwrap_or_default().into(), fade: all },
        })
        .collect()
}

/// Returns which texts hold something that is quoted. What most of them hold is needed once.
fn quoted(units: &[Unit<'_>], query: &Query<'_>) -> Vec<bool> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        for quotation in query.quoted(&unit.text) {
            places.entry(quotation).or_default().push(at);
        }
    }
    let mut quoted = vec![false; units.len()];
    for mut places in places.into_values() {
        places.dedup();
        let needed = if is_common(places.len(), units.len()) { 1 } else { places.len() };
        places.into_iter().take(needed).for_each(|at| quoted[at] = true);
    }
    quoted
}

/// Scores every text by the terms that it shares with the query, as BM25 does.
fn scores(units: &[Unit<'_>], query: &Query<'_>, counts: &[Vec<u32>]) -> Vec<f64> {
    let lengths: Vec<f64> = units.iter().map(|unit| unit.text.len() as f64).collect();
    let average = (lengths.iter().sum::<f64>() / units.len() as f64).max(1.0);
    let mut scores = vec![0.0; units.len()];
    for (term, at) in query.terms().zip(0..) {
        let having = counts.iter().filter(|counts| counts[at] > 0).count();
        let weight = term.weight * rarity(having, units.len());
        for (unit, score) in scores.iter_mut().enumerate() {
            let count = f64::from(counts[unit][at]);
            let length = 1.0 - LENGTH + LENGTH * lengths[unit] / average;
            *score += weight * count * (SATURATION + 1.0) / (count + SATURATION * length);
        }
    }
    units.iter().zip(scores).map(|(unit, score)| score * unit.fade).collect()
}

/// Returns how rare a term is that `having` of `all` texts have: 1 if only one has it, 0 if it is common.
fn rarity(having: usize, all: usize) -> f64 {
    if having == 0 || is_common(having, all) {
        return 0.0;
    }
    let all = all as f64;
    let inverse_frequency = |having: f64| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
    inverse_frequency(having as f64) / inverse_frequency(1.0)
}

fn is_common(having: usize, all: usize) -> bool {
    all >= MANY && having * 2 > all
}

/// Rounds a probability to three decimals, so that a platform's last bit of a logarithm shows nowhere.
fn rounded(probability: f64) -> f64 {
    (probability * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests;
