//! Items that are judged as a whole: smaller outputs of a run, earlier exchanges, and images that have grown old.
//!
//! [`small_outputs`], [`old_exchanges`] and [`old_images`] find them. A [`Plan`] asks about outputs and exchanges
//! in batches, one question each, and judges the replies; of images the age alone decides, so nothing is asked
//! about them. All of it is computation on what is handed in.

mod batch;
mod exchange;
mod image;
mod memo;
mod question;
mod small;
mod superseded;
#[cfg(test)]
mod tests;

pub use self::batch::{Missing, Plan, Whole};
pub use self::exchange::{OldExchange, old_exchanges};
pub use self::image::{OldImage, old_images, unless_edited};
pub use self::memo::{judged_exchanges, judged_outputs};
pub use self::small::{SmallOutput, due_at_checkpoint, small_outputs};
pub use self::superseded::Calls;

use crate::contract::sessions::Edit;
use crate::session::{ItemOutcome, ItemResult};

/// The judgement on one item: the edits that carry it out, and what the record tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// One per entry that changes; none where the item is kept.
    pub edits: Vec<Edit>,
    /// What became of the item. Lengths are in characters as the model's context counts them.
    pub result: ItemResult,
}

impl Judgement {
    /// Returns the characters that its edits save.
    pub fn saved_chars(&self) -> u64 {
        self.result.before_chars.saturating_sub(self.result.after_chars)
    }

    /// Keeps the item after all, since its edits do not pay for now. The answer stays on record, and so does a request
    /// that failed, so that the item counts as judged only where all of it was.
    ///
    /// Does nothing to an item that is kept anyway.
    pub fn defer(&mut self) {
        if self.result.outcome == ItemOutcome::Kept {
            return;
        }
        self.edits.clear();
        self.result.omitted.clear();
        self.result.outcome = ItemOutcome::Kept;
        let failures = self.result.reason.split(',').filter(|word| memo::is_failure(word));
        self.result.reason = std::iter::once("deferred").chain(failures).collect::<Vec<_>>().join(",");
        self.result.after_chars = self.result.before_chars;
    }
}
