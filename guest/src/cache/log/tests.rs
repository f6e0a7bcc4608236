use super::*;
use crate::contract::types::{CacheScheme, ThinkingBinding};
use crate::session::fixtures::*;

const FIVE_MINUTES: u64 = 300_000;

fn model() -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: None,
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

/// A run with three calls, one after the other; their results are `e2`, `e4` and `e6`.
fn run() -> Vec<Item> {
    let call = |id: &str| a("").call(id, "bash", "{}");
    vec![u("q"), call("c1"), r("c1", "one"), call("c2"), r("c2", "two"), call("c3"), r("c3", "three")]
}

/// The log after a request of that session marked the results of these calls.
fn log_of(items: &[Item], calls: &[&str], now: Timestamp) -> CacheLog {
    let mut log = CacheLog::default();
    send(&mut log, items, calls, now);
    log
}

fn send(log: &mut CacheLog, items: &[Item], calls: &[&str], now: Timestamp) {
    let marked: Vec<_> = calls.iter().map(|call| (*call, FIVE_MINUTES)).collect();
    log.sent(&session(items.iter().cloned()), &model(), &marked, false, now);
}

fn read_point(log: &CacheLog, items: &[Item], before: usize, now: Timestamp) -> Option<usize> {
    log.read_point(&session(items.iter().cloned()), &model().name, before, now)
}

#[test]
fn c17_an_entry_of_five_minutes_is_trusted_for_exactly_that_long() {
    let log = log_of(&run(), &["c1"], 1_000);
    let at = |now| read_point(&log, &run(), 4, now);
    assert_eq!([301_000, 301_001].map(at), [Some(2), None]);
    assert_eq!(at(0), Some(2), "a clock that was set back proves nothing");
}

#[test]
fn b10_an_entry_lives_as_long_as_the_mark_that_wrote_it_or_as_the_host_keeps_it_warm() {
    let lifetime = |mark: u64, cache_lifetime: u32| {
        let mut log = CacheLog::default();
        let mirror = session(run());
        log.sent(&mirror, &Model { cache_lifetime, ..model() }, &[("c1", mark)], false, 0);
        let lives = |now: &u64| log.read_point(&mirror, &model().name, 4, *now).is_some();
        [300_000, 300_001, 1_800_000, 1_800_001, 3_600_000, 3_600_001].iter().filter(|now| lives(now)).count()
    };
    assert_eq!(lifetime(FIVE_MINUTES, 300), 1);
    assert_eq!(lifetime(FIVE_MINUTES, 1_800), 3, "30 minutes");
    assert_eq!(lifetime(12 * FIVE_MINUTES, 300), 5, "an hour");
}

#[test]
fn b10_what_the_host_keeps_warm_is_trusted_while_it_says_so() {
    let mirror = session(run());
    let told = |cache_lifetime| Model { cache_lifetime, ..model() };
    let mut log = log_of(&run(), &["c1"], 0);
    log.sent(&mirror, &told(1_800), &[("c3", FIVE_MINUTES)], true, 270_000);
    assert_eq!(read_point(&log, &run(), 4, 1_800_000), Some(2), "a replay keeps all of the cache warm");
    log.sent(&mirror, &told(300), &[("c3", FIVE_MINUTES)], false, 1_500_000);
    assert_eq!(read_point(&log, &run(), 4, 1_500_000), None, "and now nobody does");
}

#[test]
fn c18_another_models_entry_and_one_of_a_branch_that_was_left_are_not_trusted() {
    let log = log_of(&run(), &["c1"], 0);
    assert_eq!(log.read_point(&session(run()), "anthropic/other", 4, 0), None);

    let mut elsewhere = run();
    elsewhere[6] = r("c3", "three").id("again");
    assert_eq!(read_point(&log, &elsewhere, 4, 0), None, "the leaf is gone");
    assert_eq!(read_point(&log, &run(), 4, 0), Some(2));
}

#[test]
fn c19_an_edit_at_or_before_an_entry_and_a_summary_end_its_trust() {
    let log = log_of(&run(), &["c2"], 0);
    let after = |item: Item| read_point(&log, &[run(), vec![item]].concat(), 6, 0);
    assert_eq!(after(edit("e4")), None);
    assert_eq!(after(edit("e0")), None);
    assert_eq!(after(edit("e6")), Some(4));
    assert_eq!(after(edit("nowhere")), None, "what is not on the branch could be anywhere");
    assert_eq!(after(compaction("so far")), None);
    assert_eq!(after(branch_summary("there")), None);
    assert_eq!(after(other()), Some(4));
}

#[test]
fn an_edit_from_before_the_request_was_in_it() {
    let items = [run(), vec![edit("e2")]].concat();
    let log = log_of(&items, &["c2"], 0);
    assert_eq!(read_point(&log, &items, 6, 0), Some(4));
}

#[test]
fn the_latest_entry_before_the_edit_is_the_read_point() {
    let log = log_of(&run(), &["c1", "c2", "c3"], 0);
    let before = |before| read_point(&log, &run(), before, 0);
    assert_eq!([2, 3, 4, 5, 6, 7].map(before), [None, Some(2), Some(2), Some(4), Some(4), Some(6)]);
}

#[test]
fn c44_a_result_is_found_by_its_id_as_it_was_sent() {
    let long = "x".repeat(70);
    let items = [u("q"), r("call_1|fc_9", "one"), r(&long, "two"), r("é😀", "three")];
    let log = log_of(&items, &["call_1_fc_9", &long[..64], "___"], 0);
    assert_eq!([2, 3, 4].map(|before| read_point(&log, &items, before, 0)), [Some(1), Some(2), Some(3)]);
    assert_eq!(read_point(&log_of(&items, &["call_1", &long[..63]], 0), &items, 4, 0), None);
}

