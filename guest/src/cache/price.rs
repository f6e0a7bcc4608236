//! What an edit costs: the context that the next request writes into the cache anew, the thinking that is lost with
//! it, and what that is worth.

#[cfg(test)]
mod tests;

use super::log::CacheLog;
use super::rates::{GONE, Rates};
use super::thinking;
use crate::contract::types::{CacheScheme, Entry, EntryBody, Message, Model, Timestamp};
use crate::session::{Mirror, message_size};
use crate::settings::Settings;

/// How edits of one context are paid for at one model.
#[derive(Clone, Debug)]
pub struct Price {
    rates: Rates,
    /// The next request finds no cache whatever is edited.
    cold: bool,
    /// Index of the last user message, where a breakpoint of its own is set on it.
    pin: Option<usize>,
    /// Indices of the entries up to and including which the cache is trusted to be read, ascending.
    read_points: Vec<usize>,
    /// By index in the projection: the size of the context from there on.
    rest: Vec<usize>,
    /// By index in the projection: the size of the thinking still in use that an edit there loses; empty where edits
    /// lose none.
    thinking: Vec<usize>,
}

/// What edits cost once. Sizes are in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// What the next request writes anew, before what the edits take away from it.
    pub rewritten: usize,
    /// The thinking still in use that the provider drops.
    pub thinking: usize,
}

impl Price {
    /// Reads how `model` caches the context. This walks the context once; asking costs nothing then.
    pub fn new(mirror: &Mirror, model: &Model, settings: &Settings, log: &CacheLog, now: Timestamp) -> Self {
        let projection = mirror.projection();
        let mut rest = vec![0; projection.len()];
        let mut size = 0usize;
        for (place, item) in rest.iter_mut().zip(projection.iter()).rev() {
            size = size.saturating_add(item.shown().map_or(0, |shown| message_size(&shown)));
            *place = size;
        }
        let marked = model.cache == CacheScheme::Anthropic && settings.pin_anthropic_cache;
        Price {
            rates: Rates::of(model),
            cold: is_cold(mirror, model, now),
            pin: if marked { projection.last_user() } else { None },
            read_points: if marked { read_points(mirror, model, log, now) } else { vec![] },
            rest,
            thinking: thinking::lost_by_edits(projection, model, settings),
        }
    }

    /// Returns what edits cost beyond what other edits cost anyway, each given by the index in the projection of the
    /// earliest entry that they change.
    pub fn cost(&self, first: Option<usize>, anyway: Option<usize>) -> Cost {
        let with_them = first.into_iter().chain(anyway).min();
        Cost {
            rewritten: self.rewrite(with_them).saturating_sub(self.rewrite(anyway)),
            thinking: self.thinking(with_them).saturating_sub(self.thinking(anyway)),
        }
    }

    /// Estimates the characters that the next request writes anew if the earliest edited entry stands at that index
    /// of the projection; nothing without an edit, and nothing where it would write all in any case.
    ///
    /// Codex keeps only a short prefix after any edit. Anthropic reads up to a breakpoint: the guard sets one where
    /// the cache is known to hold what comes before the edit, and the last user message has one, so that an edit
    /// behind either leaves the cache before it usable. Others cache every prefix.
    fn rewrite(&self, first: Option<usize>) -> usize {
        let Some(first) = first.filter(|_| !self.cold) else { return 0 };
        let from = match self.rates.scheme {
            CacheScheme::OpenaiCodex => 0,
            CacheScheme::Anthropic => {
                let points = self.read_points.partition_point(|&point| point < first);
                let read = points.checked_sub(1).and_then(|last| self.read_points.get(last)).copied();
                let pin = self.pin.filter(|&pin| pin < first);
                read.max(pin).map_or(0, |read| read + 1)
            }
            CacheScheme::Other => first,
        };
        self.rest.get(from).copied().unwrap_or(0)
    }

    fn thinking(&self, first: Option<usize>) -> usize {
        first.and_then(|first| self.thinking.get(first)).copied().unwrap_or(0)
    }

    /// Returns whether `chars` are worth what their edits cost, if the work lasts for as many requests again as it
    /// has had. What costs nothing does.
    ///
    /// Of characters that are yet to be judged only a part goes, so the factor asks for the more of them.
    pub fn pays_off(&self, chars: u64, requests: usize, cost: Cost) -> bool {
        let lost = self.rates.output_in_reads() / GONE * cost.thinking as f64;
        chars as f64 * requests.max(1) as f64 >= self.rates.factor() * cost.rewritten as f64 + lost
    }

    /// Returns what edits that save so much are worth over `requests`, in characters read from the cache: each
    /// request reads less, the next one writes anew what it has to, less what they save, and thinking that is lost
    /// is paid for as if the model thought it once more.
    pub fn net(&self, saved: i64, requests: usize, cost: Cost) -> f64 {
        let written = cost.rewritten as f64 - saved as f64;
        let lost = self.rates.output_in_reads() * cost.thinking as f64;
        requests as f64 * saved as f64 - written * self.rates.writes_in_reads() - lost
    }
}

/// Returns whether any batch can be worth its edits after so many requests, which costs no look at what there is to
/// judge: a batch is part of what its edits write anew, so it must be read often enough to be worth its own writing.
pub fn can_pay_off(mirror: &Mirror, model: &Model, requests: usize, now: Timestamp) -> bool {
    requests.max(1) as f64 >= Rates::of(model).factor() || is_cold(mirror, model, now)
}

/// Returns the indices in the projection of all entries up to which the cache is trusted to be read, ascending.
fn read_points(mirror: &Mirror, model: &Model, log: &CacheLog, now: Timestamp) -> Vec<usize> {
    let before = |position| {
        // A log that answers with what does not lie before would be asked for ever.
        log.read_point(mirror, &model.name, position, now).filter(|&point| point < position)
    };
    let points = std::iter::successors(before(mirror.branch().len()), |&point| before(point));
    let index = |position: usize| mirror.branch().get(position).and_then(|entry| mirror.index(&entry.id));
    let mut indices: Vec<usize> = points.filter_map(index).collect();
    indices.sort_unstable();
    indices
}

/// Returns whether the next request is known to find no cache of the session, so that edits rewrite nothing extra:
/// since the last compaction, which replaced the context, that model gave no reply, or none that the cache would
/// have outlived. `now` is in milliseconds, like the times of entries.
fn is_cold(mirror: &Mirror, model: &Model, now: Timestamp) -> bool {
    let lifetime = u64::from(model.cache_lifetime) * 1_000;
    let warm = |entry: &Entry| {
        let reply =
            matches!(&entry.body, EntryBody::Message(Message::Assistant(reply)) if reply.model == model.name);
        reply && now.saturating_sub(entry.time) <= lifetime
    };
    let since = mirror.branch().iter().rev();
    !since.take_while(|entry| !matches!(entry.body, EntryBody::Compaction(_))).any(warm)
}
