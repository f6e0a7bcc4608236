//! What earlier passes judged, so that it is not asked about again too soon. The branch is the only memory.

use std::collections::HashSet;

use crate::session::{ItemKind, ItemResult, Mirror, Phase, start_on_branch};

/// Returns the ids of the outputs that a checkpoint judged, which no later checkpoint asks about, also where the edit
/// did not pay. At run end they are judged again, since then there is an answer to judge by.
pub fn judged_outputs(mirror: &Mirror) -> HashSet<&str> {
    let checkpoints = mirror.records().iter().filter(|(_, record)| record.phase == Phase::MidRun);
    checkpoints
        .flat_map(|(_, record)| &record.results)
        .filter(|result| result.kind != ItemKind::Exchange && was_judged(result))
        .map(|result| result.entry_id.as_str())
        .collect()
}

/// Returns the prompt ids of the exchanges that were judged in the newest run, which is not asked about them again.
///
/// One whose omission did not pay at a checkpoint waits for the run's end: asking at every turn would cost more than
/// it could save. At run end those that did not pay so far are asked about again: until they pay, more of them can
/// gather.
pub fn judged_exchanges(mirror: &Mirror, phase: Phase) -> HashSet<&str> {
    let Some(start) = start_on_branch(mirror.branch()) else { return HashSet::new() };
    let of_the_run = mirror.records().iter().filter(|(position, _)| *position > start);
    let results = of_the_run.flat_map(|(_, record)| {
        let gathers = phase == Phase::RunEnd || record.phase == Phase::RunEnd;
        record.results.iter().filter(move |result| !(gathers && result.reason == "deferred"))
    });
    results
        .filter(|result| result.kind == ItemKind::Exchange && was_judged(result))
        .map(|result| result.entry_id.as_str())
        .collect()
}

/// Returns whether the classifier was heard. A reason can be several words joined with commas.
fn was_judged(result: &ItemResult) -> bool {
    !result.reason.split(',').any(is_failure)
}

/// Returns whether a word of a reason says that there was no answer.
pub(super) fn is_failure(word: &str) -> bool {
    matches!(word.trim(), "timeout" | "error" | "aborted")
}
