//! What the model asked back during the run. Asked once, it is left alone; asked twice, it is put back.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Block, EntryBody, Message};
use crate::items::Judgement;
use crate::session::{ItemOutcome, ItemResult, Mirror, Projected, Shown, message_size, start_on_branch};

/// Why an item is kept whose original was put back.
pub(super) const REASON: &str = "recalled";

/// How often each item was asked back in the newest run, by the id that its record names it with.
pub(super) struct Recalled<'a> {
    counts: HashMap<&'a str, usize>,
}

impl<'a> Recalled<'a> {
    /// Counts the calls of `recall` on the branch since the run's prompt.
    ///
    /// An entry that went with its exchange counts as the exchange: it cannot come back alone.
    pub(super) fn of(mirror: &'a Mirror) -> Recalled<'a> {
        let start = start_on_branch(mirror.branch()).unwrap_or(mirror.branch().len());
        let run = mirror.branch().get(start..).unwrap_or_default();
        let asked = run.iter().filter_map(|entry| match &entry.body {
            EntryBody::Message(Message::Assistant(reply)) => Some(&reply.blocks),
            _ => None,
        });
        let asked = asked.flatten().filter_map(|block| match block {
            Block::ToolCall(call) if call.name == "recall" => {
                let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).ok()?;
                mirror.entry(arguments.get("entryId")?.as_str()?.trim())
            }
            _ => None,
        });
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for result in mirror.records().iter().flat_map(|(_, record)| &record.results) {
            owners.extend(result.omitted.iter().map(|id| (id.as_str(), result.entry_id.as_str())));
        }
        let mut counts = HashMap::new();
        for entry in asked {
            let id = owners.get(entry.id.as_str()).copied().unwrap_or(entry.id.as_str());
            *counts.entry(id).or_default() += 1;
        }
        Recalled { counts }
    }

    /// Returns whether the model asked for that entry, or for a part of that exchange.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.counts.contains_key(id)
    }

    /// Puts back what was asked for twice: the recorded blocks, for an exchange in all its entries. Each comes with
    /// the characters that the context grows by.
    pub(super) fn lifts(&self, mirror: &'a Mirror) -> Vec<(Judgement, u64)> {
        let projection = mirror.projection();
        let ours = |id: &str| mirror.index(id).and_then(|at| projection.get(at)).filter(Projected::ours);
        let mut lifts = vec![];
        for item in projection.iter() {
            let often = self.counts.get(item.id()).is_some_and(|count| *count > 1);
            let Some(result) = newest(mirror, item.id()).filter(|_| often && item.ours()) else { continue };
            let rest = result.omitted.iter().filter_map(|id| ours(id));
            let entries: Vec<Projected<'_>> = std::iter::once(item).chain(rest).collect();
            let size = |blocks: fn(&Projected<'a>) -> Option<Shown<'a>>| -> usize {
                entries.iter().filter_map(blocks).map(|shown| message_size(&shown)).sum()
            };
            let (whole, left) = (size(Projected::recorded), size(Projected::shown));
            let judgement = Judgement {
                edits: entries.iter().filter_map(put_back).collect(),
                result: ItemResult {
                    outcome: ItemOutcome::Kept,
                    reason: REASON.into(),
                    omitted: vec![],
                    before_chars: whole as u64,
                    after_chars: whole as u64,
                    jev: vec![],
                    ..result.clone()
                },
            };
            lifts.push((judgement, whole.saturating_sub(left) as u64));
        }
        lifts
    }
}

/// Returns what the newest record that edited an item tells of it.
fn newest<'a>(mirror: &'a Mirror, id: &str) -> Option<&'a ItemResult> {
    let results = mirror.records().iter().rev().flat_map(|(_, record)| &record.results);
    results.filter(|result| result.outcome != ItemOutcome::Kept).find(|result| result.entry_id == id)
}

fn put_back(entry: &Projected<'_>) -> Option<Edit> {
    let blocks = entry.recorded()?.blocks.len();
    let parts = (0..u32::try_from(blocks).ok()?).map(Part::Recorded).collect();
    Some(Edit { target: entry.id().to_owned(), replacement: Some(parts) })
}
