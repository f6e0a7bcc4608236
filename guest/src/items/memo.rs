//! What earlier passes judged, so that it is not asked about again too soon. The branch is the only memory.

use std::collections::HashSet;

use crate::session::{ItemKind, Mirror, Phase};

/// Returns the ids of the outputs that a checkpoint judged, which no later checkpoint asks about, also where the edit
/// did not pay. At run end they are judged again, since then there is an answer to judge by.
///
/// No record tells of an entry that came after it, so `since`, the position on the branch of the first output in
/// question, bounds what is read.
pub fn judged_outputs(mirror: &Mirror, since: usize) -> HashSet<&str> {
    let records = mirror.records();
    let later = records.get(records.partition_point(|(at, _)| *at <= since)..).unwrap_or_default();
    let checkpoints = later.iter().filter(|(_, record)| record.phase == Phase::MidRun);
    checkpoints
        .flat_map(|(_, record)| &record.results)
        .filter(|result| result.kind != ItemKind::Exchange && result.was_judged())
        .map(|result| result.entry_id.as_str())
        .collect()
}
