//! Small outputs.

use super::*;
use crate::text::units;

/// A run of one bash call per text, answered.
fn run_of<const N: usize>(texts: [&str; N]) -> Mirror {
    let turn = |(at, text): (usize, &&str)| {
        let id = format!("c{at}");
        [a("").call(&id, "bash", r#"{"command":"make"}"#), r(&id, text)]
    };
    let items = std::iter::once(u("p")).chain(texts.iter().enumerate().flat_map(turn));
    session(items.chain([a("Done.")]))
}

fn plan<'a>(mirror: &'a Mirror, settings: &'a Settings) -> Plan<SmallOutput<'a>> {
    let run = Run::of(mirror.projection()).unwrap();
    let masks = Masks::default();
    let calls = Calls::of(&run, "/project", settings, &masks);
    Plan::new(small_outputs(outputs(&run, settings), &calls, settings), settings)
}

fn count(mirror: &Mirror, settings: &Settings) -> usize {
    plan(mirror, settings).items().len()
}

fn judged(mirror: &Mirror, reply: Reply) -> Judgement {
    let settings = Settings::default();
    plan(mirror, &settings).judge(&[reply], &settings).remove(0)
}

#[test]
fn s1_from_400_characters_on_and_below_those_of_a_large_one() {
    let settings = Settings::default();
    let [less, least, most, large] = [399, 400, 3_999, 4_000].map(|len| "x".repeat(len));
    assert_eq!([less, least, most, large].map(|text| count(&run_of([&text]), &settings)), [0, 1, 1, 0]);
}

#[test]
fn small_outputs_can_be_switched_off() {
    let settings = Settings { small_result_min_chars: 0, ..Settings::default() };
    assert_eq!(count(&run_of([&"x".repeat(500)]), &settings), 0);
}

#[test]
fn g11_a_least_length_above_that_of_a_large_one_leaves_none() {
    let settings = Settings { small_result_min_chars: 5_000, ..Settings::default() };
    assert_eq!(count(&run_of([&"x".repeat(4_500), &"x".repeat(3_900)]), &settings), 0);
}

#[test]
fn s2_a_stub_that_would_be_longer_is_not_worth_a_question() {
    let settings = Settings { small_result_min_chars: 100, ..Settings::default() };
    let items = |len: usize| {
        let arguments = json!({ "command": "x".repeat(300) }).to_string();
        session([u("p"), a("").call("c1", "bash", &arguments), r("c1", &"y".repeat(len)), a("Done.")])
    };
    assert_eq!(count(&items(150), &settings), 0);
    let mirror = items(399);
    let stub = units(text(&judged_with(&mirror, &settings)));
    assert_eq!((count(&items(stub), &settings), count(&items(stub + 1), &settings)), (0, 1));
}

fn judged_with(mirror: &Mirror, settings: &Settings) -> Judgement {
    plan(mirror, settings).judge(&[all(0.0)], settings).remove(0)
}

#[test]
fn s3_kept_from_a_probability_of_0_45() {
    let mirror = run_of([&"x".repeat(500)]);
    let kept = judged(&mirror, all(0.45));
    assert_eq!(told(&kept), (ItemOutcome::Kept, "needed", "p.45"));
    assert_eq!((kept.edits.len(), kept.saved_chars()), (0, 0));
    let removed = judged(&mirror, all(0.44));
    assert_eq!(told(&removed), (ItemOutcome::Removed, "not-needed", "p.44"));
    assert_eq!(removed.result.before_chars, 500);
    assert_eq!(removed.result.after_chars, units(text(&removed)) as u64);
}

#[test]
fn t6_the_stub_of_a_small_output() {
    let mirror = session([
        u("p"),
        a("").call("c1", "bash", r#"{"command":"cargo test -p store"}"#),
        r("c1", &"x".repeat(1_234)).id("9a3f00c1"),
        a("Done."),
    ]);
    assert_eq!(
        text(&judged(&mirror, all(0.1))),
        "[context-guard] Omitted the output of bash `cargo test -p store` (1.2k chars): judged no longer needed. \
         Full output: recall({\"entryId\":\"9a3f00c1\"})."
    );
}

#[test]
fn s4_without_an_answer_it_stays() {
    let mirror = run_of([&"x".repeat(500)]);
    let answer = |value: Value| Reply::Answers([("item_1".to_owned(), value)].into_iter().collect());
    for reply in [
        Reply::Answers(Map::new()),
        answer(json!({ "type": "choice", "choice": "true", "probabilities": {} })),
        answer(json!({ "type": "bool", "probability": -0.1 })),
        answer(json!(0.1)),
    ] {
        let kept = judged(&mirror, reply);
        assert_eq!(told(&kept), (ItemOutcome::Kept, "no-answer", "p? no-answer"));
        assert!(kept.edits.is_empty());
    }
}

#[test]
fn a_failed_or_late_reply_keeps_its_batch_and_no_other() {
    let text = "x".repeat(3_800);
    let (mirror, settings) = (run_of([text.as_str(); 10]), Settings::default());
    let plan = plan(&mirror, &settings);
    let reasons = |replies: &[Reply]| {
        let judged = plan.judge(replies, &settings);
        judged.iter().map(|judgement| judgement.result.reason.clone()).collect::<Vec<_>>()
    };
    let mut expected = vec!["error"; 8];
    expected.extend(["not-needed"; 2]);
    assert_eq!(reasons(&[Reply::Failed(Failure::Error), all(0.1)]), expected);
    expected = vec!["needed"; 8];
    expected.extend(["timeout"; 2]);
    assert_eq!(reasons(&[all(0.9), Reply::Failed(Failure::Timeout)]), expected);
    assert_eq!(reasons(&[all(0.9)]), expected, "a reply that is missing came too late");
}

#[test]
fn s5_ten_outputs_of_3_800_make_two_requests_whose_labels_restart() {
    let text = "x".repeat(3_800);
    let (mirror, settings) = (run_of([text.as_str(); 10]), Settings::default());
    let plan = plan(&mirror, &settings);
    let requests = plan.requests(&run_end(), &Masks::default());
    assert_eq!((requests.len(), plan.questions()), (2, 2));
    assert_eq!((asked(&requests[0]).len(), asked(&requests[0])[0]), (8, "item_1"));
    assert_eq!(asked(&requests[1]), ["item_1", "item_2"]);
}

#[test]
fn s16_a_failed_one_says_so() {
    let mirror =
        session([u("p"), a("").call("c1", "bash", "{}"), r("c1", &"x\n".repeat(450)).failed(), a("Done.")]);
    let settings = Settings::default();
    let requests = plan(&mirror, &settings).requests(&run_end(), &Masks::default());
    assert_eq!(requests[0].state["items"]["item_1"]["status"], "failed");
}

#[test]
fn b24_a_failing_one_carries_its_failure_below_the_stub() {
    let log = "compiling a part of the program, which takes a while\n".repeat(15);
    let output = format!("{log}error: it broke\n{log}1\n2\n3\n4\n5\n");
    let mirror = session([u("p"), a("").call("c1", "bash", "{}"), r("c1", &output).failed(), a("Done.")]);
    let judgement = judged(&mirror, all(0.1));
    let lines: Vec<&str> = text(&judgement).split('\n').collect();
    assert!(lines[0].starts_with("[context-guard] Omitted the output of bash (1.6k chars)"), "{}", lines[0]);
    assert_eq!(lines[1..], ["error: it broke", "1", "2", "3", "4", "5"]);
    assert_eq!(told(&judgement), (ItemOutcome::Distilled, "not-needed", "p.10"));
    assert_eq!(judgement.result.after_chars, units(text(&judgement)) as u64);
}

#[test]
fn b24_a_failing_one_stays_whole_where_that_would_not_be_shorter() {
    let output = "error: it broke, and there is nothing else to be said about it\n".repeat(9);
    let items = |result: Item| session([u("p"), a("").call("c1", "bash", "{}"), result, a("Done.")]);
    let settings = Settings::default();
    assert_eq!(count(&items(r("c1", &output).failed()), &settings), 0);
    assert_eq!(count(&items(r("c1", &output)), &settings), 1);
}

/// What a checkpoint would judge in a run of 7 turns, by entry.
fn due<'a>(mirror: &'a Mirror, settings: &Settings) -> Vec<&'a str> {
    let run = Run::of(mirror.projection()).unwrap();
    let memo = judged_outputs(mirror);
    let due =
        |output: &Candidate<'_>| due_at_checkpoint(output, &run, settings) && !memo.contains(output.entry);
    outputs(&run, settings).into_iter().filter(due).map(|output| output.entry).collect()
}

#[test]
fn c2_a_checkpoint_leaves_the_newest_turns_alone() {
    let text = "x".repeat(500);
    let mut items = vec![u("p")];
    for turn in 0..7 {
        let id = format!("c{turn}");
        items.extend([a("").call(&id, "bash", "{}"), r(&id, &text).id(&format!("r{turn}"))]);
    }
    assert_eq!(due(&session(items.clone()), &Settings::default()), ["r0", "r1", "r2"]);
    items.truncate(9);
    assert_eq!(due(&session(items), &Settings::default()), [""; 0]);
}

#[test]
fn s13_what_a_checkpoint_judged_waits_for_the_run_end() {
    let text = "x".repeat(500);
    let mut items = vec![u("p")];
    for turn in 0..7 {
        let id = format!("c{turn}");
        items.extend([a("").call(&id, "bash", "{}"), r(&id, &text).id(&format!("r{turn}"))]);
    }
    let reasons = ["needed", "whole-needed,timeout", "error"].map(str::to_owned);
    let results = (0..3).zip(&reasons).map(|(turn, reason)| {
        json!({ "kind": "small", "entryId": format!("r{turn}"), "outcome": "kept", "reason": reason })
    });
    let written = json!({ "v": 1, "phase": "mid-run", "results": results.collect::<Vec<_>>() });
    items.push(record(&written.to_string()));
    let mirror = session(items);
    assert_eq!(due(&mirror, &Settings::default()), ["r1", "r2"]);
    assert_eq!(count(&mirror, &Settings::default()), 7, "at run end all are asked about");
}

#[test]
fn c10_of_a_checkpoints_results_only_those_that_failed_are_asked_about_again() {
    let reasons = ["whole-needed", "not-worth", "no-answer", "timeout", "error,timeout"];
    let results = reasons.map(|reason| json!({ "entryId": reason, "outcome": "kept", "reason": reason }));
    let mirror = |phase: &str| {
        let written = json!({ "v": 1, "phase": phase, "results": results });
        session([u("p"), record(&written.to_string())])
    };
    let mut judged: Vec<String> = judged_outputs(&mirror("mid-run")).into_iter().map(str::to_owned).collect();
    judged.sort_unstable();
    assert_eq!(judged, ["no-answer", "not-worth", "whole-needed"]);
    assert!(judged_outputs(&mirror("run-end")).is_empty());
}

#[test]
fn s14_what_was_recalled_is_judged_at_run_end_only() {
    let text = "x".repeat(500);
    let mut items = vec![u("p"), a("").call("c0", "recall", r#"{"entryId":"e9"}"#), r("c0", &text)];
    items.extend((0..6).map(|_| a("Going on.")));
    let mirror = session(items);
    assert_eq!(due(&mirror, &Settings::default()), [""; 0]);
    assert_eq!(count(&mirror, &Settings::default()), 1);
}

#[test]
fn s15_a_result_whose_call_is_gone_counts_as_of_the_first_turn() {
    let items = |turns: usize| {
        let replies = (0..turns).map(|_| a("Going on."));
        session([u("p"), r("gone", &"x".repeat(500)).id("r")].into_iter().chain(replies))
    };
    assert_eq!(due(&items(4), &Settings::default()), [""; 0], "the current turn is 3");
    assert_eq!(due(&items(5), &Settings::default()), ["r"]);
}
