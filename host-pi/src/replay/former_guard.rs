//! A guard that was at work when the session was recorded: what it did is left out, so that each pass starts from
//! what the tools returned.

use super::mapping::{Recorded, Role};
use super::record::Record;
use crate::contract::types::EntryBody;
use serde::Serialize;

/// How much was left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(super) struct FormerGuard {
    pub(super) edits: usize,
    pub(super) records: usize,
}

/// Makes every record of a guard, and the edits that it tells of, entries without meaning. They stay on the branch,
/// since a compaction can name one of them as the first entry that it kept.
///
/// The guard's edits stand right before the record that names their targets; that is also how the guard itself knows
/// them.
pub(super) fn leave_out(branch: &mut [Recorded]) -> FormerGuard {
    let mut found = FormerGuard::default();
    for place in 0..branch.len() {
        let (earlier, rest) = branch.split_at_mut(place);
        let Some(recorded) = rest.first_mut() else { break };
        let EntryBody::GuardRecord(json) = &recorded.entry.body else { continue };
        let record = Record::parse(json).unwrap_or_default();
        recorded.entry.body = EntryBody::Other;
        found.records += 1;
        for edit in earlier.iter_mut().rev() {
            let EntryBody::Edit(target) = &edit.entry.body else { break };
            let named = |id: &String| id == target;
            if record.results.iter().any(|judged| named(&judged.entry_id) || judged.omitted.iter().any(named))
            {
                edit.entry.body = EntryBody::Other;
                edit.role = Role::Unseen;
                found.edits += 1;
            }
        }
    }
    found
}
