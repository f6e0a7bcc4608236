//! The mirror of the host's branch and context, kept up to date by deltas.

use std::collections::{HashMap, HashSet};

use super::ownership::Ownership;
use super::projection::{Place, Projection};
use super::record::Record;
use crate::contract::sessions::Delta;
use crate::contract::types::{Entry, EntryBody, Error, Visible};

/// The active branch, root first, and the entries of it that make up the model's context.
///
/// What a delta costs depends on its own size and on that of the entries that it shows edited; only one that shortens
/// the branch costs a walk over the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirror {
    branch: Vec<Entry>,
    context: Vec<Place>,
    positions: HashMap<String, usize>,
    /// By position on the branch: the index in `context`.
    indices: Vec<Option<usize>>,
    records: Vec<(usize, Record)>,
    ownership: Ownership,
}

impl Mirror {
    /// Takes a delta whole or, on an error, not at all.
    ///
    /// # Errors
    ///
    /// `out-of-sync` where the delta keeps more than there is, `invalid` where an entry comes twice or the
    /// context names an entry that the branch lacks.
    pub fn update(&mut self, delta: Delta) -> Result<(), Error> {
        let added = self.check(&delta)?;
        let (keep_branch, keep_context) = (delta.keep_branch as usize, delta.keep_context as usize);

        for place in self.context.drain(keep_context..) {
            self.indices[place.position] = None;
        }
        self.shorten(keep_branch);
        for entry in delta.branch {
            self.append(entry);
        }
        for (item, position) in delta.context.into_iter().zip(added) {
            self.indices[position] = Some(self.context.len());
            self.context.push(Place::new(&self.branch, position, item.view));
        }
        Ok(())
    }

    /// Returns where the context items of a sound delta stand on the branch that it leads to.
    fn check(&self, delta: &Delta) -> Result<Vec<usize>, Error> {
        let (keep_branch, keep_context) = (delta.keep_branch as usize, delta.keep_context as usize);
        if keep_branch > self.branch.len() || keep_context > self.context.len() {
            return Err(Error::OutOfSync);
        }
        // Only a shorter branch can leave kept context items without their entry.
        if keep_branch < self.branch.len()
            && self.context[..keep_context].iter().any(|place| place.position >= keep_branch)
        {
            return Err(Error::OutOfSync);
        }

        let kept = |id: &str| self.position(id).filter(|&position| position < keep_branch);
        let mut fresh = HashMap::with_capacity(delta.branch.len());
        for (offset, entry) in delta.branch.iter().enumerate() {
            let id = entry.id.as_str();
            if kept(id).is_some() || fresh.insert(id, keep_branch + offset).is_some() {
                return Err(Error::Invalid(format!("entry `{id}` is on the branch twice: send each once")));
            }
        }

        let mut seen = HashSet::with_capacity(delta.context.len());
        let place = |Visible { id, .. }: &Visible| {
            let Some(position) = kept(id).or_else(|| fresh.get(id.as_str()).copied()) else {
                return Err(Error::Invalid(format!(
                    "context entry `{id}` is not on the branch: send its entry as well"
                )));
            };
            // A kept context item always lies on the kept branch, so a fresh entry never meets one here.
            let index = self.indices.get(position).copied().flatten();
            if index.is_some_and(|index| index < keep_context) || !seen.insert(position) {
                return Err(Error::Invalid(format!("entry `{id}` is in the context twice: send each once")));
            }
            Ok(position)
        };
        delta.context.iter().map(place).collect()
    }

    /// Drops the branch from that position on.
    fn shorten(&mut self, keep: usize) {
        if keep == self.branch.len() {
            return;
        }
        let edits = |entry: &Entry| matches!(entry.body, EntryBody::Edit(_) | EntryBody::GuardRecord(_));
        let stale = self.branch[keep..].iter().any(edits);
        for entry in self.branch.drain(keep..) {
            self.positions.remove(&entry.id);
        }
        self.indices.truncate(keep);
        self.records.truncate(self.records.partition_point(|&(position, _)| position < keep));
        if stale {
            self.ownership = Ownership::default();
            let mut records = self.records.iter().peekable();
            for position in 0..keep {
                let record = records.next_if(|(at, _)| *at == position).map(|(_, record)| record);
                self.ownership.append(&self.branch[..=position], record);
            }
        }
    }

    fn append(&mut self, entry: Entry) {
        let position = self.branch.len();
        let record = match &entry.body {
            EntryBody::GuardRecord(json) => Record::parse(json),
            _ => None,
        };
        self.positions.insert(entry.id.clone(), position);
        self.branch.push(entry);
        self.indices.push(None);
        self.ownership.append(&self.branch, record.as_ref());
        self.records.extend(record.map(|record| (position, record)));
    }

    /// Returns the active branch, root first.
    pub fn branch(&self) -> &[Entry] {
        &self.branch
    }

