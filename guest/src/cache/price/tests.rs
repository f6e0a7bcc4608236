use proptest::prelude::*;

use super::*;
use crate::contract::types::{Prices, ThinkingBinding};
use crate::session::context_size;
use crate::session::fixtures::*;

fn model(cache: CacheScheme) -> Model {
    let name = "anthropic/claude".into();
    Model { name, cache, prices: None, cache_lifetime: 300, thinking: ThinkingBinding::Unbound }
}

fn priced(input: f64, cache_read: f64, cache_write: f64) -> Price {
    let prices = Some(Prices { input, output: 1.0, cache_read, cache_write });
    let model = Model { prices, ..model(CacheScheme::Anthropic) };
    Price::new(&session([]), &model, &Settings::default(), &CacheLog::default(), 0)
}

fn price(mirror: &Mirror, cache: CacheScheme) -> Price {
    Price::new(mirror, &model(cache), &Settings::default(), &CacheLog::default(), 0)
}

fn rewriting(rewritten: usize) -> Cost {
    Cost { rewritten, thinking: 0 }
}

/// 100 characters before the prompt, 10 of it, and 1,000 after it.
fn run() -> Vec<Item> {
    vec![u(&"p".repeat(40)), a(&"a".repeat(60)), u(&"q".repeat(10)), a(&"b".repeat(300)), a(&"c".repeat(700))]
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
    assert_eq!([0, 1, 2, 3, 4].map(|first| price.rewrite(Some(first))), [1_110, 1_110, 1_110, 1_000, 1_000]);
}

#[test]
fn c26_an_edit_before_a_steering_message_rewrites_all() {
    let mut items = run();
    items.push(u("also docs"));
    let price = price(&session(items), CacheScheme::Anthropic);
    assert_eq!(price.rewrite(Some(4)), 1_110 + 9);
}

#[test]
fn c26_a_trusted_read_point_before_the_edit_is_read() {
    let mut items = run();
    items.push(u("also docs"));
    let mirror = session(items);
    let price = Price { read_points: vec![1, 3], ..price(&mirror, CacheScheme::Anthropic) };
    let rewrites = |first| price.rewrite(Some(first));
    assert_eq!([0, 1].map(rewrites), [1_119; 2], "a read point reads up to itself, which must not change");
    assert_eq!([2, 3].map(rewrites), [1_019; 2]);
    assert_eq!([4, 5].map(rewrites), [709; 2]);
}

#[test]
fn a_read_point_before_the_question_counts_for_less_than_the_question() {
    let mirror = session(run());
    let price = Price { read_points: vec![0], ..price(&mirror, CacheScheme::Anthropic) };
    assert_eq!([1, 2, 3].map(|first| price.rewrite(Some(first))), [1_070, 1_070, 1_000]);
    let codex = Rates { scheme: CacheScheme::OpenaiCodex, prices: None };
    let others = Price { rates: codex, ..price };
    assert_eq!(others.rewrite(Some(3)), 1_110);
}

#[test]
fn c27_without_breakpoints_anthropic_rewrites_all() {
    let settings = Settings { pin_anthropic_cache: false, ..Settings::default() };
    let mirror = session(run());
    let log = CacheLog::default();
    let price = Price::new(&mirror, &model(CacheScheme::Anthropic), &settings, &log, 0);
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
    let price = Price { cold: false, ..price(&mirror, CacheScheme::Other) };
    assert_eq!(price.rewrite(first), 1_000);
}

#[test]
fn b33_the_factor_comes_from_the_prices() {
    let factor = |price: Price| (price.rates.factor() * 100.0).round() / 100.0;
    assert_eq!(factor(priced(2.0, 0.2, 2.5)), 16.43);
    assert_eq!(factor(priced(0.10, 0.01, 0.0)), 12.86, "without a price for writing, input is written");
    assert_eq!(factor(priced(5.0, 0.25, 6.25)), 34.29, "cheap reads make a rewrite dear");
    assert_eq!(factor(priced(1.0, 1.0, 1.0)), 0.0, "a cache that saves nothing has nothing to lose");
}

#[test]
fn b33_without_usable_prices_it_is_16_and_13_on_codex() {
    for (input, read, write) in [(2.0, 0.0, 2.5), (0.0, 0.1, 0.0), (1.0, f64::NAN, 1.0), (0.1, 2.0, 0.1)] {
        assert_eq!(priced(input, read, write).rates.factor(), 16.0, "{input} {read} {write}");
        assert_eq!(priced(input, read, write).rates.writes_in_reads(), 11.5, "{input} {read} {write}");
    }
    let nothing = session([]);
    assert_eq!(price(&nothing, CacheScheme::OpenaiCodex).rates.factor(), 13.0);
    assert_eq!(price(&nothing, CacheScheme::OpenaiCodex).rates.writes_in_reads(), 9.0);
    assert_eq!(price(&nothing, CacheScheme::Other).rates.factor(), 16.0);
}