#[test]
fn of_results_with_the_same_id_the_newest_was_marked() {
    let items = [r("c1", "one"), r("c1", "two")];
    assert_eq!(read_point(&log_of(&items, &["c1"], 0), &items, 2, 0), Some(1));
}

#[test]
fn c48_an_empty_log_has_no_read_point() {
    assert_eq!(read_point(&CacheLog::default(), &run(), 7, 0), None);
    let mut log = log_of(&run(), &["c1"], 0);
    log.clear();
    assert_eq!(read_point(&log, &run(), 7, 0), None);
}

#[test]
fn the_newest_two_hundred_entries_are_kept() {
    let items: Vec<Item> = (0..300).map(|at| r(&format!("c{at}"), "x")).collect();
    let mut log = CacheLog::default();
    for at in 0..300 {
        send(&mut log, &items, &[&format!("c{at}")], at);
        send(&mut log, &items, &[&format!("c{at}")], at);
    }
    assert_eq!(log.written.len(), 200);
    assert_eq!(log.written[0].entry, "e100", "the same entry again takes no second place");
}

/// A run whose first request read and wrote `baseline` tokens, with 9,000 characters from the prompt to the end of `e2`.
fn measured(baseline: u64) -> Vec<Item> {
    let usage = Usage { input: 100, output: 50, cache_read: 400, cache_write: baseline - 500 };
    let first = a(&"a".repeat(2_000)).call("c1", "bash", &"b".repeat(996)).usage(usage);
    let second = a("").call("c2", "bash", "{}");
    vec![u(&"q".repeat(5_000)), first, r("c1", &"r".repeat(6_000)), second, r("c2", "x")]
}

/// Whether a response that read so much renews an entry that was written for `e2` four minutes before the request.
fn renews(items: &[Item], cache_read: u64, model: &str) -> bool {
    let mut log = log_of(items, &["c1"], 0);
    send(&mut log, items, &["c2"], 240_000);
    let usage = Usage { input: 10, output: 10, cache_read, cache_write: 10 };
    log.responded(&session(items.iter().cloned()), model, usage);
    read_point(&log, items, 3, 540_000).is_some()
}

#[test]
fn c22_reading_through_an_entry_renews_it() {
    let items = measured(6_000);
    assert_eq!([12_000, 11_999].map(|read| renews(&items, read, "anthropic/claude")), [true, false]);
}

#[test]
fn c23_without_a_baseline_to_compare_with_nothing_is_renewed() {
    assert!(
        !renews(&measured(6_000), 6_000, "anthropic/claude"),
        "no more was read than by the first request"
    );
    assert!(!renews(&measured(6_000), 99_000, "anthropic/other"));
    let mut unanswered = measured(6_000);
    unanswered[1] = a("").call("c1", "bash", "{}");
    assert!(!renews(&unanswered, 99_000, "anthropic/claude"), "the first reply has no usage");
    unanswered[1] =
        a("").call("c1", "bash", "{}").usage(Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 });
    assert!(!renews(&unanswered, 99_000, "anthropic/claude"));
}

#[test]
fn c24_an_entry_before_the_last_user_message_is_not_renewed() {
    let mut items = measured(6_000);
    items.extend([
        u("also docs"),
        a("On it.").usage(Usage { input: 1, output: 1, cache_read: 1, cache_write: 1 }),
    ]);
    assert!(!renews(&items, 99_000, "anthropic/claude"));
}

#[test]
fn what_the_request_itself_wrote_stays_as_it_is() {
    let items = measured(6_000);
    let mut log = log_of(&items, &["c1"], 5);
    log.responded(
        &session(items.clone()),
        "anthropic/claude",
        Usage { input: 0, output: 0, cache_read: 99_000, cache_write: 0 },
    );
    assert_eq!([300_005, 300_006].map(|now| read_point(&log, &items, 3, now).is_some()), [true, false]);
}

#[test]
fn b10_a_replay_renews_what_it_marks_but_takes_no_response() {
    let items = measured(6_000);
    let mirror = session(items.clone());
    let read = |cache_read| Usage { input: 10, output: 10, cache_read, cache_write: 10 };
    let mut log = log_of(&items, &["c1"], 0);
    send(&mut log, &items, &["c2"], 100_000);
    log.sent(&mirror, &model(), &[("c2", FIVE_MINUTES)], true, 290_000);
    assert_eq!(read_point(&log, &items, 5, 590_000), Some(4), "marked again");

    log.responded(&mirror, "anthropic/claude", read(99_000));
    let at = |log: &CacheLog, now| read_point(log, &items, 4, now);
    assert_eq!(
        [400_000, 400_001].map(|now| at(&log, now)),
        [Some(2), None],
        "renewed by the request, not by the replay"
    );

    log.sent(&mirror, &model(), &[], true, 390_000);
    log.responded(&mirror, "anthropic/claude", read(99_000));
    assert_eq!(at(&log, 400_001), None, "that response belonged to no request");
}

#[test]
fn a_response_is_taken_once() {
    let items = measured(6_000);
    let mirror = session(items.clone());
    let usage = Usage { input: 10, output: 10, cache_read: 99_000, cache_write: 10 };
    let mut log = CacheLog::default();
    log.sent(&mirror, &model(), &[], false, 100);
    log.responded(&mirror, "anthropic/claude", usage);
    send(&mut log, &items, &["c1"], 50);
    log.sent = None;
    log.responded(&mirror, "anthropic/claude", usage);
    assert_eq!(read_point(&log, &items, 3, 300_051), None);
}
