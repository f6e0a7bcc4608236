//! What an edit costs: the context that the next request writes into the cache anew, and what that is worth.

use crate::contract::types::{CacheScheme, Entry, EntryBody, Message, Model, Prices, Timestamp};
use crate::session::{Mirror, Projection, message_size};
use crate::settings::Settings;

/// Share of the judged characters that goes, on average. It was seen with another wording of the questions.
const GONE: f64 = 0.7;

/// How edits of one context are paid for at one model.
#[derive(Clone, Debug)]
pub struct Price {
    scheme: CacheScheme,
    prices: Option<Prices>,
    /// Index of the last user message, where a breakpoint of its own is set on it.
    pin: Option<usize>,
    /// By index in the projection: the size of the context from there on.
    rest: Vec<usize>,
}

impl Price {
    /// Reads how `model` caches the context. This walks the context once; asking costs nothing then.
    pub fn new(projection: Projection<'_>, model: &Model, settings: &Settings) -> Self {
        let mut rest = vec![0; projection.len()];
        let mut size = 0usize;
        for (place, item) in rest.iter_mut().zip(projection.iter()).rev() {
            size = size.saturating_add(item.shown().map_or(0, |shown| message_size(&shown)));
            *place = size;
        }
        let pin = if settings.pin_anthropic_cache { projection.last_user() } else { None };
        Price { scheme: model.cache, prices: model.prices, pin, rest }
    }

