//! What edits cost and saved, as far as the provider's numbers tell.
//!
//! The numbers of the requests around an edit are the provider's. What these requests would have been without the edit is
//! an estimate, see [`Seen`].

#[cfg(test)]
mod tests;

use super::rates::Rates;
use crate::contract::types::{
    Assistant, CacheScheme, Entry, EntryBody, Message, Model, Prices, StopReason, Timestamp, Usage,
};
use crate::session::{Mirror, Record, message_size, recorded};

/// Tokens per character where the session does not tell: four characters make a token, as everywhere in the guard.
const USUAL_TOKENS: f64 = 0.25;

/// From how many characters on the session itself tells its tokens per character. Fewer are mostly the frame around
/// messages.
const ENOUGH_CHARS: f64 = 4_000.0;

/// Beyond these tokens per character something else than the characters moved the numbers. English prose makes about
/// 0.25, code 0.4, some scripts more than 1.
const BELIEVABLE: std::ops::RangeInclusive<f64> = 0.1..=2.0;

/// How long a cache entry is taken to live where the host did not tell, in seconds: the longest that is usual, since a
/// cache that is taken for expired speaks for the edit.
const LONGEST_LIFE: u32 = 3_600;

/// Passes with edits that the provider met in the same request, and what came of them.
#[derive(Clone, Debug)]
pub struct Observation<'a> {
    /// The passes, oldest first; hardly ever more than one.
    pub passes: Vec<&'a Record>,
    /// What the provider's numbers tell, or why they tell nothing.
    pub outcome: Result<Seen, Unseen>,
}

/// What the provider reported, and what it means. Amounts are in tokens.
///
/// Without the edits each prompt would have been longer by `saved`. The first one after them would have read what the
/// request before had left in the cache, and each later one would have read what was saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Of the last request before the edits.
    pub before: Usage,
    /// Of the first request after them.
    pub after: Usage,
    /// An estimate: by how much each prompt is shorter; negative where originals came back.
    pub saved: f64,
    /// An estimate: how much more of the first request did not come from the cache than without the edits; negative
    /// where it was less.
    pub extra: f64,
    /// The cache had expired before the first request, which would have written all in any case.
    pub expired: bool,
    /// Requests so far in which the edits save, the first one included.
    pub requests: usize,
    /// An estimate: the saving less the cost, where a token that is read from the cache counts 1.
    pub net: f64,
    /// The same in US dollars, where the host told the prices of the model.
    pub net_usd: Option<f64>,
}

/// Why nothing can be said of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unseen {
    /// The provider says nothing of what it read from its cache, or nothing at all.
    Unreported,
    /// The model made no request since.
    NoneSince,
    /// There is no request before it on this branch.
    NoneBefore,
    /// The requests before and after went to different models.
    OtherModel,
    /// A compaction or the summary of another branch came between.
    OtherContext,
}

/// Reads the branch for what became of every pass with edits, oldest first.
///
/// `model` is the one that the host told of last: its prices and the life of its cache count for its requests. For
/// others the usual ratios do.
///
/// This walks the whole branch and sizes its messages: it is for reports, not for the status bar.
pub fn observe<'a>(mirror: &'a Mirror, model: Option<&Model>) -> Vec<Observation<'a>> {
    let history = History::of(mirror.branch());
    let mut edits: Vec<Edits<'a>> = vec![];
    for (position, record) in mirror.records().iter().filter(|(_, record)| has_edits(record)) {
        let next = history.requests.partition_point(|request| request.position < *position);
        match edits.last_mut() {
            Some(last) if last.next == next => last.passes.push(record),
            _ => edits.push(Edits { passes: vec![record], next }),
        }
    }
    let starts: Vec<usize> = edits.iter().map(|edits| edits.next).collect();
    let observe = |edits: Edits<'a>| {
        let outcome = history.see(&edits, &starts, model);
        Observation { passes: edits.passes, outcome }
    };
    edits.into_iter().map(observe).collect()
}

/// Returns whether the pass changed the context. Records of versions that kept no expectations tell by their results.
fn has_edits(record: &Record) -> bool {
    record.expected.is_some() || record.saved_chars != 0 || record.edited().next().is_some()
}

