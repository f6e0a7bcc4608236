//! What earlier passes said of exchanges, so that none is asked about again too soon.

use std::collections::HashMap;

use super::record::{ItemKind, ItemResult, Phase, Record};

/// By position of an exchange's prompt on the branch: the newest records that judged it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memo {
    exchanges: Vec<Judged>,
}

/// Positions of records on the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Judged {
    /// The newest that did not leave it for later.
    decided: Option<usize>,
    /// The newest of a checkpoint at which its omission did not pay.
    deferred_at_checkpoint: Option<usize>,
}

impl Memo {
    /// Takes in the record at that position of the branch, which is behind all that it tells of.
    pub(super) fn append(&mut self, position: usize, record: &Record, positions: &HashMap<String, usize>) {
        for result in &record.results {
            if result.kind != ItemKind::Exchange || !result.was_judged() {
                continue;
            }
            let Some(prompt) = positions.get(&result.entry_id).copied().filter(|&prompt| prompt < position)
            else {
                continue;
            };
            if self.exchanges.len() <= prompt {
                self.exchanges.resize(prompt + 1, Judged::default());
            }
            let judged = &mut self.exchanges[prompt];
            if result.reason != "deferred" {
                judged.decided = Some(position);
            } else if record.phase == Phase::MidRun {
                judged.deferred_at_checkpoint = Some(position);
            }
        }
    }

    /// Returns whether the exchange of the prompt at that position was judged behind `since`, so that a pass of that
    /// phase does not ask about it again.
    ///
    /// One whose omission did not pay at a checkpoint waits for the run's end: asking at every turn would cost more than
    /// it could save. At run end those that did not pay so far are asked about again: until they pay, more of them can
    /// gather.
    pub fn holds_exchange(&self, prompt: usize, since: usize, phase: Phase) -> bool {
        let Some(judged) = self.exchanges.get(prompt) else { return false };
        let later = |record: Option<usize>| record.is_some_and(|position| position > since);
        later(judged.decided) || phase == Phase::MidRun && later(judged.deferred_at_checkpoint)
    }
}

impl ItemResult {
    /// Returns whether the classifier was heard. A reason can be several words joined with commas.
    pub fn was_judged(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Walks the words of the reason that say that there was no answer.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.reason.split(',').filter(|word| matches!(word.trim(), "timeout" | "error" | "aborted"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::session::Mirror;
    use crate::session::changes::*;

    /// The same, by a look through all records.
    fn holds(mirror: &Mirror, prompt: usize, since: usize, phase: Phase) -> bool {
        let id = &mirror.branch()[prompt].id;
        mirror.records().iter().filter(|(position, _)| *position > since).any(|(_, record)| {
            let gathers = phase == Phase::RunEnd || record.phase == Phase::RunEnd;
            record.results.iter().any(|result| {
                let again = result.reason.contains("timeout") || result.reason.contains("error");
                result.kind == ItemKind::Exchange
                    && result.entry_id == *id
                    && !again
                    && !(gathers && result.reason == "deferred")
            })
        })
    }

    proptest! {
        #[test]
        fn after_any_deltas_it_says_what_the_records_say(
            steps in vec(step(), 1..40),
            stops in vec(any::<bool>(), 40),
        ) {
            let states = play(steps);
            let mut mirror = Mirror::default();
            let mut held = &states[0];
            for (state, stop) in states.iter().zip(stops) {
                if !stop {
                    continue;
                }
                mirror.update(state.since(held)).unwrap();
                held = state;
                let count = mirror.branch().len();
                for (prompt, since) in (0..count).flat_map(|prompt| (0..count).map(move |since| (prompt, since))) {
                    for phase in [Phase::MidRun, Phase::RunEnd] {
                        prop_assert_eq!(
                            mirror.memo().holds_exchange(prompt, since, phase),
                            holds(&mirror, prompt, since, phase)
                        );
                    }
                }
            }
        }
    }
}