    /// Estimates the characters that the next request writes anew if the earliest edited entry stands at that index
    /// of the projection; nothing without an edit.
    ///
    /// Codex keeps only a short prefix after any edit. Anthropic reads up to a breakpoint: the last user message has
    /// one where breakpoints are set, so that an edit behind it leaves the cache before it usable. Others cache
    /// every prefix.
    pub fn rewrite(&self, first: Option<usize>) -> usize {
        let Some(first) = first else { return 0 };
        let from = match self.scheme {
            CacheScheme::OpenaiCodex => 0,
            CacheScheme::Anthropic => self.pin.filter(|pin| *pin < first).map_or(0, |pin| pin + 1),
            CacheScheme::Other => first,
        };
        self.rest.get(from).copied().unwrap_or(0)
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

    /// Returns [`Price::listed`], or what is usual.
    ///
    /// Usually a cached token costs a tenth of a fresh one. Codex charges nothing extra for writing (0.9 / 0.1),
    /// Anthropic 1.25 times a fresh one (1.15 / 0.1), which is taken for the others as well.
    fn writes_in_reads(&self) -> f64 {
        let usual = if self.scheme == CacheScheme::OpenaiCodex { 9.0 } else { 11.5 };
        self.listed().unwrap_or(usual)
    }

    /// Returns the factor of [`Price::pays_off`]. 13 and 16 are what is usual over [`GONE`], rounded.
    fn factor(&self) -> f64 {
        let usual = if self.scheme == CacheScheme::OpenaiCodex { 13.0 } else { 16.0 };
        self.listed().map_or(usual, |ratio| ratio / GONE)
    }

    /// Returns whether `chars` are worth a rewrite, if the work lasts for as many requests again as it has had.
    ///
    /// Of characters that are yet to be judged only a part goes, so the factor asks for the more of them.
    pub fn pays_off(&self, chars: u64, requests: usize, rewrite: usize) -> bool {
        chars as f64 * requests.max(1) as f64 >= self.factor() * rewrite as f64
    }

    /// Returns what edits that save so much are worth over `requests`, in characters read from the cache: each
    /// request reads less, and the next one writes anew what follows the earliest of them, less what they save.
    ///
    /// `anyway` is the index of the earliest entry that other edits change, whose rewrite is paid for already.
    pub fn net(&self, saved: u64, requests: usize, first: usize, anyway: Option<usize>) -> f64 {
        let with_them = Some(anyway.map_or(first, |anyway| anyway.min(first)));
        let more = self.rewrite(with_them) as f64 - self.rewrite(anyway) as f64;
        requests as f64 * saved as f64 - (more - saved as f64) * self.writes_in_reads()
    }
}

/// Returns whether the next request is known to find no cache of the session, so that edits cost nothing extra:
/// since the last compaction, which replaced the context, that model gave no reply, or none that the cache would
/// have outlived. `now` is in milliseconds, like the times of entries.
pub fn is_cold(mirror: &Mirror, model: &Model, now: Timestamp) -> bool {
    let lifetime = u64::from(model.cache_lifetime) * 1_000;
    let warm = |entry: &Entry| {
        let reply =
            matches!(&entry.body, EntryBody::Message(Message::Assistant(reply)) if reply.model == model.name);
        reply && now.saturating_sub(entry.time) <= lifetime
    };
    let since = mirror.branch().iter().rev();
    !since.take_while(|entry| !matches!(entry.body, EntryBody::Compaction(_))).any(warm)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contract::types::ThinkingBinding;
    use crate::session::context_size;
    use crate::session::fixtures::*;

    fn model(cache: CacheScheme) -> Model {
        let name = "anthropic/claude".into();
        Model { name, cache, prices: None, cache_lifetime: 300, thinking: ThinkingBinding::Unbound }
    }

    fn priced(input: f64, cache_read: f64, cache_write: f64) -> Price {
        let prices = Some(Prices { input, output: 1.0, cache_read, cache_write });
        let model = Model { prices, ..model(CacheScheme::Anthropic) };
        Price::new(session([]).projection(), &model, &Settings::default())
    }

    fn price(mirror: &Mirror, cache: CacheScheme) -> Price {
        Price::new(mirror.projection(), &model(cache), &Settings::default())
    }

    /// 100 characters before the prompt, 10 of it, and 1,000 after it.
    fn run() -> Vec<Item> {
        vec![
            u(&"p".repeat(40)),
            a(&"a".repeat(60)),
            u(&"q".repeat(10)),
            a(&"b".repeat(300)),
            a(&"c".repeat(700)),
        ]
    }

    #[test]
    fn without_an_edit_nothing_is_written_anew() {
        for cache in [CacheScheme::OpenaiCodex, CacheScheme::Anthropic, CacheScheme::Other] {
            assert_eq!(price(&session(run()), cache).rewrite(None), 0);
        }
    }

    #[test]
    fn codex_writes_the_whole_context_anew_wherever_the_edit_was() {
        let price = price(&session(run()), CacheScheme::OpenaiCodex);
        assert_eq!([0, 2, 4].map(|first| price.rewrite(Some(first))), [1_110; 3]);
    }

    #[test]
    fn c25_an_edit_after_the_question_leaves_anthropic_the_cache_before_it() {
        let price = price(&session(run()), CacheScheme::Anthropic);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|first| price.rewrite(Some(first))),
            [1_110, 1_110, 1_110, 1_000, 1_000]
        );
    }

    #[test]
    fn c26_an_edit_before_a_steering_message_rewrites_all() {
        let mut items = run();
        items.push(u("also docs"));
        let price = price(&session(items), CacheScheme::Anthropic);
        assert_eq!(price.rewrite(Some(4)), 1_110 + 9);
    }

    #[test]
    fn c27_without_breakpoints_anthropic_rewrites_all() {
        let settings = Settings { pin_anthropic_cache: false, ..Settings::default() };
        let mirror = session(run());
        let price = Price::new(mirror.projection(), &model(CacheScheme::Anthropic), &settings);
        assert_eq!(price.rewrite(Some(4)), 1_110);
    }

    #[test]
    fn others_rewrite_from_the_edit_on() {
        let price = price(&session(run()), CacheScheme::Other);
        assert_eq!([0, 3, 4, 5].map(|first| price.rewrite(Some(first))), [1_110, 1_000, 700, 0]);
    }

    #[test]
    fn a_summary_stands_before_the_tail_that_its_compaction_kept() {
        let mut items = run();
        items[0] = items[0].clone().compacted();
        items.push(compaction(&"s".repeat(5_000)));
        let mirror = session(items);
        let first = mirror.index("e3");
        assert_eq!(price(&mirror, CacheScheme::Other).rewrite(first), 1_000);
    }

    #[test]
    fn b33_the_factor_comes_from_the_prices() {
        let factor = |price: Price| (price.factor() * 100.0).round() / 100.0;
        assert_eq!(factor(priced(2.0, 0.2, 2.5)), 16.43);
        assert_eq!(factor(priced(0.10, 0.01, 0.0)), 12.86, "without a price for writing, input is written");
        assert_eq!(factor(priced(5.0, 0.25, 6.25)), 34.29, "cheap reads make a rewrite dear");
        assert_eq!(factor(priced(1.0, 1.0, 1.0)), 0.0, "a cache that saves nothing has nothing to lose");
    }

    #[test]
    fn b33_without_usable_prices_it_is_16_and_13_on_codex() {
        for (input, read, write) in [(2.0, 0.0, 2.5), (0.0, 0.1, 0.0), (1.0, f64::NAN, 1.0), (0.1, 2.0, 0.1)]
        {
            assert_eq!(priced(input, read, write).factor(), 16.0, "{input} {read} {write}");
            assert_eq!(priced(input, read, write).writes_in_reads(), 11.5, "{input} {read} {write}");
        }
        let nothing = session([]);
        assert_eq!(price(&nothing, CacheScheme::OpenaiCodex).factor(), 13.0);
        assert_eq!(price(&nothing, CacheScheme::OpenaiCodex).writes_in_reads(), 9.0);
        assert_eq!(price(&nothing, CacheScheme::Other).factor(), 16.0);
    }

    #[test]
    fn c4_c5_c29_equal_counts_pay_off() {
        let nothing = session([]);
        let codex = price(&nothing, CacheScheme::OpenaiCodex);
        assert_eq!([92_000, 93_000].map(|context| codex.pays_off(60_000, 20, context)), [true, false]);
        let anthropic = price(&nothing, CacheScheme::Anthropic);
        assert_eq!([75_000, 75_001].map(|rewrite| anthropic.pays_off(60_000, 20, rewrite)), [true, false]);
        assert_eq!([54, 53].map(|requests| anthropic.pays_off(9_000, requests, 30_000)), [true, false]);
        assert!(anthropic.pays_off(16, 0, 1), "the next request comes in any case");
    }

    #[test]
    fn b30_the_net_value_counts_what_is_written_with_the_edits_in_place() {
        let price = price(&session(run()), CacheScheme::Other);
        assert_eq!(price.net(600, 10, 4, None), 6_000.0 - 100.0 * 11.5);
        assert_eq!(price.net(600, 10, 3, None), 6_000.0 - 400.0 * 11.5);
        assert_eq!(price.net(600, 10, 4, Some(3)), 6_000.0 + 600.0 * 11.5, "the rewrite comes anyway");
        assert_eq!(price.net(600, 10, 3, Some(4)), 6_000.0 - (300.0 - 600.0) * 11.5);
    }

    fn cold(items: Vec<Item>, now: Timestamp) -> bool {
        is_cold(&session(items), &model(CacheScheme::Anthropic), now)
    }

    #[test]
    fn b31_a_cache_outlives_the_last_reply_by_its_lifetime() {
        let items = || vec![u("p"), a("Done.").at(1_000)];
        assert_eq!([301_000, 301_001].map(|now| cold(items(), now)), [false, true]);
        assert!(!cold(items(), 0), "a clock that was set back proves nothing");
    }

    #[test]
    fn b31_another_model_finds_no_cache_unless_it_was_asked_shortly_before() {
        let mut items = vec![u("p"), a("Done.").at(1_000), u("q"), a("Done.").model("openai/gpt").at(2_000)];
        assert!(!cold(items.clone(), 3_000), "its own cache is still there");
        items.remove(1);
        assert!(cold(items, 3_000));
        assert!(cold(vec![u("p")], 0));
    }

    #[test]
    fn b31_a_compaction_leaves_nothing_that_was_cached() {
        let mut items = vec![u("p"), a("Done.").at(1_000), compaction("so far")];
        assert!(cold(items.clone(), 2_000));
        items.extend([other(), u("q")]);
        assert!(cold(items.clone(), 2_000));
        items.push(a("Done.").at(2_000));
        assert!(!cold(items, 2_000));
    }

    proptest! {
        #[test]
        fn an_earlier_edit_never_rewrites_less(
            items in prop::collection::vec(prop_oneof![
                (0usize..90).prop_map(|length| u(&"u".repeat(length))),
                (0usize..90).prop_map(|length| a(&"a".repeat(length))),
                Just(fixed(u32::MAX)),
                Just(a("gone").omitted()),
                Just(compaction("so far")),
            ], 1..20),
            scheme in prop_oneof![
                Just(CacheScheme::OpenaiCodex), Just(CacheScheme::Anthropic), Just(CacheScheme::Other),
            ],
        ) {
            let mirror = session(items);
            let price = price(&mirror, scheme);
            let rewrites: Vec<usize> = (0..mirror.projection().len()).map(|at| price.rewrite(Some(at))).collect();
            prop_assert!(rewrites.is_sorted_by(|earlier, later| earlier >= later));
            prop_assert_eq!(rewrites[0], context_size(mirror.projection()));
        }
    }
}
