//! Whose edit is in force: the guard's own, or somebody else's.
//!
//! A text alone proves nothing, since a tool can print the guard's marker. The guard's passes append their
//! edits directly followed by the record that names each target, so the branch itself tells.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use crate::contract::types::{Entry, EntryBody};

/// The entries whose latest edit on the branch was made by a pass of the guard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ownership {
    /// By position on the branch.
    ours: Vec<bool>,
}

impl Ownership {
    /// Takes in the last entry of `branch`; `record` is what it holds, if it is a readable record. An edit comes
    /// after what it targets.
    pub(super) fn append(
        &mut self,
        branch: &[Entry],
        positions: &HashMap<String, usize>,
        record: Option<&Record>,
    ) {
        let Some((last, earlier)) = branch.split_last() else { return };
        self.ours.push(false);
        let mut set = |target: &str, ours| {
            if let Some(place) = positions.get(target).and_then(|&position| self.ours.get_mut(position)) {
                *place = ours;
            }
        };
        if let EntryBody::Edit(target) = &last.body {
            set(target, false);
        }
        let Some(record) = record else { return };
        let named: HashSet<&str> = record.edited().collect();
        for entry in earlier.iter().rev() {
            let EntryBody::Edit(target) = &entry.body else { break };
            if named.contains(target.as_str()) {
                set(target, true);
            }
        }
    }

    /// Forgets the entries from that position on; none of them may be an edit or a record.
    pub(super) fn truncate(&mut self, keep: usize) {
        self.ours.truncate(keep);
    }

    /// Returns whether the latest edit of the entry at that position is the guard's.
    pub(super) fn holds(&self, position: usize) -> bool {
        self.ours.get(position).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use crate::session::fixtures::*;
    use crate::session::{Mirror, Projection};

    const STUB: &str = "[context-guard] Omitted the output.";

    fn ours(mirror: &Mirror) -> Vec<&str> {
        let projection: Projection<'_> = mirror.projection();
        projection.iter().filter(|item| item.ours()).map(|item| item.id()).collect()
    }

    fn run(result: Item) -> Vec<Item> {
        vec![u("p"), a("").call("c1", "bash", "{}"), result, a("Done.")]
    }

    #[test]
    fn b6_an_edit_followed_by_the_record_that_names_it_is_ours() {
        let mut items = run(r("c1", "long").replaced(STUB));
        items.extend(guard_pass(&[("e2", "removed")]));
        assert_eq!(ours(&session(items)), ["e2"]);
    }

    #[test]
    fn l8_b6_an_output_that_begins_with_the_marker_is_not_ours() {
        assert!(ours(&session(run(r("c1", STUB)))).is_empty());
    }

    #[test]
    fn b6_somebody_elses_edit_with_the_marker_is_not_ours() {
        let mut items = run(r("c1", "long").replaced(STUB));
        items.push(edit("e2"));
        assert!(ours(&session(items.clone())).is_empty());
        items.extend(guard_pass(&[("e3", "removed")]));
        assert!(ours(&session(items)).is_empty(), "the record names another entry");
    }

    #[test]
    fn b6_a_later_edit_by_somebody_else_takes_over() {
        let mut items = run(r("c1", "long").replaced(STUB));
        items.extend(guard_pass(&[("e2", "removed")]));
        items.push(edit("e2"));
        assert!(ours(&session(items)).is_empty());
    }

    #[test]
    fn b6_the_marker_must_still_be_shown() {
        let mut items = run(r("c1", "long").replaced("rewritten within the same batch"));
        items.extend(guard_pass(&[("e2", "distilled")]));
        assert!(ours(&session(items)).is_empty());
    }

    #[test]
    fn b6_another_entry_between_edit_and_record_breaks_the_batch() {
        let [edited, written] = <[Item; 2]>::try_from(guard_pass(&[("e2", "removed")])).unwrap();
        let mut items = run(r("c1", "long").replaced(STUB));
        items.extend([edited, other(), written]);
        assert!(ours(&session(items)).is_empty());
    }

    #[test]
    fn b6_an_omitted_exchange_is_ours_in_all_its_entries() {
        let mirror = session([
            u("p").replaced("[context-guard] Omitted an earlier exchange."),
            a("Done.").omitted(),
            n("by the way").omitted(),
            edit("e0"),
            edit("e1"),
            record(
                r#"{"v":1,"results":[{"kind":"exchange","entryId":"e0","outcome":"removed","omitted":["e1"]}]}"#,
            ),
        ]);
        assert_eq!(ours(&mirror), ["e0", "e1"], "the notice was omitted by somebody else");
    }

    #[test]
    fn b6_an_entry_kept_or_put_back_is_not_ours() {
        let mut items =
            run(r("c1", "[context-guard] printed by a tool").replaced("[context-guard] printed by a tool"));
        items.extend(guard_pass(&[("e2", "kept")]));
        assert!(ours(&session(items)).is_empty());
    }

    #[test]
    fn b6_a_record_of_another_version_names_nothing() {
        let mut items = run(r("c1", "long").replaced(STUB));
        items.extend([edit("e2"), record(r#"{"v":2,"results":[{"entryId":"e2","outcome":"removed"}]}"#)]);
        assert!(ours(&session(items)).is_empty());
    }

    #[test]
    fn b6_going_back_before_a_pass_forgets_it() {
        let mut items = run(r("c1", "long").replaced(STUB));
        items.extend(guard_pass(&[("e2", "removed")]));
        items.push(edit("e2"));
        let mut mirror = session(items);
        let mut back = whole([]);
        back.keep_context = 4;
        back.keep_branch = 6;
        mirror.update(back.clone()).unwrap();
        assert_eq!(ours(&mirror), ["e2"], "the foreign edit is gone, our pass is still there");
        back.keep_branch = 5;
        mirror.update(back).unwrap();
        assert!(ours(&mirror).is_empty(), "the record is gone");
    }
}
