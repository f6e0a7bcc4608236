//! What hooks look up in the context without walking it: sizes, replies, images, exchanges.
//!
//! A hook with nothing to do runs after every turn, so it must not cost more in a longer session. Everything here is
//! kept up to date as the context grows, and equals what a walk over the projection would find.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use super::message::{Kind, Shown};
use super::projection::{Place, shown};
use super::run::under_way;
use crate::contract::types::{Block, Entry, ToolCall, ToolResult};

/// Figures about the context, by index in the projection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    /// Of every entry: the size of all before it. Sums of what a host only tells need more than 32 bits.
    before: Vec<u64>,
    total: u64,
    replies: Vec<usize>,
    thinking: Vec<usize>,
    images: Vec<usize>,
    altered: Vec<usize>,
    exchanges: Vec<Extent>,
    /// By id of a call: the replies that made it, since ids are not unique in every provider's sessions.
    made: HashMap<String, Vec<usize>>,
    /// A user message that came next would continue the work under way.
    steered: bool,
}

/// Where an exchange lies, a prompt and everything up to the next one, and what it amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// Index of the prompt.
    pub start: usize,
    /// Position of the prompt on the branch.
    pub position: usize,
    /// Visible messages, the prompt included.
    pub messages: usize,
    /// Size of all of them that edits can reach.
    pub chars: usize,
    /// The last reply calls nothing.
    pub finished: bool,
    /// Index of the first result that has its call outside, or of the first one outside of a call in it.
    torn: Option<usize>,
}

impl Extent {
    /// Returns whether a call in it has its result outside, or a result its call.
    pub fn is_torn(&self) -> bool {
        self.torn.is_some()
    }

    fn add(&mut self, shown: &Shown<'_>, size: usize) {
        self.messages += 1;
        if !matches!(shown.kind, Kind::Summary(_) | Kind::Fixed(_)) {
            self.chars = self.chars.saturating_add(size);
        }
        if shown.assistant().is_some() {
            self.finished = calls(shown).next().is_none();
        }
    }
}

impl Outline {
    /// Returns the size of the context from that index on, in characters; 0 beyond its end.
    pub fn size_from(&self, index: usize) -> usize {
        let before = self.before.get(index).copied().unwrap_or(self.total);
        usize::try_from(self.total - before).unwrap_or(usize::MAX)
    }

    /// Returns the indices of the replies that the model sees, oldest first.
    pub fn replies(&self) -> &[usize] {
        &self.replies
    }

    /// Returns the number of replies behind that index.
    pub fn replies_after(&self, index: usize) -> usize {
        self.replies.len() - self.replies.partition_point(|&reply| reply <= index)
    }

    /// Returns the indices of the replies with signed thinking, oldest first.
    pub fn thinking(&self) -> &[usize] {
        &self.thinking
    }

    /// Returns the indices of the tool results that show images, oldest first.
    pub fn images(&self) -> &[usize] {
        &self.images
    }

    /// Returns the indices in that range of the entries of which the model sees other blocks than the recorded ones.
    pub fn altered(&self, range: &Range<usize>) -> &[usize] {
        let place = |index| self.altered.partition_point(|&altered| altered < index);
        self.altered.get(place(range.start)..place(range.end)).unwrap_or_default()
    }

    /// Returns the exchanges, oldest first. Steering messages open none, and the last one is the run.
    pub fn exchanges(&self) -> &[Extent] {
        &self.exchanges
    }

    /// Returns the index of the nearest reply before `index` that made a call of that id.
    pub fn reply_calling(&self, id: &str, index: usize) -> Option<usize> {
        let replies = self.made.get(id)?;
        let before = replies.partition_point(|&reply| reply < index);
        replies.get(before.checked_sub(1)?).copied()
    }

    /// Adds the next entry of the context.
    pub(super) fn push(&mut self, branch: &[Entry], place: &Place) {
        let index = self.before.len();
        self.before.push(self.total);
        self.total = self.total.saturating_add(place.size as u64);
        if place.altered {
            self.altered.push(index);
        }
        let Some(shown) = shown(&branch[place.position], &place.view) else { return };
        if shown.is_user() && !self.steered {
            self.exchanges.push(Extent { start: index, position: place.position, ..Extent::default() });
        }
        self.steered = under_way(&shown).unwrap_or(self.steered);
        match shown.kind {
            Kind::Assistant(_) => self.add_reply(index, &shown),
            Kind::ToolResult(result) => self.add_result(index, result, shown.blocks),
            _ => {}
        }
        if let Some(exchange) = self.exchanges.last_mut() {
            exchange.add(&shown, place.size);
        }
    }

    fn add_reply(&mut self, index: usize, shown: &Shown<'_>) {
        self.replies.push(index);
        let signed = |block: &Block| matches!(block, Block::Thinking(it) if it.signature_length > 0);
        if shown.blocks.iter().any(signed) {
            self.thinking.push(index);
        }
        for call in calls(shown) {
            let replies = self.made.entry(call.id.clone()).or_default();
            if replies.last() != Some(&index) {
                replies.push(index);
            }
        }
    }

    fn add_result(&mut self, index: usize, result: &ToolResult, blocks: &[Block]) {
        if blocks.iter().any(|block| matches!(block, Block::Image(_))) {
            self.images.push(index);
        }
        // Before the first prompt there is no exchange: a call and its result are together there as well.
        let call = self.reply_calling(&result.call_id, index).map(|reply| self.exchange_at(reply));
        let own = self.exchange_at(index);
        if call != Some(own) {
            for at in [call.flatten(), own].into_iter().flatten() {
                self.exchanges[at].torn.get_or_insert(index);
            }
        }
    }

    /// Returns which exchange the entry at that index is a part of.
    fn exchange_at(&self, index: usize) -> Option<usize> {
        self.exchanges.partition_point(|exchange| exchange.start <= index).checked_sub(1)
    }

    /// Drops what comes from that index on; `branch` and `places` are what they were so far.
    ///
    /// The exchange that is cut is added anew, as far as it stays: that costs no more than it is long.
    pub(super) fn truncate(&mut self, keep: usize, branch: &[Entry], places: &[Place]) {
        if keep >= places.len() {
            return;
        }
        let whole = self.exchanges.partition_point(|exchange| exchange.start < keep).checked_sub(1);
        let from = whole.and_then(|cut| self.exchanges.get(cut)).map_or(0, |cut| cut.start);
        for place in &places[from..] {
            let Some(shown) = shown(&branch[place.position], &place.view) else { continue };
            for call in calls(&shown) {
                self.forget(&call.id, from);
            }
        }
        self.total = self.before.get(from).copied().unwrap_or(self.total);
        self.before.truncate(from);
        for indices in [&mut self.replies, &mut self.thinking, &mut self.images, &mut self.altered] {
            indices.truncate(indices.partition_point(|&index| index < from));
        }
        self.exchanges.truncate(whole.unwrap_or(0));
        for exchange in &mut self.exchanges {
            exchange.torn = exchange.torn.filter(|&result| result < from);
        }
        // It begins with its prompt, which steers nothing; and nothing is under way before the first entry.
        self.steered = false;
        for place in &places[from..keep] {
            self.push(branch, place);
        }
    }

    fn forget(&mut self, id: &str, from: usize) {
        if let Some(replies) = self.made.get_mut(id) {
            replies.truncate(replies.partition_point(|&reply| reply < from));
            if replies.is_empty() {
                self.made.remove(id);
            }
        }
    }
}

fn calls<'a>(shown: &Shown<'a>) -> impl Iterator<Item = &'a ToolCall> {
    shown.blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call),
        _ => None,
    })
}
