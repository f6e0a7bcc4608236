//! Gates at run end: edits whose price for the prompt cache must come back.

use crate::cache::Price;
use crate::contract::sessions::Edit;
use crate::items::Judgement;
use crate::session::{ItemKind, Mirror};
use crate::settings::Settings;

/// Least number of requests for which the run's own outputs are expected to be saved.
const LEAST_REQUESTS: usize = 10;

/// What gates weigh.
pub(super) struct Gates<'a> {
    pub(super) mirror: &'a Mirror,
    pub(super) settings: &'a Settings,
    pub(super) price: Price<'a>,
    /// Position of the run's prompt on the branch.
    pub(super) run_start: usize,
}

impl Gates<'_> {
    /// Defers what does not pay. Earlier exchanges and earlier images are weighed each against the edits that are
    /// made anyway, so that neither rides on the other. An image that does not pay leaves no trace: nothing was
    /// asked about it, and it comes up again by itself.
    pub(super) fn weigh(&self, judgements: &mut Vec<Judgement>) {
        if self.settings.run_end_break_even {
            self.weigh_outputs(judgements);
        }
        if !self.settings.exchange_break_even {
            return;
        }
        let exchanges =
            |judgement: &Judgement| judgement.result.kind == ItemKind::Exchange && !is_lifted(judgement);
        let early = |judgement: &Judgement| {
            judgement.result.kind == ItemKind::Image
                && self.first(judgement).is_some_and(|at| at < self.run_start)
        };
        let anyway = judgements.iter().filter(|judgement| !exchanges(judgement) && !early(judgement));
        let anyway = anyway.filter_map(|judgement| self.first(judgement)).min();
        let least = self.settings.exchange_min_saving_chars;
        let exchanges_pay =
            self.pays(judgements.iter().filter(|judgement| exchanges(judgement)), anyway, least);
        let images_pay = self.pays(judgements.iter().filter(|judgement| early(judgement)), anyway, 0);
        if !exchanges_pay {
            judgements.iter_mut().filter(|judgement| exchanges(judgement)).for_each(Judgement::defer);
        }
        if !images_pay {
            judgements.retain(|judgement| !early(judgement));
        }
    }

    /// Returns whether edits pay for what they add to the rewrite that `anyway` causes.
    fn pays<'j>(
        &self,
        edits: impl Iterator<Item = &'j Judgement> + Clone,
        anyway: Option<usize>,
        least: usize,
    ) -> bool {
        let Some(own) = edits.clone().filter_map(|judgement| self.first(judgement)).min() else {
            return true;
        };
        let with_them = Some(anyway.map_or(own, |anyway| anyway.min(own)));
        let marginal = self.price.rewrite(with_them).saturating_sub(self.price.rewrite(anyway));
        let saved = edits.map(saved).sum();
        marginal == 0 || saved >= least && self.price.pays_off(saved, self.requests(), marginal)
    }

    /// Keeps of the run's own outputs those from which on editing is worth most, and none where none is.
    ///
    /// A later edit rewrites less, so the candidates are the ends of the context.
    fn weigh_outputs(&self, judgements: &mut [Judgement]) {
        let own = |judgement: &Judgement| matches!(judgement.result.kind, ItemKind::Large | ItemKind::Small);
        let mut firsts: Vec<(usize, usize)> = judgements
            .iter()
            .filter(|judgement| own(judgement) && !is_lifted(judgement))
            .filter_map(|judgement| Some((self.first(judgement)?, saved(judgement))))
            .collect();
        firsts.sort_unstable();
        let requests = self.requests().max(LEAST_REQUESTS);
        let mut total = 0;
        let mut best = (0.0, usize::MAX);
        for &(first, saved) in firsts.iter().rev() {
            total += saved;
            let net = self.price.net(total, requests, Some(first));
            if net > best.0 {
                best = (net, first);
            }
        }
        for judgement in judgements.iter_mut().filter(|judgement| own(judgement) && !is_lifted(judgement)) {
            if self.first(judgement).is_some_and(|first| first < best.1) {
                judgement.defer();
            }
        }
    }

    /// Returns the branch position of the earliest entry that a judgement edits.
    fn first(&self, judgement: &Judgement) -> Option<usize> {
        let position = |edit: &Edit| self.mirror.position(&edit.target);
        judgement.edits.iter().filter_map(position).min()
    }

    /// Returns the replies in the context, which stand for the requests made so far.
    fn requests(&self) -> usize {
        let reply = |shown: crate::session::Shown<'_>| shown.assistant().is_some();
        self.mirror.projection().iter().filter(|item| item.shown().is_some_and(reply)).count()
    }
}

/// An edit that puts an original back is made whatever it costs.
fn is_lifted(judgement: &Judgement) -> bool {
    judgement.result.reason == super::recalled::REASON
}

fn saved(judgement: &Judgement) -> usize {
    usize::try_from(judgement.saved_chars()).unwrap_or(usize::MAX)
}
