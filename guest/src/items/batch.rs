//! Batches: items that share a request, and what the replies say about each of them.

use std::ops::Range;

use serde_json::Value;

use super::Judgement;
use super::question::{self, Subject};
use crate::jev::question::{Answer, Request};
use crate::outputs::{Failure, Reply, Scene};
use crate::secrets::Masks;
use crate::settings::Settings;
use crate::text::probability;

/// An item that one yes-or-no question decides.
pub trait Whole {
    /// What it is.
    const SUBJECT: Subject;

    /// Returns the characters that it takes of a request, roughly.
    fn cost(&self) -> usize;

    /// Returns what a request tells of it, its secrets masked.
    fn told(&self, masks: &Masks) -> Value;

    /// Judges it by the probability that it is still needed, or by why there is none.
    fn judge(&self, needed: Result<f64, Missing>, settings: &Settings) -> Judgement;
}

/// Why there is no answer about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The reply lacks it, or it is malformed.
    NoAnswer,
    /// The request failed.
    Error,
    /// The time was up.
    Timeout,
}

impl Missing {
    /// Returns the word for it in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Missing::NoAnswer => "no-answer",
            Missing::Error => "error",
            Missing::Timeout => "timeout",
        }
    }
}

/// Items of one kind, put into batches.
#[derive(Clone, Debug)]
pub struct Plan<I> {
    items: Vec<I>,
    batches: Vec<Range<usize>>,
}

impl<I: Whole> Plan<I> {
    /// Puts items into batches, in order.
    pub fn new(items: Vec<I>, settings: &Settings) -> Self {
        let batches = batches(items.iter().map(Whole::cost), settings);
        Plan { items, batches }
    }

    /// Returns the items.
    pub fn items(&self) -> &[I] {
        &self.items
    }

    /// Returns one request per batch, in order. The texts of the scene are masked already.
    pub fn requests(&self, scene: &Scene<'_>, masks: &Masks) -> Vec<Request> {
        let request = |batch: &Range<usize>| {
            let items = self.items.get(batch.clone()).unwrap_or_default();
            question::request(I::SUBJECT, items.iter().map(|item| item.told(masks)), scene)
        };
        self.batches.iter().map(request).collect()
    }

    /// Returns the number of [`Plan::requests`].
    pub fn questions(&self) -> usize {
        self.batches.len()
    }

    /// Judges every item, in order, by the replies to [`Plan::requests`] in the same order.
    ///
    /// A reply that is missing counts as one that came too late. Whatever has no answer is kept.
    pub fn judge(&self, replies: &[Reply], settings: &Settings) -> Vec<Judgement> {
        let mut judgements = Vec::with_capacity(self.items.len());
        for (at, batch) in self.batches.iter().enumerate() {
            let items = self.items.get(batch.clone()).unwrap_or_default();
            for (place, item) in items.iter().enumerate() {
                let needed = answer(replies.get(at), &I::SUBJECT.label(place));
                judgements.push(item.judge(needed, settings));
            }
        }
        judgements
    }
}

/// Writes the trace of an item.
pub(super) fn trace(needed: Result<f64, Missing>) -> String {
    match needed {
        Ok(p) => format!("p{}", probability(Some(p))),
        Err(missing) => format!("p? {}", missing.as_str()),
    }
}

fn answer(reply: Option<&Reply>, label: &str) -> Result<f64, Missing> {
    match reply {
        Some(Reply::Answers(answers)) => Answer::yes(answers, label).ok_or(Missing::NoAnswer),
        Some(Reply::Failed(Failure::Error)) => Err(Missing::Error),
        Some(Reply::Failed(Failure::Timeout)) | None => Err(Missing::Timeout),
    }
}

/// Puts consecutive items together as long as their cost and number allow. An item that is too big for any
/// batch gets one of its own; what a request tells of it is bounded all the same.
fn batches(costs: impl Iterator<Item = usize>, settings: &Settings) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = vec![];
    let mut total = 0usize;
    for (at, cost) in costs.enumerate() {
        match batches.last_mut() {
            Some(batch)
                if total.saturating_add(cost) <= settings.max_segment_chars
                    && batch.len() < settings.max_chunks_per_segment =>
            {
                batch.end = at + 1;
                total += cost;
            }
            _ => {
                batches.push(at..at + 1);
                total = cost;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sizes(costs: &[usize], settings: &Settings) -> Vec<usize> {
        batches(costs.iter().copied(), settings).into_iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn a_batch_may_be_exactly_full() {
        let settings = Settings::default();
        assert_eq!(sizes(&[16_000, 16_000, 1], &settings), [2, 1]);
        assert_eq!(sizes(&[16_000, 16_001], &settings), [1, 1]);
    }

    #[test]
    fn a_batch_has_at_most_40_items() {
        assert_eq!(sizes(&[600; 41], &Settings::default()), [40, 1]);
    }

    #[test]
    fn an_item_above_the_limit_gets_its_own_request_and_is_sent() {
        let settings = Settings { max_segment_chars: 2_000, ..Settings::default() };
        assert_eq!(sizes(&[600, 4_200, 600, 600], &settings), [1, 1, 2]);
        assert_eq!(sizes(&[], &settings), [0; 0]);
    }

    #[test]
    fn traces_tell_the_probability_or_why_there_is_none() {
        assert_eq!(
            [Ok(0.06), Ok(1.0), Err(Missing::Timeout), Err(Missing::NoAnswer)].map(trace),
            ["p.06", "p1.00", "p? timeout", "p? no-answer"]
        );
    }

    proptest! {
        #[test]
        fn batches_cover_every_item_once_and_in_order(
            costs in prop::collection::vec(0usize..5_000, 0..60),
            limit in 2_000usize..9_000,
            count in 2usize..9,
        ) {
            let settings =
                Settings { max_segment_chars: limit, max_chunks_per_segment: count, ..Settings::default() };
            let batches = batches(costs.iter().copied(), &settings);
            prop_assert_eq!(batches.iter().cloned().flatten().collect::<Vec<_>>(), (0..costs.len()).collect::<Vec<_>>());
            for batch in batches {
                prop_assert!(batch.len() <= count);
                prop_assert!(batch.len() == 1 || costs[batch].iter().sum::<usize>() <= limit);
            }
        }
    }
}
