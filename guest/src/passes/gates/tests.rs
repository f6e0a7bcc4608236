use super::*;
use crate::cache::CacheLog;
use crate::contract::types::{CacheScheme, Model, Prices, ThinkingBinding};
use crate::session::fixtures::*;
use crate::session::{ItemOutcome, ItemResult};

/// A judgement whose edits save that much.
fn saving(kind: ItemKind, entries: &[&str], saved: u64) -> Judgement {
    let edit = |target: &&str| Edit { target: (*target).into(), replacement: None };
    let result = ItemResult {
        kind,
        entry_id: entries[0].into(),
        outcome: ItemOutcome::Removed,
        before_chars: saved + 10,
        after_chars: 10,
        ..ItemResult::default()
    };
    Judgement { edits: entries.iter().map(edit).collect(), result }
}

/// A context of that size with so many replies: an earlier prompt `e0` and what was done for it, the run's prompt, and
/// its answer, which has nearly all of the size.
fn context(replies: usize, size: usize) -> Mirror {
    let mut items = vec![u("o")];
    items.extend((1..replies).map(|_| a("")));
    items.extend([u("q").id("now"), a(&"a".repeat(size - 2)).id("answer")]);
    session(items)
}

struct Weighing<'a> {
    mirror: &'a Mirror,
    cache: CacheScheme,
    prices: Option<Prices>,
    settings: Settings,
    lifted: Vec<Edit>,
}

impl<'a> Weighing<'a> {
    fn of(mirror: &'a Mirror, cache: CacheScheme) -> Self {
        Weighing { mirror, cache, prices: None, settings: Settings::default(), lifted: vec![] }
    }

    /// The ids of the items that are edited, and of those that are on record as deferred.
    fn result(&self, mut judgements: Vec<Judgement>) -> (Vec<String>, Vec<String>) {
        let model = Model {
            name: "anthropic/claude".into(),
            cache: self.cache,
            prices: self.prices,
            cache_lifetime: 300,
            thinking: ThinkingBinding::Unbound,
        };
        let price = Price::new(self.mirror, &model, &self.settings, &CacheLog::default(), 0);
        let start = self.mirror.index("now").unwrap();
        Gates::new(self.mirror, &self.settings, &price, start).weigh(&mut judgements, &self.lifted);
        let (edited, kept): (Vec<_>, Vec<_>) =
            judgements.into_iter().partition(|judgement| !judgement.edits.is_empty());
        assert!(kept.iter().all(|judgement| judgement.result.reason == "deferred"));
        let ids =
            |judgements: Vec<Judgement>| judgements.into_iter().map(|one| one.result.entry_id).collect();
        (ids(edited), ids(kept))
    }

    fn edited(&self, judgements: Vec<Judgement>) -> Vec<String> {
        self.result(judgements).0
    }
}

#[test]
fn c28_exchanges_that_save_less_than_8_000_are_deferred() {
    let mirror = context(1_000, 20_000);
    let weighing = Weighing::of(&mirror, CacheScheme::Anthropic);
    let exchange = |saved| vec![saving(ItemKind::Exchange, &["e0", "e1"], saved)];
    assert_eq!(weighing.result(exchange(7_999)), (vec![], vec!["e0".into()]));
    assert_eq!(weighing.edited(exchange(8_000)), ["e0"]);
    let both = vec![saving(ItemKind::Exchange, &["e0"], 4_000), saving(ItemKind::Exchange, &["e2"], 4_000)];
    assert_eq!(weighing.edited(both), ["e0", "e2"], "what counts is what they save together");
}

#[test]
fn c29_exchanges_pay_from_54_replies_on() {
    let edited = |replies| {
        let mirror = context(replies, 30_000);
        let exchange = vec![saving(ItemKind::Exchange, &["e0", "e1"], 9_000)];
        Weighing::of(&mirror, CacheScheme::Anthropic).edited(exchange).len()
    };
    assert_eq!([edited(53), edited(54)], [0, 1]);
}

#[test]
fn b33_c29_prices_of_the_host_move_the_break_even() {
    let mirror = context(54, 30_000);
    let prices =
        |input, cache_read, cache_write| Some(Prices { input, output: 1.0, cache_read, cache_write });
    let edited = |prices| {
        let exchange = vec![saving(ItemKind::Exchange, &["e0", "e1"], 9_000)];
        Weighing { prices, ..Weighing::of(&mirror, CacheScheme::Anthropic) }.edited(exchange).len()
    };
    assert_eq!(edited(prices(2.0, 0.1, 2.5)), 0, "reads at a twentieth");
    assert_eq!(edited(prices(2.0, 0.2, 0.0)), 1, "writes at the price of input");
    assert_eq!(edited(prices(2.0, 0.0, 2.5)), 1, "no price is no price of nothing");
}