    /// Returns the guard's readable records with their positions on the branch, oldest first.
    pub fn records(&self) -> &[(usize, Record)] {
        &self.records
    }

    /// Returns the position of an entry on the branch.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// Returns an entry of the branch.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.position(id).and_then(|at| self.branch.get(at))
    }

    /// Returns the index of an entry in the projection, if it is part of the context.
    pub fn index(&self, id: &str) -> Option<usize> {
        self.position(id).and_then(|at| self.indices.get(at).copied().flatten())
    }

    /// Returns the entries of the context in its order, omitted ones included.
    pub fn projection(&self) -> Projection<'_> {
        Projection {
            branch: &self.branch,
            positions: &self.positions,
            places: &self.context,
            ownership: &self.ownership,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::contract::types::View;
    use crate::session::fixtures::*;
    use crate::session::{Shown, Sizes, content_size};

    fn delta(keep_branch: u32, branch: Vec<Entry>, keep_context: u32, context: Vec<Visible>) -> Delta {
        Delta { keep_branch, branch, keep_context, context }
    }

    fn visible(id: &str) -> Visible {
        Visible { id: id.into(), view: View::AsRecorded }
    }

    fn entries(items: impl IntoIterator<Item = Item>) -> Vec<Entry> {
        whole(items).branch
    }

    fn assert_rejected(mirror: &Mirror, delta: Delta, expected: &str) {
        let mut after = mirror.clone();
        let error = after.update(delta).unwrap_err();
        assert!(format!("{error:?}").contains(expected), "{error:?}");
        assert_eq!(&after, mirror);
    }

    #[test]
    fn a_rejected_delta_changes_nothing() {
        let mirror = session([u("1"), a("2"), r("c1", "3"), edit("e2")]);
        assert_rejected(&mirror, delta(5, vec![], 0, vec![]), "OutOfSync");
        assert_rejected(&mirror, delta(0, vec![], 4, vec![]), "OutOfSync");
        assert_rejected(&mirror, delta(u32::MAX, vec![], u32::MAX, vec![]), "OutOfSync");
        assert_rejected(&mirror, delta(2, vec![], 3, vec![]), "OutOfSync");
        assert_rejected(&mirror, delta(4, vec![], 3, vec![visible("e9")]), "`e9` is not on the branch");
        assert_rejected(&mirror, delta(2, vec![], 2, vec![visible("e2")]), "`e2` is not on the branch");
        assert_rejected(
            &mirror,
            delta(4, entries([u("again").id("e0")]), 3, vec![]),
            "`e0` is on the branch twice",
        );
        let twice = entries([u("x").id("new"), u("y").id("new")]);
        assert_rejected(&mirror, delta(4, twice, 3, vec![]), "`new` is on the branch twice");
        assert_rejected(&mirror, delta(4, vec![], 3, vec![visible("e0")]), "`e0` is in the context twice");
        assert_rejected(
            &mirror,
            delta(4, vec![], 0, vec![visible("e0"), visible("e0")]),
            "`e0` is in the context twice",
        );
    }

    #[test]
    fn an_entry_may_come_back_elsewhere_once_it_was_dropped() {
        let mut mirror = session([u("1"), a("2"), a("3")]);
        let branch = entries([u("new").id("e9"), a("3").id("e2")]);
        mirror.update(delta(1, branch, 1, vec![visible("e2"), visible("e9")])).unwrap();
        assert_eq!((mirror.position("e2"), mirror.index("e2")), (Some(2), Some(1)));
        assert_eq!((mirror.position("e9"), mirror.index("e9")), (Some(1), Some(2)));
        assert_eq!(mirror.position("e1"), None);
        assert_eq!(mirror.entry("e9").map(|entry| entry.id.as_str()), Some("e9"));
    }

    #[test]
    fn a_changed_view_replaces_the_context_from_there_on() {
        let mut mirror = session([u("1"), a("2"), a("3")]);
        let omitted = Visible { id: "e1".into(), view: View::Omitted };
        mirror.update(delta(3, vec![], 1, vec![omitted, visible("e2")])).unwrap();
        assert_eq!(mirror, session([u("1"), a("2").omitted(), a("3")]));
    }

    /// A session as the host holds it.
    #[derive(Clone, Debug, Default)]
    struct State {
        branch: Vec<Entry>,
        context: Vec<Visible>,
    }

    impl State {
        /// What changed between two states, as a host finds it.
        fn since(&self, old: &State) -> Delta {
            fn common<T: PartialEq>(old: &[T], new: &[T]) -> usize {
                old.iter().zip(new).take_while(|(old, new)| old == new).count()
            }
            let branch = common(&old.branch, &self.branch);
            let context = common(&old.context, &self.context);
            delta(
                u32::try_from(branch).unwrap(),
                self.branch[branch..].to_vec(),
                u32::try_from(context).unwrap(),
                self.context[context..].to_vec(),
            )
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Say(&'static str),
        Edit(Index, bool),
        Pass(Index),
        Back(Index),
        Compact(Index),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => prop_oneof![Just("hi"), Just("[context-guard] x")].prop_map(Step::Say),
            2 => (any::<Index>(), any::<bool>()).prop_map(|(target, omit)| Step::Edit(target, omit)),
            2 => any::<Index>().prop_map(Step::Pass),
            1 => any::<Index>().prop_map(Step::Back),
            1 => any::<Index>().prop_map(Step::Compact),
        ]
    }

    /// Plays the steps and returns the session after each of them.
    fn play(steps: Vec<Step>) -> Vec<State> {
        let mut states = vec![State::default()];
        for (round, step) in steps.into_iter().enumerate() {
            let mut state = states.last().cloned().unwrap();
            let named = |item: Item, part: usize| entries([item.id(&format!("{round}.{part}"))]).remove(0);
            let edited = |state: &mut State, target: Index, view: View| {
                let at = target.index(state.context.len());
                state.context[at].view = view;
                state.context[at].id.clone()
            };
            match step {
                Step::Say(text) => {
                    state.context.push(visible(&format!("{round}.0")));
                    state.branch.push(named(u(text), 0));
                }
                Step::Edit(target, omit) if !state.context.is_empty() => {
                    let view = if omit { View::Omitted } else { View::Replaced(vec![]) };
                    let id = edited(&mut state, target, view);
                    state.branch.push(named(edit(&id), 0));
                }
                Step::Pass(target) if !state.context.is_empty() => {
                    let id = edited(&mut state, target, View::Omitted);
                    let pass = guard_pass(&[(&id, "removed")]);
                    state.branch.extend(pass.into_iter().enumerate().map(|(part, item)| named(item, part)));
                }
                Step::Back(to) => {
                    state.branch.truncate(to.index(state.branch.len() + 1));
                    state.context.retain(|item| state.branch.iter().any(|entry| entry.id == item.id));
                }
                Step::Compact(to) => {
                    state.context.drain(..to.index(state.context.len() + 1));
                    state.context.insert(0, visible(&format!("{round}.0")));
                    state.branch.push(named(compaction("so far"), 0));
                }
                Step::Edit(..) | Step::Pass(_) => {}
            }
            states.push(state);
        }
        states
    }

    proptest! {
        #[test]
        fn any_chunking_of_the_same_log_gives_the_same_mirror(
            steps in vec(step(), 1..30),
            stops in vec(any::<bool>(), 30),
        ) {
            let states = play(steps);
            let last = states.last().unwrap();
            let mut mirror = Mirror::default();
            let mut held = &states[0];
            for (state, stop) in states.iter().zip(stops) {
                if stop {
                    mirror.update(state.since(held)).unwrap();
                    held = state;
                }
            }
            mirror.update(last.since(held)).unwrap();

            let mut fresh = Mirror::default();
            fresh.update(last.since(&State::default())).unwrap();
            prop_assert_eq!(&mirror, &fresh);
            prop_assert_eq!(mirror.branch(), last.branch.as_slice());
            let views: Vec<_> = mirror
                .projection()
                .iter()
                .map(|item| Visible { id: item.id().into(), view: item.view.clone() })
                .collect();
            prop_assert_eq!(&views, &last.context);
            for (index, item) in last.context.iter().enumerate() {
                prop_assert_eq!(mirror.index(&item.id), Some(index));
            }
            for item in mirror.projection().iter() {
                let size = |shown: Option<Shown<'_>>| shown.map_or(0, |shown| content_size(shown.blocks));
                let sizes = Sizes { recorded: size(item.recorded()), shown: size(item.shown()) };
                prop_assert_eq!(item.edited, (*item.view != View::AsRecorded).then_some(sizes));
            }
        }

        #[test]
        fn no_delta_panics_and_none_is_taken_in_part(
            kept in (0u32..8, 0u32..8),
            names in (vec(0u8..8, 0..6), vec(0u8..8, 0..6)),
        ) {
            let mirror = session([u("1"), a("2"), r("c", "3"), edit("e2"), n("5")]);
            let branch = entries(names.0.iter().map(|name| u("x").id(&format!("e{name}"))));
            let context = names.1.iter().map(|name| visible(&format!("e{name}"))).collect();
            let mut after = mirror.clone();
            if after.update(delta(kept.0, branch, kept.1, context)).is_err() {
                prop_assert_eq!(&after, &mirror);
            } else {
                let walked = after.projection().iter().filter(|item| item.shown().is_some()).count();
                prop_assert!(walked <= after.projection().len());
                prop_assert_eq!(after.branch().len(), kept.0 as usize + names.0.len());
            }
        }
    }
}