#[test]
fn c4_c5_c29_equal_counts_pay_off() {
    let nothing = session([]);
    let codex = price(&nothing, CacheScheme::OpenaiCodex);
    assert_eq!([92_000, 93_000].map(|context| codex.pays_off(60_000, 20, rewriting(context))), [true, false]);
    let anthropic = price(&nothing, CacheScheme::Anthropic);
    assert_eq!(
        [75_000, 75_001].map(|rewrite| anthropic.pays_off(60_000, 20, rewriting(rewrite))),
        [true, false]
    );
    assert_eq!(
        [54, 53].map(|requests| anthropic.pays_off(9_000, requests, rewriting(30_000))),
        [true, false]
    );
    assert!(anthropic.pays_off(16, 0, rewriting(1)), "the next request comes in any case");
}

#[test]
fn b30_the_net_value_counts_what_is_written_with_the_edits_in_place() {
    let price = price(&session(run()), CacheScheme::Other);
    let net = |first, anyway| price.net(600, 10, price.cost(Some(first), anyway));
    assert_eq!(net(4, None), 6_000.0 - 100.0 * 11.5);
    assert_eq!(net(3, None), 6_000.0 - 400.0 * 11.5);
    assert_eq!(net(4, Some(3)), 6_000.0 + 600.0 * 11.5, "the rewrite comes anyway");
    assert_eq!(net(3, Some(4)), 6_000.0 - (300.0 - 600.0) * 11.5);
}

#[test]
fn b31_a_cold_cache_is_written_anew_in_any_case() {
    let mirror = session(run());
    let later = |now| {
        Price::new(&mirror, &model(CacheScheme::Anthropic), &Settings::default(), &CacheLog::default(), now)
    };
    let costs = [300_000, 300_001].map(|now| later(now).cost(Some(0), None));
    assert_eq!(costs, [rewriting(1_110), rewriting(0)]);
    assert!(later(300_001).pays_off(0, 1, costs[1]));
    let can_pay = |now| can_pay_off(&mirror, &model(CacheScheme::Anthropic), 1, now);
    assert_eq!([300_000, 300_001].map(can_pay), [false, true]);
}

/// A price where an edit of the second entry or an earlier one loses thinking of 100 characters.
fn binding(prices: Option<Prices>) -> Price {
    let mirror = session([u("p"), r("c", "x"), a("Done.").block(thinking(&"t".repeat(99), 1))]);
    let model = Model { prices, thinking: ThinkingBinding::Dropped, ..model(CacheScheme::Other) };
    Price::new(&mirror, &model, &Settings::default(), &CacheLog::default(), 0)
}

#[test]
fn b32_thinking_that_is_dropped_is_paid_for_as_output() {
    let price = binding(None);
    let cost = price.cost(Some(1), None);
    assert_eq!(cost, Cost { rewritten: 106, thinking: 100 });
    assert_eq!(price.net(6, 1, cost), 6.0 - 100.0 * 11.5 - 100.0 * 50.0);
    assert_eq!(price.cost(Some(1), Some(0)).thinking, 0, "it is lost anyway");
    let lost = Cost { rewritten: 0, thinking: 70 };
    assert_eq!([4_999, 5_000].map(|chars| price.pays_off(chars, 1, lost)), [false, true]);
}

#[test]
fn b32_b33_the_host_s_prices_say_what_thinking_costs() {
    let prices = |output, cache_read| Some(Prices { input: 1.0, output, cache_read, cache_write: 1.25 });
    let ratio = |prices| binding(prices).rates.output_in_reads();
    assert_eq!(ratio(prices(5.0, 0.5)), 10.0);
    assert_eq!([prices(0.0, 0.5), prices(5.0, 0.0), prices(f64::NAN, 1.0)].map(ratio), [50.0; 3]);
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
    fn a_batch_that_cannot_pay_does_not_pay(
        chars in 0usize..1_000_000,
        rest in 0usize..1_000_000,
        thinking in 0usize..9,
        requests in 0usize..40,
        read in 0.01..2.0f64,
        scheme in prop_oneof![Just(CacheScheme::OpenaiCodex), Just(CacheScheme::Other)],
        listed: bool,
    ) {
        let prices = listed.then_some(Prices { input: 2.0, output: 9.0, cache_read: read, cache_write: 2.5 });
        let mirror = session(run());
        let model = Model { prices, ..model(scheme) };
        if !can_pay_off(&mirror, &model, requests, 0) {
            let price = Price::new(&mirror, &model, &Settings::default(), &CacheLog::default(), 0);
            let cost = Cost { rewritten: chars + rest, thinking };
            prop_assert!(chars == 0 || !price.pays_off(chars as u64, requests, cost));
        }
    }

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
        let price = Price { cold: false, ..price(&mirror, scheme) };
        let rewrites: Vec<usize> = (0..mirror.projection().len()).map(|at| price.rewrite(Some(at))).collect();
        prop_assert!(rewrites.is_sorted_by(|earlier, later| earlier >= later));
        prop_assert_eq!(rewrites[0], context_size(mirror.projection()));
    }
}