#[test]
fn c30_on_codex_exchanges_ride_on_any_edit_of_the_run() {
    let mirror = context(2, 80_000);
    let edited = |others: Vec<Judgement>| {
        let mut judgements = others;
        judgements.push(saving(ItemKind::Exchange, &["e0"], 1));
        Weighing::of(&mirror, CacheScheme::OpenaiCodex).edited(judgements)
    };
    assert_eq!(edited(vec![saving(ItemKind::Small, &["answer"], 1)]), ["answer", "e0"]);
    assert_eq!(edited(vec![]), [""; 0]);
}

#[test]
fn c31_on_codex_exchanges_alone_pay_for_the_whole_context() {
    let edited = |replies| {
        let mirror = context(replies, 80_000);
        let exchange = vec![saving(ItemKind::Exchange, &["e0"], 10_000)];
        Weighing::of(&mirror, CacheScheme::OpenaiCodex).edited(exchange).len()
    };
    assert_eq!([edited(12), edited(103), edited(104)], [0, 0, 1]);
}

#[test]
fn c32_the_gate_can_be_switched_off() {
    let mirror = context(2, 80_000);
    let settings = Settings { exchange_break_even: false, ..Settings::default() };
    let weighing = Weighing { settings, ..Weighing::of(&mirror, CacheScheme::Other) };
    let judgements = vec![saving(ItemKind::Exchange, &["e1"], 10), saving(ItemKind::Image, &["e0"], 10)];
    assert_eq!(weighing.edited(judgements), ["e1", "e0"]);
}

#[test]
fn c33_an_early_image_that_does_not_pay_leaves_no_trace() {
    let mirror = context(2, 80_000);
    let weighing = Weighing::of(&mirror, CacheScheme::Other);
    assert_eq!(weighing.result(vec![saving(ItemKind::Image, &["e0"], 4_000)]), (vec![], vec![]));
    let later = saving(ItemKind::Image, &["answer"], 4_000);
    assert_eq!(weighing.edited(vec![later]), ["answer"], "an image of the run is not gated");
}

#[test]
fn an_early_image_that_pays_goes_without_a_least_saving() {
    let mirror = context(40, 1_000);
    let weighing = Weighing::of(&mirror, CacheScheme::Other);
    assert_eq!(weighing.edited(vec![saving(ItemKind::Image, &["e0"], 500)]), ["e0"]);
}

#[test]
fn b8_an_exchange_does_not_ride_on_an_image_that_is_gated_itself() {
    let mirror = context(3, 80_000);
    let weighing = Weighing::of(&mirror, CacheScheme::Other);
    let judgements = vec![saving(ItemKind::Exchange, &["e1"], 9_000), saving(ItemKind::Image, &["e0"], 10)];
    assert_eq!(weighing.result(judgements), (vec![], vec!["e1".into()]));
}

#[test]
fn b8_an_image_does_not_ride_on_an_exchange() {
    let mirror = context(200, 80_000);
    let weighing = Weighing::of(&mirror, CacheScheme::Other);
    let judgements = vec![saving(ItemKind::Exchange, &["e0"], 9_000), saving(ItemKind::Image, &["e1"], 10)];
    assert_eq!(
        weighing.result(judgements),
        (vec!["e0".into()], vec![]),
        "the exchange pays, the image does not"
    );
}

#[test]
fn both_ride_on_what_is_edited_anyway() {
    let mirror = context(3, 80_000);
    let lifted = vec![Edit { target: "e0".into(), replacement: Some(vec![]) }];
    let weighing = Weighing { lifted, ..Weighing::of(&mirror, CacheScheme::Other) };
    let judgements = vec![saving(ItemKind::Exchange, &["e1"], 10), saving(ItemKind::Image, &["e2"], 10)];
    assert_eq!(weighing.edited(judgements), ["e1", "e2"]);
}

