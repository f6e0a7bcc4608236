//! What the model's context is made of, as Pi makes it of a branch.

use super::mapping::{Recorded, Role};
use crate::contract::types::{Block, View, Visible};
use std::collections::HashMap;

/// Returns the entries that are in the model's context at the end of a branch, in its order.
///
/// The newest compaction comes first; of what was before it, only the entries that it kept follow, and nothing of the
/// system prompt, which it holds itself. Of several edits of an entry the last is in force.
pub(super) fn context(branch: &[Recorded]) -> Vec<Visible> {
    let selected = selected(branch);
    let edits: HashMap<&str, Option<&[Block]>> =
        selected.iter().filter_map(|recorded| edit(recorded)).collect();
    let visible = selected.iter().enumerate().filter_map(|(place, recorded)| {
        let id = recorded.entry.id.as_str();
        let view = match &recorded.role {
            Role::Editable => match edits.get(id) {
                None => View::AsRecorded,
                Some(None) => View::Omitted,
                Some(Some(blocks)) => View::Replaced(blocks.to_vec()),
            },
            Role::Fixed | Role::System => View::AsRecorded,
            // One that was kept by a newer one says nothing any more.
            Role::Compaction { .. } if place == 0 => View::AsRecorded,
            Role::Compaction { .. } | Role::Edit { .. } | Role::Unseen => return None,
        };
        Some(Visible { id: id.to_owned(), view })
    });
    visible.collect()
}

fn selected(branch: &[Recorded]) -> Vec<&Recorded> {
    let newest = branch.iter().enumerate().rev().find_map(|(place, recorded)| match &recorded.role {
        Role::Compaction { first_kept } => Some((place, first_kept)),
        _ => None,
    });
    let Some((place, first_kept)) = newest else { return branch.iter().collect() };
    let (before, after) = branch.split_at(place);
    let kept = before
        .iter()
        .skip_while(|recorded| Some(&recorded.entry.id) != first_kept.as_ref())
        .filter(|recorded| recorded.role != Role::System);
    after.iter().take(1).chain(kept).chain(after.iter().skip(1)).collect()
}

fn edit(recorded: &Recorded) -> Option<(&str, Option<&[Block]>)> {
    match &recorded.role {
        Role::Edit { target, replacement } => Some((target, replacement.as_deref())),
        _ => None,
    }
}
