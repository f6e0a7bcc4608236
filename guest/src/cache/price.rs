//! What an edit costs: the context that the next request writes into the cache anew, and what that is worth.

use crate::contract::types::{CacheScheme, EntryBody, Model, Prices, Timestamp};
use crate::session::{Mirror, Projected, Projection, context_size};
use crate::settings::Settings;

/// Share of the judged characters that goes, on average. It was seen with another wording of the questions.
const GONE: f64 = 0.7;

/// How edits are paid for at one model.
#[derive(Clone, Copy, Debug)]
pub struct Price<'a> {
    projection: Projection<'a>,
    scheme: CacheScheme,
    pinned: bool,
    prices: Option<Prices>,
}

impl<'a> Price<'a> {
    /// Reads how `model` caches the context.
    pub fn new(projection: Projection<'a>, model: &Model, settings: &Settings) -> Self {
        let pinned = settings.pin_anthropic_cache;
        Price { projection, scheme: model.cache, pinned, prices: model.prices }
    }

    /// Estimates the characters that the next request writes anew if the earliest edited entry stands at that
    /// position on the branch; nothing without an edit.
    ///
    /// Codex keeps only a short prefix after any edit. Anthropic reads up to a breakpoint: the prompt has one
    /// where breakpoints are set, so that an edit behind it leaves the cache before it usable. Others cache
    /// every prefix.
    pub fn rewrite(&self, first: Option<usize>) -> usize {
        let Some(first) = first else { return 0 };
        let from = match self.scheme {
            CacheScheme::OpenaiCodex => 0,
            CacheScheme::Anthropic => match self.projection.last_user() {
                Some(pin) if self.pinned && self.position(pin).is_some_and(|at| at < first) => pin + 1,
                _ => 0,
            },
            CacheScheme::Other => match self.projection.iter().position(|item| item.position >= first) {
                Some(index) => index,
                None => return 0,
            },
        };
        let kept = context_size(self.projection.before(from));
        context_size(self.projection).saturating_sub(kept)
    }

    fn position(&self, index: usize) -> Option<usize> {
        self.projection.get(index).map(|item| item.position)
    }

    /// Returns how many reads a write costs beyond the read that it replaces.
    ///
    /// Without prices: a cached token costs a tenth of a fresh one; Anthropic charges 1.25 times a fresh one for
    /// writing, others nothing extra, but their caches are less certain to be hit.
    pub fn writes_in_reads(&self) -> f64 {
        let known = self.prices.filter(|prices| prices.cache_read > 0.0).map(|prices| {
            let write = if prices.cache_write > 0.0 { prices.cache_write } else { prices.input };
            (write - prices.cache_read) / prices.cache_read
        });
        let usual = if self.scheme == CacheScheme::OpenaiCodex { 9.0 } else { 11.5 };
        known.filter(|ratio| ratio.is_finite() && *ratio >= 0.0).unwrap_or(usual)
    }

    /// Returns the factor of [`Price::pays_off`] for characters that are yet to be judged.
    ///
    /// 13 and 16 are [`Price::writes_in_reads`] over [`GONE`], rounded.
    fn factor(&self) -> f64 {
        let known = self.prices.is_some_and(|prices| prices.cache_read > 0.0);
        match (known, self.scheme) {
            (true, _) => self.writes_in_reads() / GONE,
            (false, CacheScheme::OpenaiCodex) => 13.0,
            (false, _) => 16.0,
        }
    }

    /// Returns whether `chars` are worth a rewrite, if the work lasts for as many requests again as it has had.
    pub fn pays_off(&self, chars: usize, requests: usize, rewrite: usize) -> bool {
        chars as f64 * requests.max(1) as f64 >= self.factor() * rewrite as f64
    }

    /// Returns what edits save over `requests`, less what they make the next request write, in characters read.
    pub fn net(&self, saved: usize, requests: usize, first: Option<usize>) -> f64 {
        let rewritten = self.rewrite(first).saturating_sub(saved);
        requests as f64 * saved as f64 - rewritten as f64 * self.writes_in_reads()
    }
}

/// Returns whether the next request finds no cache anyway, so that edits cost nothing extra: the model changed, the
/// cache outlived its time since the last reply, or a compaction has just replaced the context.
pub fn is_cold(mirror: &Mirror, model: &Model, now: Timestamp) -> bool {
    let compacted = mirror
        .branch()
        .iter()
        .rev()
        .take_while(|entry| !matches!(entry.body, EntryBody::Message(_)))
        .any(|entry| matches!(entry.body, EntryBody::Compaction(_)));
    let reply = |item: Projected<'_>| {
        let model = item.shown().or(item.recorded())?.assistant()?.model.clone();
        Some((model, item.entry.time))
    };
    let last = mirror.projection().iter().rev().find_map(reply);
    let stale = last.is_none_or(|(name, time)| {
        name != model.name || now.saturating_sub(time) > u64::from(model.cache_lifetime) * 1_000
    });
    compacted || stale
}
