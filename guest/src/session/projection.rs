//! The model's context, entry by entry: what was recorded, and what the model sees of it.

use std::collections::HashMap;

use super::message::{Kind, Shown, text_of};
use super::ownership::Ownership;
use super::size::content_size;
use crate::contract::types::{Block, Entry, EntryBody, Message, View};
use crate::text::MARKER;

/// Where an entry of the context stands on the branch, and how it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) position: usize,
    pub(super) view: View,
    edited: Option<Sizes>,
}

impl Place {
    /// Puts the entry at that position of the branch into the context.
    pub(super) fn new(branch: &[Entry], position: usize, view: View) -> Self {
        let recorded = || content_size(recorded(&branch[position]).map_or(&[], |shown| shown.blocks));
        let edited = match &view {
            View::AsRecorded => None,
            View::Omitted => Some(Sizes { recorded: recorded(), shown: 0 }),
            View::Replaced(blocks) => Some(Sizes { recorded: recorded(), shown: content_size(blocks) }),
        };
        Place { position, view, edited }
    }
}

/// Sizes of an edited message's blocks, in characters.
///
/// They are taken once, since figures made of them are drawn after every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// As recorded.
    pub recorded: usize,
    /// As the model sees them; 0 where it sees none.
    pub shown: usize,
}

/// The entries of the context in its order, omitted ones included; a view of the mirror that costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Projection<'a> {
    /// Every place of `places` lies on it, since `Mirror::update` refuses a delta that would break that.
    pub(super) branch: &'a [Entry],
    pub(super) positions: &'a HashMap<String, usize>,
    pub(super) places: &'a [Place],
    pub(super) ownership: &'a Ownership,
}

impl<'a> Projection<'a> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the entry at that index.
    pub fn get(&self, index: usize) -> Option<Projected<'a>> {
        self.places.get(index).map(|place| self.projected(place))
    }

    /// Walks the entries, oldest first.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = Projected<'a>> + ExactSizeIterator + Clone + use<'a> {
        let projection = *self;
        self.places.iter().map(move |place| projection.projected(place))
    }

    /// Returns the entries before that index; all where the index lies beyond the end.
    pub fn before(&self, index: usize) -> Projection<'a> {
        Projection { places: &self.places[..index.min(self.places.len())], ..*self }
    }

    /// Returns the entries after that index; none where the index lies beyond the end.
    pub fn after(&self, index: usize) -> Projection<'a> {
        Projection { places: self.places.get(index.saturating_add(1)..).unwrap_or_default(), ..*self }
    }

    /// Returns the index of the last user message, steering ones included.
    ///
    /// The search goes from the end, so that a long session costs no more than its last run.
    pub fn last_user(&self) -> Option<usize> {
        self.iter().rposition(|item| item.shown().is_some_and(|shown| shown.is_user()))
    }

    /// Returns the branch that the entries stand on, root first.
    pub fn branch(&self) -> &'a [Entry] {
        self.branch
    }

    /// Returns the position of an entry on the branch, whether it is part of the context or not.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    fn projected(&self, place: &'a Place) -> Projected<'a> {
        Projected {
            entry: &self.branch[place.position],
            position: place.position,
            view: &place.view,
            edited: place.edited,
            ownership: self.ownership,
        }
    }
}

/// An entry of the context with its present view.
#[derive(Clone, Copy, Debug)]
pub struct Projected<'a> {
    /// The entry as the host recorded it.
    pub entry: &'a Entry,
    /// Its position on the branch.
    pub position: usize,
    /// How it stands in the context now.
    pub view: &'a View,
    /// Its sizes, where it does not stand there as recorded.
    pub edited: Option<Sizes>,
    ownership: &'a Ownership,
}

