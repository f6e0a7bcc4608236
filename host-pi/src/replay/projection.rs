//! What the model's context is made of, as Pi makes it of a branch.

use super::mapping::{Recorded, Role};
use crate::contract::types::{View, Visible};
use std::collections::HashMap;

/// An entry in the context, and the edit of it that is in force: places on the branch. An append-only branch makes
/// these comparable from one moment to a later one, without any text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    entry: usize,
    edit: Option<usize>,
}

/// Returns the entries that are in the model's context at the end of a branch, in its order.
///
/// The newest compaction comes first; of what was before it, only the entries that it kept follow, and nothing of the
/// system prompt, which it holds itself. Of several edits of an entry the last is in force.
pub(super) fn context(branch: &[Recorded]) -> Vec<Place> {
    let selected = selected(branch);
    let edits: HashMap<&str, usize> = selected
        .iter()
        .filter_map(|(place, recorded)| match &recorded.role {
            Role::Edit { target, .. } => Some((target.as_str(), *place)),
            _ => None,
        })
        .collect();
    let shown = |(order, (entry, recorded)): (usize, &(usize, &Recorded))| {
        let edit = match recorded.role {
            Role::Editable => edits.get(recorded.entry.id.as_str()).copied(),
            Role::Fixed | Role::System => None,
            // One that was kept by a newer one says nothing any more.
            Role::Compaction { .. } if order == 0 => None,
            Role::Compaction { .. } | Role::Edit { .. } | Role::Unseen => return None,
        };
        Some(Place { entry: *entry, edit })
    };
    selected.iter().enumerate().filter_map(shown).collect()
}

impl Place {
    /// Writes the place out; none for one of another branch.
    pub(super) fn visible(self, branch: &[Recorded]) -> Option<Visible> {
        let id = branch.get(self.entry)?.entry.id.clone();
        let view = match self.edit.map(|edit| branch.get(edit).map(|recorded| &recorded.role)) {
            None => View::AsRecorded,
            Some(Some(Role::Edit { replacement: Some(blocks), .. })) => View::Replaced(blocks.clone()),
            Some(_) => View::Omitted,
        };
        Some(Visible { id, view })
    }
}

fn selected(branch: &[Recorded]) -> Vec<(usize, &Recorded)> {
    let entries = || branch.iter().enumerate();
    let newest = entries().rev().find_map(|(place, recorded)| match &recorded.role {
        Role::Compaction { first_kept } => Some((place, first_kept)),
        _ => None,
    });
    let Some((newest, first_kept)) = newest else { return entries().collect() };
    let kept = entries()
        .take(newest)
        .skip_while(|(_, recorded)| Some(&recorded.entry.id) != first_kept.as_ref())
        .filter(|(_, recorded)| recorded.role != Role::System);
    entries().skip(newest).take(1).chain(kept).chain(entries().skip(newest + 1)).collect()
}
