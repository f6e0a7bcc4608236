//! Answers compared with labels.

use super::kind::Kind;
use super::labels::Labelled;
use super::report::{Counts, Item, Measured};
use crate::contract::sessions::{Reply, Verdict};
use anyhow::Result;
use serde_json::{Map, Value};

/// The thresholds that are shown beside the default.
const THRESHOLDS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Compares the labels of each request with the verdict on it, kind by kind.
///
/// # Errors
///
/// As [`Kind::threshold`].
pub(super) fn kinds<'v>(
    asked: impl IntoIterator<Item = (Vec<Labelled>, &'v Verdict)>,
) -> Result<Vec<Measured>> {
    let answered: Vec<(Labelled, Option<f64>)> = asked
        .into_iter()
        .flat_map(|(labelled, verdict)| {
            let answers = answers(verdict);
            labelled.into_iter().map(move |label| {
                let probability = probability(&answers, &label);
                (label, probability)
            })
        })
        .collect();
    let mut measured = Vec::new();
    for kind in Kind::all() {
        let threshold = kind.threshold()?;
        let of_kind = answered.iter().filter(|(label, _)| label.kind == kind);
        let items: Vec<Item> = of_kind
            .map(|(label, probability)| Item {
                name: label.name.clone(),
                needed: label.needed,
                probability: *probability,
                kept: probability.is_none_or(|p| keeps(kind, p, threshold.default)),
            })
            .collect();
        if !items.is_empty() {
            let counts = thresholds(threshold.default).map(|at| counts(kind, &items, at)).collect();
            measured.push(Measured { kind: kind.title(), threshold, items, counts });
        }
    }
    Ok(measured)
}

fn answers(verdict: &Verdict) -> Map<String, Value> {
    match &verdict.reply {
        Reply::Answers(json) => serde_json::from_str(json).unwrap_or_default(),
        Reply::Failed(_) => Map::new(),
    }
}

fn probability(answers: &Map<String, Value>, label: &Labelled) -> Option<f64> {
    let answer = answers.get(&label.question)?;
    match label.option {
        None => answer["probability"].as_f64(),
        Some(option) => answer["probabilities"][option].as_f64(),
    }
}

fn keeps(kind: Kind, probability: f64, threshold: f64) -> bool {
    (probability >= threshold) != kind.drops()
}

fn thresholds(default: f64) -> impl Iterator<Item = f64> {
    let below = THRESHOLDS.into_iter().filter(move |at| *at < default);
    let above = THRESHOLDS.into_iter().filter(move |at| *at > default);
    below.chain([default]).chain(above)
}

fn counts(kind: Kind, items: &[Item], threshold: f64) -> Counts {
    let mut counts = Counts { threshold, ..Counts::default() };
    let mut answered = 0;
    for item in items {
        let Some(probability) = item.probability else { continue };
        answered += 1;
        let count = match (keeps(kind, probability, threshold), item.needed) {
            (true, true) => &mut counts.kept_rightly,
            (false, false) => &mut counts.dropped_rightly,
            (true, false) => &mut counts.kept_wrongly,
            (false, true) => &mut counts.dropped_wrongly,
        };
        *count += 1;
    }
    if answered > 0 {
        counts.accuracy = (counts.kept_rightly + counts.dropped_rightly) as f64 / answered as f64;
    }
    counts
}
