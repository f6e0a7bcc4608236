//! Checkpoints: when one is due, and what it judges.

use super::*;
use crate::contract::types::StopReason;
use crate::session::context_size;

/// A text of that length, in lines of 100 characters.
pub(super) fn text(length: usize) -> String {
    let mut text = log(length.div_ceil(100));
    text.truncate(length);
    text
}

/// A turn that calls a tool and gets that text.
pub(super) fn turn(at: usize, output: &str) -> [Item; 2] {
    let id = format!("c{at}");
    [a("").call(&id, "bash", &json!({ "command": format!("step {at}") }).to_string()), r(&id, output)]
}

/// A run under way: outputs of these lengths in its first turns, and little in the others.
pub(super) fn run(lengths: &[usize], turns: usize) -> Vec<Item> {
    let output = |at: usize| lengths.get(at).map_or_else(|| "ok".into(), |length| text(*length));
    std::iter::once(u("Fix the tests")).chain((0..turns).flat_map(|at| turn(at, &output(at)))).collect()
}

/// Exchanges before a run: one that can go, and two recent ones with so much in their prompts.
fn earlier(length: usize, recent: usize) -> Vec<Item> {
    let exchange = |prompt: &str, answer: &str| [u(prompt), a(answer)];
    let old = exchange("Rename the crate", &"a".repeat(length - 16));
    [old, exchange(&"p".repeat(recent / 2), ""), exchange(&"p".repeat(recent / 2), "")].concat()
}

/// A turn whose output is a picture that is worth so much, which is 4 for each 750 pixels.
fn picture(at: usize, chars: u32) -> [Item; 2] {
    let [call, result] = turn(at, "saved");
    [call, result.block(png(chars / 4, 750))]
}

pub(super) fn checkpoint_of(guard: &mut Guard) -> Option<Inquiry> {
    guard.begin(Phase::MidRun, model(), 0).unwrap()
}

pub(super) fn checkpoint(items: &[Item]) -> Option<Inquiry> {
    checkpoint_of(&mut guard(items.to_vec()))
}

/// What is asked about: labels of the tool calls, and prompts.
pub(super) fn asked(inquiry: &Inquiry) -> Vec<String> {
    let bodies =
        inquiry.questions.iter().map(|question| serde_json::from_str::<Value>(&question.body).unwrap());
    let named = |body: Value| -> Vec<String> {
        let state = &body["state"];
        let each = |field: &str, name: &str| -> Vec<String> {
            let items = state[field].as_object().into_iter().flat_map(Map::values);
            items.map(|item| item[name].as_str().unwrap().to_owned()).collect()
        };
        let large = state["tool_arguments"].as_str().map(str::to_owned);
        large.into_iter().chain(each("items", "tool")).chain(each("exchanges", "user_prompt")).collect()
    };
    bodies.flat_map(named).collect()
}

fn due(items: &[Item]) -> bool {
    checkpoint(items).is_some()
}

/// Ends a checkpoint whose classifier wants only these chunks and items.
pub(super) fn passed(items: &[Item], wanted: &[&str]) -> Outcome {
    let mut guard = guard(items.to_vec());
    let inquiry = checkpoint_of(&mut guard).unwrap();
    guard.finish(wants(&inquiry, wanted), 0, false).unwrap()
}

#[test]
fn a_checkpoint_edits_old_outputs_while_the_run_goes_on() {
    let items = run(&[30_000, 30_000, 900, 900], 30);
    let mut guard = guard(items.clone());
    let inquiry = checkpoint_of(&mut guard).unwrap();
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 812, false).unwrap();
    assert_eq!(targets(&outcome), ["e2", "e4", "e6", "e8"]);
    let mut record = record_of(&outcome);
    record["results"].as_array_mut().unwrap().drain(1..3);
    insta::assert_snapshot!(serde_json::to_string_pretty(&record).unwrap());
    assert!(outcome.warnings.is_empty());

    let after = applied(&items, &outcome);
    let saved = |items: &[Item]| context_size(session(items.to_vec()).projection()) as i64;
    assert_eq!(record["savedChars"], json!(saved(&items) - saved(&after)));
    assert_eq!(checkpoint(&after), None, "nothing is left to judge");
}

