//! Gates at run end: edits whose price for the prompt cache must come back.

#[cfg(test)]
mod tests;

use super::selection::first_edited;
use crate::cache::{Cost, Price};
use crate::contract::sessions::Edit;
use crate::items::Judgement;
use crate::session::{ItemKind, Mirror, Projection};
use crate::settings::Settings;

/// Least number of requests for which edits of the run itself are expected to save: a session that has only just
/// begun says little about how long it will be.
pub(super) const LEAST_REQUESTS: usize = 10;

/// What gates weigh.
pub(super) struct Gates<'a> {
    mirror: &'a Mirror,
    settings: &'a Settings,
    price: &'a Price,
    /// Index of the run's prompt in the projection.
    run_start: usize,
    /// Requests made so far.
    requests: usize,
}

/// Which gate an edit has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    /// Outputs of the run and their images.
    Run,
    /// Earlier exchanges.
    Exchanges,
    /// Images from before the run.
    EarlyImages,
}

impl<'a> Gates<'a> {
    /// Takes what the edits of a run that starts at that index of the projection are weighed by.
    pub(super) fn new(
        mirror: &'a Mirror,
        settings: &'a Settings,
        price: &'a Price,
        run_start: usize,
    ) -> Self {
        Gates { mirror, settings, price, run_start, requests: replies(mirror.projection()) }
    }

    /// Keeps what does not pay. `lifted` are edits that are made whatever they cost.
    ///
    /// Earlier exchanges and earlier images are weighed each against the edits that are made anyway, so that
    /// neither rides on the other. An earlier image that does not pay leaves no trace: nothing was asked about it,
    /// and it comes up again by itself.
    pub(super) fn weigh(&self, judgements: &mut Vec<Judgement>, lifted: &[Edit]) {
        let free = judgements.iter().filter(|judgement| !self.closed(self.gate(judgement)));
        let mut anyway = earliest(self.first(lifted), free.filter_map(|free| self.first(&free.edits)).min());
        if self.closed(Gate::Run) {
            self.weigh_run(judgements, anyway);
            let run = judgements.iter().filter(|judgement| self.gate(judgement) == Gate::Run);
            anyway = earliest(anyway, run.filter_map(|run| self.first(&run.edits)).min());
        }
        let least = self.settings.exchange_min_saving_chars as u64;
        let exchanges_pay = self.pay(Gate::Exchanges, judgements, anyway, least);
        let images_pay = self.pay(Gate::EarlyImages, judgements, anyway, 0);
        if !exchanges_pay {
            let exchanges = judgements.iter_mut().filter(|judgement| self.gate(judgement) == Gate::Exchanges);
            exchanges.for_each(Judgement::defer);
        }
        if !images_pay {
            judgements.retain(|judgement| self.gate(judgement) != Gate::EarlyImages);
        }
    }

    /// Returns whether the settings have edits pass that gate.
    fn closed(&self, gate: Gate) -> bool {
        match gate {
            Gate::Run => self.settings.run_end_break_even,
            Gate::Exchanges | Gate::EarlyImages => self.settings.exchange_break_even,
        }
    }

    fn gate(&self, judgement: &Judgement) -> Gate {
        match judgement.result.kind {
            ItemKind::Exchange => Gate::Exchanges,
            ItemKind::Image if self.first(&judgement.edits).is_some_and(|first| first < self.run_start) => {
                Gate::EarlyImages
            }
            ItemKind::Large | ItemKind::Small | ItemKind::Image => Gate::Run,
        }
    }

    /// Returns whether the edits at a gate pay for what they add to the rewrite that `anyway` causes.
    fn pay(&self, gate: Gate, judgements: &[Judgement], anyway: Option<usize>, least: u64) -> bool {
        let own = judgements.iter().filter(|judgement| self.gate(judgement) == gate);
        let Some(first) = own.clone().filter_map(|own| self.first(&own.edits)).min() else { return true };
        let cost = self.price.cost(Some(first), anyway);
        let saved = own.map(Judgement::saved_chars).fold(0, u64::saturating_add);
        let pays = || saved >= least && self.price.pays_off(saved, self.requests, cost);
        !self.closed(gate) || cost == Cost::default() || pays()
    }

    /// Keeps of the run's own edits those from which on editing is worth most, and none where none is.
    fn weigh_run(&self, judgements: &mut [Judgement], anyway: Option<usize>) {
        let of_the_run = |judgement: &Judgement| {
            self.first(&judgement.edits).filter(|_| self.gate(judgement) == Gate::Run)
        };
        keep_best_end(judgements, of_the_run, self.price, self.requests.max(LEAST_REQUESTS), anyway);
    }

    /// Returns the index in the projection of the earliest entry that edits change.
    fn first(&self, edits: &[Edit]) -> Option<usize> {
        first_edited(self.mirror, edits)
    }
}

/// Applies the end of the context whose edits are worth most over so many requests, and none where none is; what
/// comes before it is deferred.
///
/// A later edit rewrites less, so the candidates are the ends of the context. `place` gives the index of the earliest
/// entry that a judgement's edits change, and none for one that is not weighed; `anyway` is that of other edits.
pub(super) fn keep_best_end(
    judgements: &mut [Judgement],
    place: impl Fn(&Judgement) -> Option<usize>,
    price: &Price,
    requests: usize,
    anyway: Option<usize>,
) {
    let mut edits: Vec<(usize, u64)> = judgements
        .iter()
        .filter_map(|judgement| Some((place(judgement)?, judgement.saved_chars())))
        .collect();
    edits.sort_unstable();
    let (mut total, mut best, mut from) = (0u64, 0.0, usize::MAX);
    for &(first, saved) in edits.iter().rev() {
        total = total.saturating_add(saved);
        let net = price.net(signed(total), requests, price.cost(Some(first), anyway));
        if net > best {
            (best, from) = (net, first);
        }
    }
    for judgement in judgements {
        if place(judgement).is_some_and(|first| first < from) {
            judgement.defer();
        }
    }
}

/// Counts the replies in the context, which stand for the requests made so far.
pub(super) fn replies(projection: Projection<'_>) -> usize {
    let shown = projection.iter().filter_map(|item| item.shown());
    shown.filter(|shown| shown.assistant().is_some()).count()
}

/// Returns characters with a sign; so many that they have none do not occur.
pub(super) fn signed(chars: u64) -> i64 {
    i64::try_from(chars).unwrap_or(i64::MAX)
}

fn earliest(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).min()
}
