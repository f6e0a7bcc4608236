//! What the model asked back during the run. Asked once, it is left alone; asked twice, it is put back.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::gates::signed;
use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Block, Entry, EntryBody, Message, ToolCall, View};
use crate::items::{Judgement, OldExchange};
use crate::label;
use crate::session::{
    ItemKind, ItemOutcome, ItemResult, Mirror, Projected, Shown, message_size, start_on_branch,
};

/// Why an item is kept whose original was put back.
const REASON: &str = "recalled";

/// How often each entry was asked back in the newest run.
pub(super) struct Recalled<'a> {
    /// By id. What went with its exchange counts for that as well, since it cannot come back alone.
    counts: HashMap<&'a str, usize>,
    /// By the id of an entry that an exchange took with it: the id of its prompt.
    prompts: HashMap<&'a str, &'a str>,
}

/// An original that comes back.
pub(super) struct Lift {
    /// The edits that put it back, and what the record tells of it.
    pub(super) judgement: Judgement,
    /// Characters that the context grows by; negative where a file holds a replacement that is longer than its original.
    pub(super) grown: i64,
}

impl<'a> Recalled<'a> {
    /// Counts the calls of `recall` on the branch since the run's prompt, as far as they were answered: one that
    /// failed, or was never made, gave nothing back.
    pub(super) fn of(mirror: &'a Mirror) -> Recalled<'a> {
        let given = given_back(mirror);
        // Most runs recall nothing, and the records of a long session are many.
        if given.is_empty() {
            return Recalled { counts: HashMap::new(), prompts: HashMap::new() };
        }
        let records = mirror.records().iter().flat_map(|(_, record)| &record.results);
        let exchanges = records.filter(|result| result.kind == ItemKind::Exchange);
        let prompts: HashMap<&str, &str> = exchanges
            .flat_map(|result| result.omitted.iter().map(|id| (id.as_str(), result.entry_id.as_str())))
            .collect();
        let mut counts = HashMap::new();
        for id in given {
            *counts.entry(id).or_default() += 1;
            if let Some(prompt) = prompts.get(id) {
                *counts.entry(*prompt).or_default() += 1;
            }
        }
        Recalled { counts, prompts }
    }

    /// Returns whether the model asked for that entry, or for the exchange that it came back with.
    pub(super) fn holds(&self, id: &str) -> bool {
        let prompt = self.prompts.get(id);
        self.counts.contains_key(id) || prompt.is_some_and(|prompt| self.counts.contains_key(prompt))
    }

    /// Returns whether the model asked for that exchange, or for a part of it.
    pub(super) fn holds_part_of(&self, exchange: &OldExchange<'_>) -> bool {
        !self.counts.is_empty()
            && std::iter::once(exchange.prompt_id).chain(exchange.omitted()).any(|id| self.holds(id))
    }

    /// Puts back what was asked for twice: the recorded blocks, for an exchange in all its entries.
    pub(super) fn lifts(&self, mirror: &'a Mirror) -> Vec<Lift> {
        let often = self.counts.iter().filter(|(_, count)| **count > 1);
        let mut often: Vec<usize> = often.filter_map(|(id, _)| mirror.index(id)).collect();
        often.sort_unstable();
        let items = often.into_iter().filter_map(|index| mirror.projection().get(index));
        items.filter_map(|item| lift(mirror, item)).collect()
    }
}

/// Returns the ids of the entries that answered calls of `recall` gave back since the run's prompt, in order.
fn given_back(mirror: &Mirror) -> Vec<&str> {
    let start = start_on_branch(mirror.branch()).unwrap_or(mirror.branch().len());
    let mut asked: HashMap<&str, &Entry> = HashMap::new();
    let mut given = vec![];
    for entry in mirror.branch().get(start..).unwrap_or_default() {
        match &entry.body {
            EntryBody::Message(Message::Assistant(reply)) => {
                for call in reply.blocks.iter().filter_map(as_recall) {
                    asked.remove(call.id.as_str());
                    asked.extend(target(mirror, call).map(|target| (call.id.as_str(), target)));
                }
            }
            EntryBody::Message(Message::ToolResult(result)) if !result.is_error => {
                given.extend(asked.remove(result.call_id.as_str()).map(|entry| entry.id.as_str()));
            }
            _ => {}
        }
    }
    given
}

/// Lifts the guard's edit of an entry, and of those that went with it.
///
/// What is merely omitted went with another entry, and comes back with that one only.
fn lift<'a>(mirror: &'a Mirror, item: Projected<'a>) -> Option<Lift> {
    if !item.ours() || matches!(item.view, View::Omitted) {
        return None;
    }
    let result = newest(mirror, item.id())?;
    let mut entries = vec![item];
    for id in &result.omitted {
        let other = mirror.projection().get(mirror.index(id)?)?;
        // Where somebody else has omitted a part since, the rest could be a call without its result.
        match other.view {
            View::Omitted if !other.ours() => return None,
            View::Omitted => entries.push(other),
            View::AsRecorded | View::Replaced(_) => {}
        }
    }
    // No edit can put back what holds no block. An empty reply stays omitted; a call must not come back without its
    // empty result.
    let empty = |entry: &Projected<'_>| entry.recorded().is_none_or(|recorded| recorded.blocks.is_empty());
    if entries.iter().any(|entry| empty(entry) && !is_reply(entry)) {
        return None;
    }
    entries.retain(|entry| !empty(entry));
    let size = |blocks: fn(&Projected<'a>) -> Option<Shown<'a>>| {
        let sizes = entries.iter().filter_map(blocks).map(|shown| message_size(&shown) as u64);
        sizes.fold(0, u64::saturating_add)
    };
    let (whole, left) = (size(Projected::recorded), size(Projected::shown));
    let judgement = Judgement {
        edits: entries.iter().filter_map(put_back).collect(),
        result: ItemResult {
            outcome: ItemOutcome::Kept,
            reason: REASON.into(),
            omitted: vec![],
            before_chars: whole,
            after_chars: whole,
            jev: vec![],
            ..result.clone()
        },
    };
    Some(Lift { judgement, grown: signed(whole).saturating_sub(signed(left)) })
}

fn is_reply(entry: &Projected<'_>) -> bool {
    entry.recorded().is_some_and(|recorded| recorded.assistant().is_some())
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

fn as_recall(block: &Block) -> Option<&ToolCall> {
    match block {
        Block::ToolCall(call) if call.name == "recall" => Some(call),
        _ => None,
    }
}

/// Returns the entry that a call of `recall` names.
fn target<'a>(mirror: &'a Mirror, call: &ToolCall) -> Option<&'a Entry> {
    let arguments = label::object(Some(&call.arguments));
    mirror.entry(arguments.get("entryId")?.as_str()?.trim())
}
