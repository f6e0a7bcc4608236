//! What reading, writing and thinking cost at one model, measured in cached characters that are read.

use crate::contract::types::{CacheScheme, Model, Prices};

/// Share of the judged characters that goes, on average. It was seen with another wording of the questions.
pub(super) const GONE: f64 = 0.7;

/// How many cached tokens cost as much as one of output, where the host knows no prices: output usually costs five
/// times as much as fresh input, and that ten times as much as cached one.
const OUTPUT_IN_READS: f64 = 50.0;

/// The prices of one model, or what is usual for its kind of cache.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    pub(super) scheme: CacheScheme,
    pub(super) prices: Option<Prices>,
}

impl Rates {
    pub(super) fn of(model: &Model) -> Self {
        Rates { scheme: model.cache, prices: model.prices }
    }

    /// Returns how many reads a write costs beyond the read that it replaces, by the host's prices; none where they
    /// are missing or make no sense. A price of 0 is a missing one, and without one for writing, a write costs as
    /// much as fresh input.
    fn listed(&self) -> Option<f64> {
        let Prices { input, cache_read: read, cache_write, .. } = self.prices?;
        let write = if cache_write > 0.0 { cache_write } else { input };
        let ratio = (write - read) / read;
        (read > 0.0 && ratio.is_finite() && ratio >= 0.0).then_some(ratio)
    }

    /// Returns [`Rates::listed`], or what is usual.
    ///
    /// Usually a cached token costs a tenth of a fresh one. Codex charges nothing extra for writing (0.9 / 0.1),
    /// Anthropic 1.25 times a fresh one (1.15 / 0.1), which is taken for the others as well.
    pub(super) fn writes_in_reads(&self) -> f64 {
        let usual = if self.scheme == CacheScheme::OpenaiCodex { 9.0 } else { 11.5 };
        self.listed().unwrap_or(usual)
    }

    /// Returns how many reads the model's output costs.
    pub(super) fn output_in_reads(&self) -> f64 {
        let listed = self.prices.map(|prices| prices.output / prices.cache_read);
        listed.filter(|ratio| ratio.is_finite() && *ratio > 0.0).unwrap_or(OUTPUT_IN_READS)
    }

    /// Returns how often characters that are yet to be judged must be read to be worth the writing of as many. 13 and
    /// 16 are what is usual over [`GONE`], rounded.
    pub(super) fn factor(&self) -> f64 {
        let usual = if self.scheme == CacheScheme::OpenaiCodex { 13.0 } else { 16.0 };
        self.listed().map_or(usual, |ratio| ratio / GONE)
    }
}