#[test]
fn a_checkpoint_asks_about_the_work_that_is_left() {
    let mut items = run(&[60_000, 900], 30);
    items[3] = a("The first log tells nothing.").call("c1", "bash", r#"{"command":"step 1"}"#);
    items[5] = a("Running it again.").call("c2", "bash", r#"{"command":"step 0"}"#);
    let inquiry = checkpoint(&items).unwrap();
    let states: Vec<Value> = inquiry
        .questions
        .iter()
        .map(|question| serde_json::from_str::<Value>(&question.body).unwrap()["state"].take())
        .collect();
    let [first, second, small] = &states[..] else { panic!("two segments and a batch") };
    for state in [first, second] {
        assert_eq!(state["superseded"], "same command run again (2 turns on)");
        assert_eq!(state["later_tool_calls"].as_array().unwrap()[..2], ["bash `step 1`", "bash `step 0`"]);
    }
    assert!(small.get("later_tool_calls").is_none());
    for state in &states {
        assert_eq!(state["user_question"], "Fix the tests");
        assert_eq!(state["agent_progress"]["latest_note"], "Running it again.");
        assert_eq!(state["agent_progress"]["earlier_notes"], "The first log tells nothing.");
        assert!(state["situation"].as_str().unwrap().contains("in the middle of user_question"));
        assert!(state.get("final_answer").is_none());
    }
}

#[test]
fn c1_a_turn_without_a_tool_call_has_no_checkpoint() {
    let mut items = run(&[30_000, 30_000], 30);
    assert!(due(&items));
    items.push(a("Done."));
    assert!(!due(&items), "the final turn belongs to the run's end");
    items.push(u("also docs"));
    assert!(!due(&items), "a run that has said nothing yet has no turn");
    let mut broken = run(&[30_000, 30_000], 30);
    broken.push(a("").call("c99", "bash", "{}").stop(StopReason::Aborted));
    assert!(!due(&broken));
}

#[test]
fn c1_a_steering_message_or_a_notice_after_the_turn_changes_nothing() {
    let mut items = run(&[30_000, 30_000], 40);
    items.extend([u("also docs"), n("worker finished")]);
    let inquiry = checkpoint(&items).unwrap();
    assert!(inquiry.questions[0].body.contains("[The user added during the run] also docs"));
}

#[test]
fn checkpoints_can_be_switched_off() {
    let items = || whole(run(&[30_000, 30_000], 30));
    assert_eq!(checkpoint_of(&mut guard_with(r#"{"midRun":false}"#, items())), None);
    assert!(checkpoint_of(&mut guard_with(r#"{"midRun":true}"#, items())).is_some());
}

#[test]
fn c2_outputs_of_the_newest_four_turns_are_too_young() {
    let settings = r#"{"midRunBatchChars":0,"midRunBreakEven":false}"#;
    let inquiry = checkpoint_of(&mut guard_with(settings, whole(run(&[5_000; 7], 7)))).unwrap();
    assert_eq!(asked(&inquiry), [0, 1, 2].map(|at| format!(r#"{{"command":"step {at}"}}"#)));
    let inquiry = checkpoint_of(&mut guard_with(settings, whole(run(&[900; 7], 7)))).unwrap();
    assert_eq!(asked(&inquiry), [0, 1, 2].map(|at| format!("bash `step {at}`")));
    let young = r#"{"midRunBatchChars":0,"midRunBreakEven":false,"midRunMinAgeTurns":6}"#;
    let inquiry = checkpoint_of(&mut guard_with(young, whole(run(&[900; 7], 7)))).unwrap();
    assert_eq!(asked(&inquiry).len(), 1);
}

#[test]
fn c3_a_batch_has_60_000_characters() {
    assert!(!due(&run(&[30_000, 29_000, 999], 40)));
    assert!(due(&run(&[30_000, 29_000, 1_000], 40)));
    assert!(!due(&run(&[30_000, 29_000, 999, 300], 40)), "what is too small to judge does not count");
    let settings = r#"{"midRunBatchChars":100000,"midRunBatchCharsOpenAI":60000}"#;
    let due = |cache| {
        let mut guard = guard_with(settings, whole(run(&[30_000, 30_000], 40)));
        guard.begin(Phase::MidRun, Model { cache, ..model() }, 0).unwrap().is_some()
    };
    use CacheScheme::{Anthropic, OpenaiCodex, Other};
    assert_eq!([Anthropic, Other, OpenaiCodex].map(due), [false, false, true]);
}

#[test]
fn c4_on_codex_the_batch_pays_for_the_whole_context() {
    let due = |context: usize| {
        let mut items = run(&[30_000, 30_000], 20);
        let size = context_size(session(items.clone()).projection());
        items[0] = u(&"p".repeat(context - size + 13));
        assert_eq!(context_size(session(items.clone()).projection()), context);
        let codex = Model { cache: CacheScheme::OpenaiCodex, ..model() };
        guard(items).begin(Phase::MidRun, codex, 0).unwrap().is_some()
    };
    assert_eq!([92_000, 93_000].map(due), [true, false]);
}

#[test]
fn c5_equal_counts_are_enough() {
    let pays = |rewrite: usize| {
        let mut items = run(&[30_000, 30_000], 20);
        let size = context_size(session(items.clone()).projection().after(0));
        items[39] = a(&"a".repeat(rewrite - size)).call("c19", "bash", r#"{"command":"step 19"}"#);
        assert_eq!(context_size(session(items.clone()).projection().after(0)), rewrite);
        due(&items)
    };
    assert_eq!([75_000, 75_001].map(pays), [true, false]);
}

#[test]
fn c6_what_lies_before_the_question_waits_where_it_does_not_pay() {
    // Some 10k of an old picture and 50k of an exchange before the question, 15k of pictures behind it.
    let asked = |outputs: usize| {
        let mut items = earlier(50_000, 400_000);
        items.splice(1..1, picture(90, 10_000));
        items.extend(run(&[outputs], 30));
        items.splice(10..10, picture(91, 15_200));
        checkpoint(&items).map(|inquiry| asked(&inquiry))
    };
    assert_eq!(asked(40_000), None, "40k and 15k are less than a batch");
    assert_eq!(asked(46_000).unwrap(), vec![r#"{"command":"step 0"}"#; 2], "two segments, no exchange");
}

#[test]
fn c7_a_checkpoint_without_exchanges_leaves_them_for_later() {
    let mut items = earlier(50_000, 200_000);
    items.extend(run(&[35_000, 35_000], 30));
    let inquiry = checkpoint(&items).unwrap();
    assert!(asked(&inquiry).iter().all(|item| item.contains("step")), "{:?}", asked(&inquiry));
    let outcome = passed(&items, &[]);
    assert_eq!(targets(&outcome), ["e8", "e10"]);
    let mut items = applied(&items, &outcome);
    items.push(a("Done."));
    assert_eq!(asked(&begin(&mut guard(items)).unwrap()), ["Rename the crate"]);
}

#[test]
fn c8_without_the_break_even_all_is_judged_together() {
    let mut items = earlier(55_000, 80_000);
    items.extend(run(&[10_000], 6));
    assert!(!due(&items));
    let mut guard = guard_with(r#"{"midRunBreakEven":false}"#, whole(items));
    let inquiry = checkpoint_of(&mut guard).unwrap();
    assert_eq!(asked(&inquiry), [r#"{"command":"step 0"}"#, "Rename the crate"]);
    let outcome = guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e8", "e0", "e1"], "nothing is weighed after judging either");
}

#[test]
fn c9_old_screenshots_alone_make_a_checkpoint_that_asks_nothing() {
    let mut items = vec![u("Watch the page")];
    items.extend((0..30).flat_map(|at| picture(at, 6_556)));
    let mut guard = guard(items.clone());
    let inquiry = checkpoint_of(&mut guard).unwrap();
    assert_eq!(inquiry.questions, []);
    let outcome = guard.finish(vec![], 0, false).unwrap();
    assert_eq!(outcome.edits.len(), 27);
    let record = record_of(&outcome);
    assert_eq!((&record["phase"], &record["requests"]), (&json!("mid-run"), &json!(0)));
    let problem = Some("no openrouter key".into());
    guard.observe(Circumstances { problem, ..circumstances() });
    guard.update(whole(items)).unwrap();
    assert_eq!(checkpoint_of(&mut guard).unwrap().questions, [], "that needs no classifier");
}

#[test]
fn c10_what_a_checkpoint_judged_is_not_asked_about_at_the_next() {
    let items = run(&[30_000, 30_000], 40);
    let after = applied(&items, &passed(&items, &["whole"]));
    assert_eq!(checkpoint(&after), None);
    let mut more = after.clone();
    more.extend((40..44).flat_map(|at| turn(at, &text(20_000))));
    more.extend((44..50).flat_map(|at| turn(at, "ok")));
    assert_eq!(asked(&checkpoint(&more).unwrap()).len(), 4, "only what is new");
    for failure in [Failure::Timeout, Failure::Error] {
        let mut guard = guard(items.clone());
        let inquiry = checkpoint_of(&mut guard).unwrap();
        let outcome = guard.finish(failing(&inquiry, failure, 9), 0, failure == Failure::Timeout).unwrap();
        assert_eq!(outcome.edits, []);
        assert_eq!(checkpoint(&applied(&items, &outcome)), Some(inquiry), "{failure:?}");
    }
}

#[test]
fn b9_an_output_with_a_failed_segment_is_asked_about_again_unless_it_was_edited() {
    let items = run(&[60_000, 40_000], 40);
    let outcome = |failed: &[usize]| {
        let mut guard = guard(items.clone());
        let inquiry = checkpoint_of(&mut guard).unwrap();
        let mut verdicts = wants(&inquiry, &[]);
        for at in failed {
            verdicts[*at].reply = Reply::Failed(Failure::Error);
        }
        guard.finish(verdicts, 0, false).unwrap()
    };
    // The first output has two segments of about 30,000, the second one of 32,000 and one of 8,000.
    let kept = outcome(&[2]);
    assert_eq!(reasons(&kept), ["none-needed", "not-worth,error"]);
    let settings = r#"{"midRunBatchChars":0}"#;
    let again = checkpoint_of(&mut guard_with(settings, whole(applied(&items, &kept)))).unwrap();
    assert_eq!(asked(&again), vec![r#"{"command":"step 1"}"#; 2]);
    let edited = outcome(&[3]);
    assert_eq!(reasons(&edited), ["none-needed", "chunks,error"]);
    assert_eq!(checkpoint_of(&mut guard_with(settings, whole(applied(&items, &edited)))), None);
}

#[test]
fn c11_edits_that_never_reached_the_branch_are_judged_again() {
    let mut guard = guard(run(&[30_000, 30_000], 30));
    let inquiry = checkpoint_of(&mut guard).unwrap();
    guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
    assert_eq!(checkpoint_of(&mut guard), Some(inquiry));
}

#[test]
fn c12_going_back_before_a_checkpoint_forgets_it() {
    let items = run(&[30_000, 30_000], 30);
    let first = checkpoint(&items);
    let mut guard = guard(applied(&items, &passed(&items, &["whole"])));
    assert_eq!(checkpoint_of(&mut guard), None);
    let branch = u32::try_from(items.len()).unwrap();
    let back = Delta { keep_branch: branch, branch: vec![], keep_context: branch, context: vec![] };
    guard.update(back).unwrap();
    assert_eq!(checkpoint_of(&mut guard), first);
}

#[test]
fn s13_what_a_checkpoint_kept_is_judged_again_by_the_answer() {
    let mut items = run(&[30_000, 30_000], 30);
    items = applied(&items, &passed(&items, &["whole"]));
    items.push(a("Done."));
    let inquiry = begin(&mut guard(items)).unwrap();
    assert_eq!(asked(&inquiry).len(), 2);
    assert!(inquiry.questions[0].body.contains("final_answer"));
}

#[test]
fn s14_what_recall_gave_back_is_left_alone_during_the_run() {
    let mut items = run(&[30_000, 30_000, 5_000], 30);
    let call = r#"{"entryId":"e99"}"#;
    items.splice(5..7, [a("").call("c2", "recall", call), r("c2", &text(5_000)).tool("recall")]);
    assert_eq!(asked(&checkpoint(&items).unwrap()).len(), 2);
}

#[test]
fn s15_a_small_output_whose_call_is_gone_counts_as_old_and_a_large_one_is_passed_over() {
    let mut items = run(&[30_000, 30_000], 30);
    items.extend([r("gone", &text(900)), r("lost", &text(9_000))]);
    let inquiry = checkpoint(&items).unwrap();
    assert_eq!(asked(&inquiry)[2..], ["tool"]);
}

#[test]
fn b20_no_checkpoint_while_recall_cannot_be_called() {
    let mut guard = guard(run(&[30_000, 30_000], 30));
    guard.observe(Circumstances { recall_active: false, ..circumstances() });
    assert_eq!(checkpoint_of(&mut guard), None);
}

#[test]
fn b23_what_was_recalled_in_the_run_is_not_judged_again_and_comes_back_with_the_next_checkpoint() {
    let mut items = run(&[30_000, 30_000], 30);
    items = applied(&items, &passed(&items, &[]));
    items.extend((30..32).flat_map(|at| turn(at, &text(40_000))));
    for at in 32..38 {
        items.extend(turn(at, "ok"));
    }
    let recall = |at: usize| {
        let id = format!("c{at}");
        [a("").call(&id, "recall", r#"{"entryId":"e2"}"#), r(&id, "the original").tool("recall")]
    };
    items.extend(recall(38));
    let once = passed(&items, &[]);
    assert!(!targets(&once).contains(&"e2"));
    items.extend(recall(39));
    let twice = passed(&items, &[]);
    assert!(targets(&twice).contains(&"e2"));
    assert!(reasons(&twice).contains(&"recalled".to_owned()));
    let after = applied(&items, &twice);
    let mirror = session(after.clone());
    assert!(!mirror.projection().get(2).unwrap().altered());
    assert_eq!(checkpoint(&after), None, "it is not judged again");
}
