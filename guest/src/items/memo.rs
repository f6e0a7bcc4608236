//! What earlier passes judged, so that it is not asked about again too soon. The branch is the only memory.

use std::collections::HashSet;

use crate::session::{ItemKind, ItemResult, Mirror, Phase, start_on_branch};

/// Returns the ids of the outputs that a checkpoint judged, which no later checkpoint asks about. At run end they
/// are judged again, since then there is an answer to judge by.
pub fn judged_outputs(mirror: &Mirror) -> HashSet<&str> {
    let checkpoints = mirror.records().iter().filter(|(_, record)| record.phase == Phase::MidRun);
    checkpoints
        .flat_map(|(_, record)| &record.results)
        .filter(|result| result.kind != ItemKind::Exchange && was_judged(result))
        .map(|result| result.entry_id.as_str())
        .collect()
}

/// Returns the prompt ids of the exchanges that were judged in the newest run, which is not asked about them again.
/// One whose omission did not pay is: until it pays, more of them can gather.
pub fn judged_exchanges(mirror: &Mirror) -> HashSet<&str> {
    let Some(start) = start_on_branch(mirror.branch()) else { return HashSet::new() };
    let of_the_run = mirror.records().iter().filter(|(position, _)| *position > start);
    of_the_run
        .flat_map(|(_, record)| &record.results)
        .filter(|result| {
            result.kind == ItemKind::Exchange && was_judged(result) && result.reason != "deferred"
        })
        .map(|result| result.entry_id.as_str())
        .collect()
}

/// Returns whether the classifier was heard. A reason can be several words joined with commas.
fn was_judged(result: &ItemResult) -> bool {
    !result.reason.split(',').any(|word| matches!(word.trim(), "timeout" | "error" | "aborted"))
}