/// Passes whose edits the same request was the first to meet.
struct Edits<'a> {
    passes: Vec<&'a Record>,
    /// Index of that request, whether it was made yet or not.
    next: usize,
}

/// The requests of a branch of which the provider told the size.
struct History<'a> {
    branch: &'a [Entry],
    requests: Vec<Request<'a>>,
    /// Where the context was replaced by a summary.
    compactions: Vec<usize>,
}

struct Request<'a> {
    /// Of its reply.
    position: usize,
    model: &'a str,
    usage: Usage,
    /// The size of what came into the context since the request before; none where something else happened to it.
    grown: Option<usize>,
}

impl<'a> History<'a> {
    fn of(branch: &'a [Entry]) -> Self {
        let mut history = History { branch, requests: vec![], compactions: vec![] };
        let mut grown = None;
        for (position, entry) in branch.iter().enumerate() {
            match &entry.body {
                EntryBody::Edit(_) | EntryBody::BranchSummary(_) => grown = None,
                EntryBody::Compaction(_) => {
                    grown = None;
                    history.compactions.push(position);
                }
                EntryBody::Message(message) => {
                    if let Some((model, usage)) = reported(message) {
                        history.requests.push(Request { position, model, usage, grown });
                        grown = Some(0);
                    }
                    let size = if is_sent(message) { size(entry) } else { 0 };
                    grown = grown.map(|grown: usize| grown.saturating_add(size));
                }
                EntryBody::GuardRecord(_) | EntryBody::Other => {}
            }
        }
        history
    }

    fn see(&self, edits: &Edits<'_>, starts: &[usize], told: Option<&Model>) -> Result<Seen, Unseen> {
        let (before, after) = self.around(edits.next)?;
        let told = told.filter(|told| told.name == after.model);
        let characters: f64 = edits.passes.iter().map(|record| record.saved_chars as f64).sum();
        let saved = characters * self.tokens_per_character(after.model);
        let rates = rates(after.usage, told);
        let life = told.map_or(LONGEST_LIFE, |told| told.cache_lifetime);
        let expired = self.idle(before, after) > u64::from(life) * 1_000;

        let unedited = (prompt(after.usage) + saved).max(0.0);
        let extra =
            if expired { -saved } else { fresh(after.usage) - (unedited - left(before.usage)).max(0.0) };
        let dearer = rates.writes_in_reads();
        let end = self.compactions.partition_point(|&position| position < after.position);
        let end = self.compactions.get(end).copied().unwrap_or(usize::MAX);
        let later = (edits.next + 1..).zip(self.requests.iter().skip(edits.next + 1));
        let (mut requests, mut net) = (1, saved - dearer * extra);
        for (index, request) in later.take_while(|(_, request)| request.position < end) {
            if request.model == after.model {
                // What was saved would have been written again where nothing was read; other edits would not have been.
                let written = request.usage.cache_read == 0 && starts.binary_search(&index).is_err();
                net += if written { saved * (1.0 + dearer) } else { saved };
                requests += 1;
            }
        }
        let read_price = told.and_then(|told| told.prices).map(|prices| prices.cache_read);
        let net_usd = read_price.filter(|price| *price > 0.0).map(|price| net * price / 1e6);
        Ok(Seen {
            before: before.usage,
            after: after.usage,
            saved,
            extra,
            expired,
            requests,
            net,
            net_usd: net_usd.filter(|net| net.is_finite()),
        })
    }