#[test]
fn a_kept_exchange_stays_as_it_was_judged() {
    let mirror = context(2, 80_000);
    let mut kept = saving(ItemKind::Exchange, &["e0"], 0);
    kept.edits.clear();
    kept.result.outcome = ItemOutcome::Kept;
    kept.result.reason = "deferred".into();
    let weighing = Weighing::of(&mirror, CacheScheme::Other);
    let judgements = vec![kept, saving(ItemKind::Exchange, &["e1"], 9_000)];
    assert_eq!(weighing.result(judgements), (vec![], vec!["e0".into(), "e1".into()]));
}

/// A prompt, then outputs of 1,000, 2,000, and so on, and an answer of 1,000.
fn outputs(count: usize) -> Mirror {
    let mut items = vec![u("o"), u("q").id("now")];
    items.extend((1..=count).map(|at| r("c", &"r".repeat(at * 1_000)).id(&format!("r{at}"))));
    items.push(a(&"a".repeat(1_000)));
    session(items)
}

fn break_even(mirror: &Mirror) -> Weighing<'_> {
    let settings = Settings { run_end_break_even: true, ..Settings::default() };
    Weighing { settings, ..Weighing::of(mirror, CacheScheme::Other) }
}

#[test]
fn b30_the_run_s_own_outputs_are_not_weighed_unless_asked_for() {
    let mirror = outputs(2);
    let judgements = || vec![saving(ItemKind::Large, &["r1"], 1), saving(ItemKind::Small, &["r2"], 1)];
    assert_eq!(Weighing::of(&mirror, CacheScheme::Other).edited(judgements()), ["r1", "r2"]);
    assert_eq!(break_even(&mirror).result(judgements()), (vec![], vec!["r1".into(), "r2".into()]));
}

#[test]
fn b30_the_end_of_the_context_with_the_best_value_is_edited() {
    let mirror = outputs(3);
    // Ten requests at least. From r3 on, 4,000 are written less what goes; from r1 on, 7,000.
    let with = |first: u64, last: u64| {
        let judgements =
            vec![saving(ItemKind::Large, &["r1"], first), saving(ItemKind::Small, &["r3"], last)];
        break_even(&mirror).result(judgements)
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(with(10, 2_900), (ids(&["r3"]), ids(&["r1"])), "r1 saves too little for its rewrite");
    assert_eq!(with(900, 2_900), (ids(&["r3"]), ids(&["r1"])));
    assert_eq!(with(1_000, 10), (vec![], ids(&["r1", "r3"])));
    assert_eq!(with(1_700, 2_900), (ids(&["r1", "r3"]), vec![]));
}

#[test]
fn b30_images_of_the_run_are_weighed_with_its_outputs() {
    let mirror = outputs(3);
    let judgements = vec![saving(ItemKind::Image, &["r1"], 10), saving(ItemKind::Small, &["r3"], 2_900)];
    assert_eq!(break_even(&mirror).result(judgements), (vec!["r3".into()], vec!["r1".into()]));
}

#[test]
fn b30_what_rides_on_a_lifted_edit_costs_nothing() {
    let mirror = outputs(3);
    let lifted = vec![
        Edit { target: "o".into(), replacement: None },
        Edit { target: "e0".into(), replacement: Some(vec![]) },
    ];
    let judgements = vec![saving(ItemKind::Large, &["r1"], 1), saving(ItemKind::Small, &["r3"], 1)];
    assert_eq!(Weighing { lifted, ..break_even(&mirror) }.edited(judgements), ["r1", "r3"]);
}

#[test]
fn b30_exchanges_do_not_ride_on_outputs_that_do_not_pay() {
    let mirror = context(3, 80_000);
    let settings = Settings { run_end_break_even: true, ..Settings::default() };
    let weighing = Weighing { settings, ..Weighing::of(&mirror, CacheScheme::OpenaiCodex) };
    let judgements =
        vec![saving(ItemKind::Small, &["answer"], 1), saving(ItemKind::Exchange, &["e0"], 9_000)];
    assert_eq!(weighing.result(judgements), (vec![], vec!["answer".into(), "e0".into()]));
}

#[test]
fn b30_exchanges_ride_on_outputs_that_pay() {
    let mirror = context(3, 1_000);
    let settings = Settings { run_end_break_even: true, ..Settings::default() };
    let weighing = Weighing { settings, ..Weighing::of(&mirror, CacheScheme::OpenaiCodex) };
    let judgements = vec![saving(ItemKind::Small, &["answer"], 900), saving(ItemKind::Exchange, &["e0"], 1)];
    assert_eq!(weighing.edited(judgements), ["answer", "e0"]);
}
