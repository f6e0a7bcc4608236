use proptest::prelude::*;

use super::*;
use crate::contract::types::ThinkingBinding;
use crate::session::fixtures::*;

const MINUTE: u64 = 60_000;

fn usage(cache_read: u64, cache_write: u64, input: u64) -> Usage {
    Usage { input, output: 100, cache_read, cache_write }
}

/// A reply whose prompt was so large.
fn reply(cache_read: u64, cache_write: u64, input: u64) -> Item {
    a("ok").usage(usage(cache_read, cache_write, input))
}

/// A pass that saved so many characters.
fn saving(chars: i64) -> Item {
    record(&format!(r#"{{"v":1,"savedChars":{chars}}}"#))
}

/// The model of [`a`], at a price for writing that is 11.5 times that of reading above it.
fn model() -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: Some(Prices { input: 2.5, output: 12.5, cache_read: 0.25, cache_write: 3.125 }),
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

/// The outcome of the only edit.
fn outcome(items: impl IntoIterator<Item = Item>) -> Result<Seen, Unseen> {
    let mirror = session(items);
    let observations = observe(&mirror, Some(&model()));
    assert_eq!(observations.len(), 1);
    observations[0].outcome
}

fn seen(items: impl IntoIterator<Item = Item>) -> Seen {
    outcome(items).unwrap()
}

/// 52,010 tokens before; 16,000 characters go, which are 4,000 tokens; 49,010 after, of which 20,000 were read.
fn edited() -> Vec<Item> {
    vec![u("p"), reply(50_000, 2_000, 10), saving(16_000), u("q"), reply(20_000, 29_000, 10)]
}

#[test]
fn what_the_first_request_writes_beyond_what_it_would_have_written_is_the_edit_s_cost() {
    let seen = seen(edited());
    assert_eq!((seen.before, seen.after), (usage(50_000, 2_000, 10), usage(20_000, 29_000, 10)));
    // Without the edit 53,010 tokens, of which 52,000 were in the cache: 1,010 not read instead of 29,010.
    assert_eq!((seen.saved, seen.extra, seen.requests), (4_000.0, 28_000.0, 1));
    // 4,000 tokens less to read, and 28,000 that cost 12.5 reads instead of 1.
    assert_eq!(seen.net, 4_000.0 - 11.5 * 28_000.0);
    assert_eq!(seen.net_usd, Some(-318_000.0 * 0.25 / 1e6));
}

#[test]
fn by_the_bill_the_net_is_the_same() {
    // $3.125 for a written token, $0.25 for a read one, per million. The few that were neither cost as much as the
    // written ones here, since they are in both prompts.
    let bill = |read: f64, written: f64| (read * 0.25 + written * 3.125) / 1e6;
    let net = bill(52_000.0, 1_010.0) - bill(20_000.0, 29_010.0);
    assert!((seen(edited()).net_usd.unwrap() - net).abs() < 1e-9, "{net}");
}

#[test]
fn each_later_request_saves_the_reading_of_what_went() {
    let mut items = edited();
    items.extend([u("r"), reply(49_000, 500, 10), u("s"), reply(49_500, 500, 10)]);
    let seen = seen(items);
    assert_eq!((seen.requests, seen.net), (3, 3.0 * 4_000.0 - 11.5 * 28_000.0));
}

#[test]
fn a_later_request_that_read_nothing_would_have_written_what_went() {
    let mut items = edited();
    items.extend([u("r"), reply(0, 49_500, 10)]);
    assert_eq!(seen(items).net, 4_000.0 - 11.5 * 28_000.0 + 12.5 * 4_000.0);
}

#[test]
fn a_provider_that_tells_no_writes_keeps_whole_prompts_and_charges_fresh_input() {
    let reply = |read, input| reply(read, 0, input).model("openai-codex/gpt");
    let items = [u("p"), reply(51_200, 800), saving(16_000), u("q"), reply(2_560, 46_450)];
    let seen = seen(items.clone());
    // 52,000 tokens would have been read of 53,010.
    assert_eq!((seen.extra, seen.net), (45_440.0, 4_000.0 - 9.0 * 45_440.0));
    assert_eq!(seen.net_usd, None, "the host told of another model");

    let astra = Model { name: "openai-codex/gpt".into(), ..model() };
    let mirror = session(items);
    let seen = observe(&mirror, Some(&astra))[0].outcome.unwrap();
    assert_eq!(seen.net, 4_000.0 - 9.0 * 45_440.0, "the price of writing is not that of fresh input");
}

#[test]
fn an_edit_of_what_was_not_in_the_cache_yet_costs_nothing() {
    // The result of 6,000 tokens comes in with 2,000.
    let seen = seen([u("p"), reply(50_000, 2_000, 10), saving(16_000), u("q"), reply(52_000, 2_000, 10)]);
    assert_eq!((seen.extra, seen.net), (-4_000.0, 4_000.0 + 11.5 * 4_000.0));
}

#[test]
fn after_the_cache_has_expired_the_rewrite_is_not_the_edit_s() {
    let items = |minutes: u64| {
        vec![
            u("p"),
            reply(50_000, 2_000, 10).at(MINUTE),
            saving(16_000).at(MINUTE),
            u("q").at((1 + minutes) * MINUTE),
            reply(0, 49_000, 10).at(90 * MINUTE),
        ]
    };
    let cold = seen(items(6));
    // The 4,000 tokens would have been written, too.
    assert_eq!((cold.expired, cold.extra, cold.net), (true, -4_000.0, 12.5 * 4_000.0));
    let warm = seen(items(5));
    assert_eq!((warm.expired, warm.extra), (false, 48_000.0));
}

#[test]
fn what_the_host_notes_meanwhile_may_have_kept_the_cache_alive() {
    let items = [
        u("p"),
        reply(50_000, 2_000, 10),
        saving(16_000),
        other().at(4 * MINUTE),
        u("q").at(9 * MINUTE),
        reply(20_000, 29_000, 10).at(9 * MINUTE),
    ];
    assert!(!seen(items).expired);
}

#[test]
fn where_the_life_of_the_cache_is_not_known_an_hour_is_taken() {
    let expired = |minutes: u64| {
        let mut items = edited();
        items[3] = u("q").at(minutes * MINUTE);
        observe(&session(items), None)[0].outcome.unwrap().expired
    };
    assert_eq!([59, 61].map(expired), [false, true]);
}

#[test]
fn the_session_tells_how_many_tokens_a_character_makes() {
    let grows = |characters: usize, tokens: u64| {
        let first = a("").usage(usage(0, 10_000, 0));
        let second = a("").usage(usage(10_000, tokens, 0));
        let mut items = vec![u("p"), first, u(&"x".repeat(characters)), second];
        items.extend([edit("e0"), saving(1_000), u("q"), a("").usage(usage(10_000, tokens, 0))]);
        seen(items).saved
    };
    assert_eq!(grows(10_000, 4_000), 400.0);
    assert_eq!(grows(3_999, 4_000), 250.0, "too few characters");
    assert_eq!(grows(10_000, 500), 250.0, "something else happened");
    assert_eq!(grows(10_000, 20_001), 250.0, "something else happened");
}

#[test]
fn replies_that_broke_off_are_no_part_of_later_prompts_but_were_paid_for() {
    let broken = |usage| a(&"x".repeat(50_000)).stop(StopReason::Aborted).usage(usage);
    let mut items = edited();
    items.insert(4, broken(Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }));
    items.insert(4, broken(usage(20_000, 29_000, 10)));
    // The last one finds in the cache what the broken one has written.
    items[6] = reply(49_000, 0, 10);
    let seen = seen(items);
    assert_eq!((seen.extra, seen.requests, seen.saved), (28_000.0, 2, 4_000.0));
}

#[test]
fn originals_that_came_back_make_prompts_longer() {
    let seen = seen([u("p"), reply(50_000, 2_000, 10), saving(-16_000), u("q"), reply(20_000, 37_000, 10)]);
    // Without them 53,010, of which 52,000 would have been read.
    assert_eq!((seen.saved, seen.extra), (-4_000.0, 36_000.0));
}

#[test]
fn passes_before_the_same_request_are_seen_together() {
    let mut items = edited();
    items[2] = saving(10_000);
    items.insert(3, saving(6_000));
    assert_eq!(seen(items), seen(edited()));
}

#[test]
fn a_second_edit_leaves_the_first_its_saving() {
    let mut items = edited();
    items.extend([saving(8_000), u("r"), reply(0, 47_500, 10)]);
    let mirror = session(items);
    let nets: Vec<Seen> = observe(&mirror, Some(&model())).iter().map(|one| one.outcome.unwrap()).collect();
    assert_eq!(nets[0].net, 2.0 * 4_000.0 - 11.5 * 28_000.0);
    assert_eq!((nets[1].saved, nets[1].requests), (2_000.0, 1));
}

#[test]
fn savings_end_with_a_compaction_and_wait_while_another_model_is_asked() {
    let requests = |more: Vec<Item>| seen(edited().into_iter().chain(more)).requests;
    let elsewhere = || reply(0, 60_000, 0).model("other/model");
    assert_eq!(requests(vec![elsewhere(), reply(49_000, 0, 10)]), 2);
    assert_eq!(requests(vec![reply(49_000, 0, 10), compaction("so far"), reply(0, 5_000, 10)]), 2);
}

#[test]
fn passes_that_changed_nothing_are_left_out() {
    let kept = record(r#"{"v":1,"requests":3,"results":[{"entryId":"e0","outcome":"kept"}]}"#);
    assert!(observe(&session([u("p"), reply(1, 0, 0), kept, reply(1, 0, 0)]), None).is_empty());
}

#[test]
fn what_cannot_be_compared_says_why() {
    let around = |before: Item, between: Vec<Item>, after: Item| {
        outcome([before, saving(16_000)].into_iter().chain(between).chain([after])).unwrap_err()
    };
    let (before, after) = (|| reply(50_000, 2_000, 10), || reply(20_000, 29_000, 10));
    assert_eq!(around(before(), vec![], after().model("other/model")), Unseen::OtherModel);
    assert_eq!(around(before(), vec![compaction("so far")], after()), Unseen::OtherContext);
    assert_eq!(around(before(), vec![branch_summary("there")], after()), Unseen::OtherContext);
    assert_eq!(around(reply(0, 0, 50_000), vec![], reply(0, 0, 40_000)), Unseen::Unreported);
    assert_eq!(around(a("ok"), vec![], a("ok")), Unseen::Unreported);
    assert_eq!(around(before(), vec![], a("ok")), Unseen::Unreported);
    assert_eq!(around(before(), vec![], u("q")), Unseen::NoneSince);
    assert_eq!(around(before(), vec![], a("").stop(StopReason::Error)), Unseen::NoneSince);
    assert_eq!(around(u("p"), vec![], after()), Unseen::NoneBefore);
}

fn numbers() -> impl Strategy<Value = Usage> {
    let number = || prop_oneof![Just(0), Just(u64::MAX), 0..100_000u64, any::<u64>()];
    (number(), number(), number()).prop_map(|(read, write, input)| Usage {
        input,
        output: u64::MAX,
        cache_read: read,
        cache_write: write,
    })
}

fn item() -> impl Strategy<Value = Item> {
    let time = prop_oneof![0..10_000_000u64, any::<u64>()];
    let item = prop_oneof![
        4 => numbers().prop_map(|usage| a("ok").usage(usage)),
        1 => numbers().prop_map(|usage| a("ok").usage(usage).stop(StopReason::Aborted)),
        1 => Just(a("ok").model("other/model")),
        2 => any::<i64>().prop_map(saving),
        1 => Just(u(&"x".repeat(5_000))),
        1 => Just(fixed(u32::MAX)),
        1 => Just(compaction("so far")),
        1 => Just(other()),
    ];
    (item, time).prop_map(|(item, time)| item.at(time))
}

proptest! {
    #[test]
    fn no_numbers_panic_and_every_edit_is_answered(
        items in proptest::collection::vec(item(), 0..20),
        price in any::<f64>(),
        known in any::<bool>(),
    ) {
        let passes = session(items.clone()).records().len();
        let prices = Some(Prices { input: price, output: price, cache_read: price / 10.0, cache_write: price });
        let told = Model { prices, ..model() };
        let mirror = session(items);
        let observations = observe(&mirror, known.then_some(&told));
        let zero = mirror.records().iter().filter(|(_, record)| record.saved_chars == 0).count();
        prop_assert_eq!(observations.iter().map(|one| one.passes.len()).sum::<usize>(), passes - zero);
        for seen in observations.iter().filter_map(|one| one.outcome.ok()) {
            prop_assert!(seen.requests > 0 && seen.net_usd.is_none_or(f64::is_finite));
        }
    }
}
