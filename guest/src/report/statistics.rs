//! What the guard has saved, read back from the session on every call.
//!
//! No figure is kept, so they follow branch changes, reloads and compactions by themselves. Only the sizes of edited
//! entries are, in the mirror, so that the figures cost no walk over the texts.

use crate::contract::types::{Block, EntryBody, Message, View};
use crate::session::{Mirror, Phase, Projected, content_size, prompts_on_branch, recorded};
use crate::text::{MARKER, tokens};

/// Starts the text that stands for an omitted exchange.
const OMITTED_EXCHANGE: &str = "[context-guard] Omitted an earlier exchange";

/// Figures of one moment. Sizes are in characters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Outputs that stand in the context in part or as a note.
    pub distilled_outputs: usize,
    /// Results that stand in the context without their images.
    pub image_results: usize,
    /// Exchanges that stand in the context as a note.
    pub omitted_exchanges: usize,
    /// By how much the context is smaller now.
    pub saved_chars: usize,
    /// What all passes on the branch saved, also where a compaction has dropped their edits since.
    pub lifetime_chars: usize,
    /// A compaction came after a pass that saved something.
    pub compacted: bool,
    /// Passes at run end.
    pub run_ends: usize,
    /// Passes at a checkpoint.
    pub checkpoints: usize,
    /// Classifier requests.
    pub requests: u64,
    /// What they cost, in US dollars.
    pub cost_usd: f64,
}

impl Statistics {
    /// Reads the figures.
    ///
    /// No text is looked into, so that a long session costs little: this runs after every call.
    pub fn of(mirror: &Mirror) -> Statistics {
        let mut statistics = Statistics::default();
        statistics.read_context(mirror);
        statistics.read_records(mirror);
        statistics
    }

    /// Estimates the tokens by which the context is smaller now.
    pub fn saved_tokens(&self) -> usize {
        tokens(self.saved_chars)
    }

    /// Estimates the tokens that all passes saved.
    pub fn lifetime_tokens(&self) -> usize {
        tokens(self.lifetime_chars)
    }

    /// Counts the entries that stand in the context as less than they were.
    pub fn count(&self) -> usize {
        self.distilled_outputs + self.image_results + self.omitted_exchanges
    }

    fn read_context(&mut self, mirror: &Mirror) {
        let mut prompts = None;
        for item in mirror.projection().iter() {
            let (View::Replaced(now), Some(sizes)) = (item.view, item.edited) else { continue };
            let EntryBody::Message(message) = &item.entry.body else { continue };
            match message {
                Message::ToolResult(result) if edited(&item, &result.blocks, now, MARKER) => {
                    if has_images(&result.blocks) && !has_images(now) {
                        self.image_results += 1;
                    } else {
                        self.distilled_outputs += 1;
                    }
                    self.save(sizes.recorded, sizes.shown);
                }
                Message::User(blocks) if edited(&item, blocks, now, OMITTED_EXCHANGE) => {
                    self.omitted_exchanges += 1;
                    let prompts = prompts.get_or_insert_with(|| prompts_on_branch(mirror.branch()));
                    let before = sizes.recorded.saturating_add(gone(mirror, item.position, prompts));
                    self.save(before, sizes.shown);
                }
                _ => {}
            }
        }
    }

    fn save(&mut self, before: usize, after: usize) {
        self.saved_chars = self.saved_chars.saturating_add(before.saturating_sub(after));
    }

    fn read_records(&mut self, mirror: &Mirror) {
        let mut saving = None;
        for (position, record) in mirror.records() {
            match record.phase {
                Phase::RunEnd => self.run_ends += 1,
                Phase::MidRun => self.checkpoints += 1,
            }
            self.requests = self.requests.saturating_add(record.requests);
            self.cost_usd += record.cost_usd;
            if record.saved_chars > 0 {
                saving.get_or_insert(*position);
                let saved = usize::try_from(record.saved_chars).unwrap_or(usize::MAX);
                self.lifetime_chars = self.lifetime_chars.saturating_add(saved);
            }
        }
        self.compacted = saving
            .and_then(|first| mirror.branch().get(first..))
            .is_some_and(|later| later.iter().any(|entry| matches!(entry.body, EntryBody::Compaction(_))));
    }
}

/// Returns whether the text begins with `start` through an edit of the guard.
///
/// An output may begin with the marker on its own account; then the branch must tell that the edit is ours.
fn edited(item: &Projected<'_>, raw: &[Block], now: &[Block], start: &str) -> bool {
    starts_with(now, start) && (!starts_with(raw, MARKER) || item.ours())
}

/// Returns whether the text of these blocks starts so; `start` has no line break, so the first text tells.
fn starts_with(blocks: &[Block], start: &str) -> bool {
    let text = blocks.iter().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    text.is_some_and(|text| text.starts_with(start))
}

fn has_images(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Image(_)))
}

/// Returns the size of what is no longer shown between a prompt and the next one.
fn gone(mirror: &Mirror, prompt: usize, prompts: &[usize]) -> usize {
    let next = prompts.get(prompts.partition_point(|&at| at <= prompt)).copied();
    let end = next.unwrap_or(mirror.branch().len());
    let exchange = mirror.branch().get(prompt + 1..end).unwrap_or_default();
    let sizes = exchange.iter().filter_map(|entry| {
        match mirror.index(&entry.id).and_then(|index| mirror.projection().get(index)) {
            Some(item) => matches!(item.view, View::Omitted).then_some(item.edited?.recorded),
            // A part that the host shows in no way; there is hardly ever one behind a prompt that is shown.
            None => recorded(entry).map(|recorded| content_size(recorded.blocks)),
        }
    });
    sizes.fold(0, usize::saturating_add)
}