impl<'a> Projected<'a> {
    /// Returns the entry's id.
    pub fn id(&self) -> &'a str {
        &self.entry.id
    }

    /// Returns the message that the model sees; none for an omitted entry and for one that is no message.
    pub fn shown(&self) -> Option<Shown<'a>> {
        match self.view {
            View::AsRecorded => recorded(self.entry),
            View::Omitted => None,
            View::Replaced(blocks) => recorded(self.entry).map(|shown| Shown { blocks, ..shown }),
        }
    }

    /// Returns the message as recorded; none for an entry that is no message.
    pub fn recorded(&self) -> Option<Shown<'a>> {
        recorded(self.entry)
    }

    /// Returns whether the guard's own edit is in force: a pass of it made the entry's latest edit, and what
    /// the model sees is nothing, or starts with the marker.
    pub fn ours(&self) -> bool {
        let marked = match self.view {
            View::AsRecorded => false,
            View::Omitted => true,
            View::Replaced(blocks) => text_of(blocks).starts_with(MARKER),
        };
        marked && self.ownership.holds(self.id())
    }

    /// Returns whether the model sees other blocks than the recorded ones, or none at all.
    pub fn altered(&self) -> bool {
        match self.view {
            View::AsRecorded => false,
            View::Omitted => true,
            View::Replaced(blocks) => {
                recorded(self.entry).is_none_or(|recorded| recorded.blocks != blocks.as_slice())
            }
        }
    }

    /// Returns whether the model reads another text than the recorded one; how it is spread over blocks does
    /// not matter.
    pub fn text_altered(&self) -> bool {
        self.altered()
            && match (self.shown(), self.recorded()) {
                (Some(shown), Some(recorded)) => shown.text() != recorded.text(),
                _ => true,
            }
    }

    /// Returns whether somebody else omitted or rewrote the entry, so that the guard could not bring back what
    /// the model sees of it now.
    pub fn foreign(&self) -> bool {
        self.altered() && !self.ours()
    }
}

/// Returns what an entry holds as recorded; none for an entry that the model never sees.
pub(crate) fn recorded(entry: &Entry) -> Option<Shown<'_>> {
    const NOTHING: &[Block] = &[];
    let (kind, blocks) = match &entry.body {
        EntryBody::Message(message) => match message {
            Message::User(blocks) => (Kind::User, blocks.as_slice()),
            Message::Assistant(assistant) => (Kind::Assistant(assistant), assistant.blocks.as_slice()),
            Message::ToolResult(result) => (Kind::ToolResult(result), result.blocks.as_slice()),
            Message::Note(note) => (Kind::Note(note), note.blocks.as_slice()),
            Message::Fixed(length) => (Kind::Fixed(*length), NOTHING),
        },
        EntryBody::Compaction(summary) | EntryBody::BranchSummary(summary) => {
            (Kind::Summary(summary), NOTHING)
        }
        EntryBody::Edit(_) | EntryBody::GuardRecord(_) | EntryBody::Other => return None,
    };
    Some(Shown { kind, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixtures::*;

    #[test]
    fn l7_a_line_that_another_extension_added_alters_the_text() {
        let mirror = session([r("c1", "one\ntwo").replaced("one\ntwo\nthree")]);
        let item = mirror.projection().get(0).unwrap();
        assert!(item.altered() && item.text_altered() && item.foreign());
    }

    #[test]
    fn the_same_text_in_other_blocks_is_altered_but_reads_the_same() {
        let blocks = ["one", "two"].map(|text| Block::Text(text.into()));
        let mirror = session([r("c1", "one\ntwo").replaced_by(blocks)]);
        let item = mirror.projection().get(0).unwrap();
        assert!(item.altered() && !item.text_altered());
    }

    #[test]
    fn recorded_blocks_put_back_are_not_foreign() {
        let mirror = session([r("c1", "one").replaced("one"), edit("e0")]);
        assert!(!mirror.projection().get(0).unwrap().foreign());
    }

    #[test]
    fn e5_an_omission_by_somebody_else_is_foreign_and_e6_our_text_is_not() {
        let mut items = vec![r("c1", "one").omitted(), r("c2", "two").replaced("[context-guard] Omitted …")];
        items.extend(guard_pass(&[("e1", "removed")]));
        let mirror = session(items);
        let foreign: Vec<_> = mirror.projection().iter().map(|item| item.foreign()).collect();
        assert_eq!(foreign, [true, false]);
    }

    #[test]
    fn slices_keep_to_the_ends() {
        let mirror = session([u("a"), u("b"), u("c")]);
        let ids =
            |projection: Projection<'_>| projection.iter().map(|item| item.position).collect::<Vec<_>>();
        let all = mirror.projection();
        assert_eq!((ids(all.before(1)), ids(all.after(1))), (vec![0], vec![2]));
        assert_eq!((ids(all.before(9)), ids(all.after(9))), (vec![0, 1, 2], vec![]));
        assert_eq!(ids(all.after(usize::MAX)), [0; 0]);
    }

    #[test]
    fn the_last_user_message_may_be_a_steering_one_but_not_an_omitted_one() {
        let mirror =
            session([u("p"), a("").call("c1", "bash", "{}"), r("c1", "x"), u("s"), u("t").omitted()]);
        assert_eq!(mirror.projection().last_user(), Some(3));
        assert_eq!(session([a("hi")]).projection().last_user(), None);
    }
}