    /// Returns the requests before and after an edit, if they can be compared.
    fn around(&self, next: usize) -> Result<(&Request<'a>, &Request<'a>), Unseen> {
        let before = next.checked_sub(1).and_then(|last| self.requests.get(last));
        let (start, end) = (before.map_or(0, |before| before.position + 1), self.branch.len());
        let after = self.requests.get(next);
        let silent = |unseen| if self.answered_silently(start, end) { Unseen::Unreported } else { unseen };
        let before = before.ok_or(Unseen::NoneBefore).map_err(silent)?;
        let after = after.ok_or(Unseen::NoneSince).map_err(silent)?;
        if before.model != after.model {
            return Err(Unseen::OtherModel);
        }
        let summary =
            |entry: &Entry| matches!(entry.body, EntryBody::Compaction(_) | EntryBody::BranchSummary(_));
        if self.branch.get(start..after.position).unwrap_or_default().iter().any(summary) {
            return Err(Unseen::OtherContext);
        }
        let cached = |request: &Request<'_>| {
            request.model == after.model && (request.usage.cache_read > 0 || request.usage.cache_write > 0)
        };
        if !self.requests.iter().any(cached) {
            return Err(Unseen::Unreported);
        }
        Ok((before, after))
    }

    /// Returns whether there is a finished reply of which the provider told no size.
    fn answered_silently(&self, start: usize, end: usize) -> bool {
        let silent = |entry: &Entry| match &entry.body {
            EntryBody::Message(message @ Message::Assistant(_)) => {
                is_sent(message) && reported(message).is_none()
            }
            _ => false,
        };
        self.branch.get(start..end).unwrap_or_default().iter().any(silent)
    }

    /// Returns for how long nobody used the cache between two requests, in milliseconds.
    ///
    /// A host notes what it does to keep the cache in use among the entries that the guard cannot read, so each of
    /// them counts as a use.
    fn idle(&self, before: &Request<'_>, after: &Request<'_>) -> u64 {
        let between = self.branch.get(before.position..after.position).unwrap_or_default();
        let use_of = |(at, entry): (usize, &Entry)| {
            (at == 0 || matches!(entry.body, EntryBody::Other)).then_some(entry.time)
        };
        let uses: Vec<Timestamp> = between.iter().enumerate().filter_map(use_of).collect();
        // The request left when what came last before its reply was there.
        let left = between.last().map(|entry| entry.time);
        let later = uses.iter().skip(1).copied().chain(left);
        uses.iter().zip(later).map(|(used, next)| next.saturating_sub(*used)).max().unwrap_or(0)
    }

    /// Estimates from the session how many tokens a character makes: by how much prompts to the model grew, over the
    /// characters that came into the context meanwhile.
    fn tokens_per_character(&self, model: &str) -> f64 {
        let (mut tokens, mut characters) = (0.0, 0.0);
        for (before, after) in self.requests.iter().zip(self.requests.iter().skip(1)) {
            let Some(grown) = after.grown.filter(|_| before.model == model && after.model == model) else {
                continue;
            };
            tokens += prompt(after.usage) - prompt(before.usage);
            characters += grown as f64;
        }
        let ratio = tokens / characters;
        if characters >= ENOUGH_CHARS && BELIEVABLE.contains(&ratio) { ratio } else { USUAL_TOKENS }
    }
}

/// Returns what the provider told of a request; none where its reply tells of no prompt, as after most errors.
fn reported(message: &Message) -> Option<(&str, Usage)> {
    let Message::Assistant(Assistant { model, usage: Some(usage), .. }) = message else { return None };
    (prompt(*usage) > 0.0).then_some((model, *usage))
}

/// Returns whether later requests hold the message: hosts leave out replies that were not finished.
fn is_sent(message: &Message) -> bool {
    match message {
        Message::Assistant(reply) => !matches!(reply.stop_reason, StopReason::Error | StopReason::Aborted),
        _ => true,
    }
}

fn size(entry: &Entry) -> usize {
    recorded(entry).map_or(0, |shown| message_size(&shown))
}

fn prompt(usage: Usage) -> f64 {
    usage.cache_read as f64 + fresh(usage)
}

/// Returns what of a prompt did not come from the cache.
fn fresh(usage: Usage) -> f64 {
    usage.input as f64 + usage.cache_write as f64
}

/// Returns what a request left in the cache for the next one: what it read and wrote, and all of it where the
/// provider does not tell what it writes.
fn left(usage: Usage) -> f64 {
    if usage.cache_write > 0 { usage.cache_read as f64 + usage.cache_write as f64 } else { prompt(usage) }
}

/// Returns the prices of a request. Where it reported no writing, what it did not read cost as much as fresh input.
fn rates(usage: Usage, told: Option<&Model>) -> Rates {
    let writes = usage.cache_write > 0;
    match told {
        Some(model) => {
            let paid = |prices: Prices| Prices {
                cache_write: if writes { prices.cache_write } else { 0.0 },
                ..prices
            };
            Rates { scheme: model.cache, prices: model.prices.map(paid) }
        }
        None => {
            Rates { scheme: if writes { CacheScheme::Other } else { CacheScheme::OpenaiCodex }, prices: None }
        }
    }
}
