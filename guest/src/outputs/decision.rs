//! What the answers say about one segment.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::chunk;
use super::question::{FOCUS, KEEP_WHOLE, NONE, WHOLE};
use super::segment::Segment;
use crate::jev::question::Answer;
use crate::settings::Settings;

/// Why a segment, or a whole output, stays or shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Some of it was chosen.
    Chunks,
    /// Nothing of it is needed.
    NoneNeeded,
    /// All of it is needed.
    WholeNeeded,
    /// Most of it is needed.
    WholeChosen,
    /// The answers lack what the decision rests on.
    NoAnswer,
    /// The request failed.
    Error,
    /// The time was up.
    Timeout,
    /// It is too big for a request.
    Oversize,
    /// Every chunk was chosen on its own.
    AllChunks,
    /// Too little would go.
    NotWorth,
}

impl Reason {
    /// Returns the word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Chunks => "chunks",
            Reason::NoneNeeded => "none-needed",
            Reason::WholeNeeded => "whole-needed",
            Reason::WholeChosen => "whole-chosen",
            Reason::NoAnswer => "no-answer",
            Reason::Error => "error",
            Reason::Timeout => "timeout",
            Reason::Oversize => "oversize",
            Reason::AllChunks => "all-chunks",
            Reason::NotWorth => "not-worth",
        }
    }

    /// Returns whether it stands for a request that got no answer, so that asking again can help.
    pub fn is_failure(self) -> bool {
        matches!(self, Reason::Error | Reason::Timeout)
    }
}

/// How a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The time was up before an answer came, or before the request left.
    Timeout,
    /// Anything else: an error, a refusal, an abort.
    Error,
}

/// What came back for one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Answers by question id, as JSON of [`Answer`].
    Answers(Map<String, Value>),
    /// No answers.
    Failed(Failure),
}

/// The answers about one segment as far as they are well formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answers {
    pub(super) keep_whole: Option<f64>,
    pub(super) focus: Option<Focus>,
    /// By chunk of the segment: the probability that it is needed.
    chunks: Vec<Option<f64>>,
}

/// How much of a segment is needed, and above all what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Focus {
    pub(super) choice: String,
    pub(super) probability: Option<f64>,
    none: f64,
    /// By chunk of the segment; 0 where the answer lacks it.
    chunks: Vec<f64>,
}

impl Answers {
    /// Reads the answers to the questions about those chunks. What is malformed counts as missing.
    pub(super) fn read(answers: &Map<String, Value>, segment: &Segment) -> Self {
        let names: Vec<String> = segment.chunks.clone().map(chunk::name).collect();
        let yes = |id: &str| Answer::yes(answers, id);
        let focus = match answers.get(FOCUS).and_then(|answer| Answer::deserialize(answer).ok()) {
            Some(Answer::Choice { choice, probabilities }) => Focus::read(choice, &probabilities, &names),
            _ => None,
        };
        Answers { keep_whole: yes(KEEP_WHOLE), focus, chunks: names.iter().map(|name| yes(name)).collect() }
    }
}

impl Focus {
    /// Reads a choice; none where it is no option or one of its probabilities is none, since half a choice
    /// could remove what the whole one keeps.
    fn read(choice: String, probabilities: &Map<String, Value>, names: &[String]) -> Option<Self> {
        if choice != WHOLE && choice != NONE && !names.contains(&choice) {
            return None;
        }
        if !probabilities.values().all(|p| p.as_f64().is_some_and(is_probability)) {
            return None;
        }
        let probability = |key: &str| probabilities.get(key).and_then(Value::as_f64);
        Some(Focus {
            probability: probability(&choice),
            none: probability(NONE).unwrap_or(0.0),
            chunks: names.iter().map(|name| probability(name).unwrap_or(0.0)).collect(),
            choice,
        })
    }
}

fn is_probability(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

/// What becomes of a segment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) reason: Reason,
    /// By chunk of the segment: it stays.
    pub(super) keep: Vec<bool>,
}

impl Decision {
    /// Keeps the whole segment.
    pub(super) fn keep_all(segment: &Segment, reason: Reason) -> Self {
        Decision { reason, keep: vec![true; segment.chunks.len()] }
    }

    /// Weighs the answers. A chunk stays from the probability `chunk_keep`.
    pub(super) fn weigh(answers: &Answers, segment: &Segment, settings: &Settings, chunk_keep: f64) -> Self {
        let all = |reason| Decision::keep_all(segment, reason);
        let (Some(keep_whole), Some(focus)) = (answers.keep_whole, &answers.focus) else {
            return all(Reason::NoAnswer);
        };
        if keep_whole >= settings.keep_whole_threshold {
            return all(Reason::WholeNeeded);
        }
        let chose_whole = focus.choice == WHOLE;
        if chose_whole && focus.probability.is_some_and(|p| p >= settings.focus_whole_threshold) {
            return all(Reason::WholeChosen);
        }
        let keep: Vec<bool> = segment
            .chunks
            .clone()
            .zip(&answers.chunks)
            .map(|(at, p)| p.is_some_and(|p| p >= chunk_keep) || focus.choice == chunk::name(at))
            .collect();
        if keep.contains(&true) {
            return Decision { reason: Reason::Chunks, keep };
        }
        if focus.choice == NONE && focus.none >= settings.none_threshold {
            return Decision { reason: Reason::NoneNeeded, keep };
        }
        // A weak "most" comes and goes between two requests, so it must not remove anything either.
        if chose_whole {
            return all(Reason::WholeChosen);
        }
        let best = best(&focus.chunks);
        Decision { reason: Reason::Chunks, keep: (0..keep.len()).map(|at| at == best).collect() }
    }
}

/// Returns the place of the greatest probability, the first of equal ones.
fn best(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (at, p) in probabilities.iter().enumerate() {
        if *p > probabilities[best] {
            best = at;
        }
    }
    best
}
