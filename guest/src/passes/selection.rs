//! What one pass judges, puts back and removes.

use super::recalled::Lift;
use crate::contract::sessions::Edit;
use crate::items::{OldExchange, OldImage, SmallOutput};
use crate::outputs::Candidate;
use crate::session::Mirror;
use crate::text::units;

/// The items of a pass, each kind in the order of the session.
#[derive(Default)]
pub(super) struct Selection<'a> {
    pub(super) large: Vec<LargeOutput<'a>>,
    pub(super) small: Vec<SmallOutput<'a>>,
    pub(super) exchanges: Vec<OldExchange<'a>>,
    pub(super) images: Vec<OldImage<'a>>,
    pub(super) lifts: Vec<Lift>,
}

/// A large output with what its question tells besides.
pub(super) struct LargeOutput<'a> {
    pub(super) output: Candidate<'a>,
    /// Why it is out of date, where that is told.
    pub(super) superseded: Option<String>,
}

impl Selection<'_> {
    /// Returns whether there is nothing to judge and nothing to remove.
    pub(super) fn judges_nothing(&self) -> bool {
        self.large.is_empty() && self.small.is_empty() && self.exchanges.is_empty() && self.images.is_empty()
    }

    /// Adds up the characters that are judged, and those that go with images.
    pub(super) fn chars(&self) -> u64 {
        let large = self.large.iter().map(|large| units(&large.output.text));
        let small = self.small.iter().map(SmallOutput::length);
        let exchanges = self.exchanges.iter().map(OldExchange::chars);
        let images = self.images.iter().map(OldImage::saved_chars);
        let sizes = large.chain(small).chain(exchanges).chain(images);
        sizes.map(|chars| chars as u64).fold(0, u64::saturating_add)
    }

    /// Returns the index in the projection of the earliest entry that could change.
    pub(super) fn first(&self, mirror: &Mirror) -> Option<usize> {
        let large = self.large.iter().map(|large| large.output.entry);
        let small = self.small.iter().map(|small| small.output().entry);
        let exchanges = self.exchanges.iter().map(|old| old.prompt_id);
        let images = self.images.iter().map(|image| image.entry);
        let judged = large.chain(small).chain(exchanges).chain(images);
        let lifts = self.lifts.iter().filter_map(|lift| first_edited(mirror, &lift.judgement.edits));
        judged.filter_map(|id| mirror.index(id)).chain(lifts).min()
    }
}

/// Returns the index in the projection of the earliest entry that edits change.
pub(super) fn first_edited(mirror: &Mirror, edits: &[Edit]) -> Option<usize> {
    edits.iter().filter_map(|edit| mirror.index(&edit.target)).min()
}
