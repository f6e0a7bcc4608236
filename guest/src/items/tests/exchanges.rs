//! Old exchanges.

use super::*;
use crate::contract::types::{Block, StopReason};
use crate::text::units;

/// An exchange of this size: prompt, one call with its result, and an answer.
fn exchange(name: &str, size: usize) -> Vec<Item> {
    let call = format!("call-{name}");
    let fixed = units(name) + 4 + 2 + 5;
    vec![
        u(name).id(&format!("u-{name}")),
        a("").call(&call, "bash", "{}").id(&format!("a-{name}")),
        r(&call, &"x".repeat(size - fixed)).id(&format!("r-{name}")),
        a("Done.").id(&format!("z-{name}")),
    ]
}

/// The exchange under test, then two more that are never judged, and a run.
fn followed(mut items: Vec<Item>) -> Vec<Item> {
    for name in ["late-1", "late-2", "now"] {
        items.extend(exchange(name, 3_000));
    }
    items
}

fn found<'a>(mirror: &'a Mirror, settings: &'a Settings) -> Vec<OldExchange<'a>> {
    let start = Run::of(mirror.projection()).map_or(0, |run| run.start);
    old_exchanges(mirror.projection(), start, settings)
}

fn prompts(mirror: &Mirror) -> Vec<&str> {
    found(mirror, &DEFAULT).into_iter().map(|exchange| exchange.prompt_id).collect()
}

/// The only exchange, judged with that probability.
fn judged(mirror: &Mirror, p: f64) -> Judgement {
    let mut judged = Plan::new(found(mirror, &DEFAULT), &DEFAULT).judge(&[all(p)], &DEFAULT);
    assert_eq!(judged.len(), 1);
    judged.remove(0)
}

#[test]
fn e1_all_but_the_last_two() {
    let items: Vec<Item> = (1..=6).flat_map(|at| exchange(&at.to_string(), 3_000)).collect();
    let mirror = session(items);
    assert_eq!(prompts(&mirror), ["u-1", "u-2", "u-3"]);
    let count = |keep| found(&mirror, &Settings { keep_recent_exchanges: keep, ..Settings::default() }).len();
    assert_eq!((count(0), count(4), count(9)), (5, 1, 0));
}

#[test]
fn e2_an_exchange_that_did_not_finish() {
    let mut items = exchange("old", 3_000);
    items[3] = a("Going on.").call("c9", "bash", "{}").stop(StopReason::Aborted);
    assert_eq!(prompts(&session(followed(items))), [""; 0]);
    let unanswered = vec![u(&"x".repeat(3_000))];
    assert_eq!(prompts(&session(followed(unanswered))), [""; 0]);
}

#[test]
fn e3_from_2_000_characters_on() {
    let count = |size| prompts(&session(followed(exchange("old", size)))).len();
    assert_eq!((count(1_999), count(2_000)), (0, 1));
}

#[test]
fn e4_an_omitted_one_is_not_judged_but_counts_as_one_of_the_last() {
    let mut items = exchange("one", 3_000);
    items.extend(exchange("two", 3_000));
    items.extend(exchange("three", 3_000));
    items.extend(exchange("now", 3_000));
    assert_eq!(prompts(&session(items.clone())), ["u-one"]);
    items[8] = items[8].clone().replaced("[context-guard] Omitted an earlier exchange.");
    for item in &mut items[9..12] {
        *item = item.clone().omitted();
    }
    items.extend(guard_pass(&[("u-three", "removed"), ("a-three", "removed"), ("r-three", "removed")]));
    assert_eq!(prompts(&session(items.clone())), ["u-one"]);
    items[0] = items[0].clone().replaced("[context-guard] Omitted an earlier exchange.");
    items.extend(guard_pass(&[("u-one", "removed")]));
    assert_eq!(prompts(&session(items)), [""; 0]);
}

#[test]
fn e5_what_somebody_else_changed_could_not_be_brought_back() {
    for changed in [
        |item: Item| item.replaced("rewritten"),
        |item: Item| item.omitted(),
        |item: Item| item.replaced("[context-guard] written by somebody else"),
    ] {
        for at in 0..3 {
            let mut items = exchange("old", 3_000);
            items[at] = changed(items[at].clone());
            assert_eq!(prompts(&session(followed(items))), [""; 0], "entry {at}");
        }
    }
}

#[test]
fn e6_our_own_text_in_it_does_not_matter() {
    let mut items = exchange("old", 3_000);
    items[2] = items[2].clone().replaced(&format!("[context-guard] Distilled …\n{}", "x".repeat(2_500)));
    let mut items = followed(items);
    items.extend(guard_pass(&[("r-old", "distilled")]));
    assert_eq!(prompts(&session(items)), ["u-old"]);
}

#[test]
fn b6_a_prompt_that_begins_with_the_marker_is_judged() {
    let mut items = exchange("old", 3_000);
    items[0] = u("[context-guard] Omitted an earlier exchange: what does that mean?");
    assert_eq!(prompts(&session(followed(items))).len(), 1);
}

#[test]
fn e7_a_screenshot_counts_by_its_pixels() {
    let shot = || vec![u("look").id("u-old").block(png(1_024, 768)), a("Nice.")];
    let mirror = session(followed(shot()));
    assert_eq!(judged(&mirror, 0.5).result.before_chars, 4 + 4_196 + 5);
    let mut items = exchange("old", 3_000);
    items[2] = items[2].clone().block(png(10, 10));
    assert_eq!(prompts(&session(followed(items))), ["u-old"]);
}

#[test]
fn e8_steering_messages_and_notices_go_with_it() {
    let mut items = exchange("old", 3_000);
    items.insert(3, u("also docs").id("steer"));
    items.insert(1, n("worker finished").id("notice"));
    let omitted = judged(&session(followed(items)), 0.1);
    assert_eq!(omitted.result.omitted, ["notice", "a-old", "r-old", "steer", "z-old"]);
}

#[test]
fn e9_what_edits_cannot_reach_stays_and_counts_as_a_message_only() {
    let mut items = exchange("old", 3_000);
    items.insert(1, fixed(500).id("shell"));
    items.insert(1, branch_summary("elsewhere").id("summary"));
    let omitted = judged(&session(followed(items)), 0.1);
    assert_eq!(omitted.result.omitted, ["a-old", "r-old", "z-old"]);
    assert_eq!(omitted.result.before_chars, 3_000);
    assert!(text(&omitted).contains("(6 messages, ~750 tokens)"), "{}", text(&omitted));
}

#[test]
fn e10_a_tail_that_a_compaction_left_belongs_to_no_exchange() {
    let mut items = exchange("cut", 3_000);
    items[0] = items[0].clone().compacted();
    items.push(compaction("so far"));
    items.extend(exchange("old", 3_000));
    assert_eq!(prompts(&session(followed(items))), ["u-old"]);
}

#[test]
fn e11_omitted_below_a_probability_of_0_2() {
    let mirror = session(followed(exchange("old", 3_000)));
    let kept = judged(&mirror, 0.20);
    assert_eq!(told(&kept), (ItemOutcome::Kept, "relevant", "p.20"));
    assert_eq!((kept.edits.len(), kept.result.omitted.len(), kept.saved_chars()), (0, 0, 0));
    let omitted = judged(&mirror, 0.19);
    assert_eq!(told(&omitted), (ItemOutcome::Removed, "unrelated", "p.19"));
    let targets: Vec<(&str, bool)> =
        omitted.edits.iter().map(|edit| (edit.target.as_str(), edit.replacement.is_some())).collect();
    assert_eq!(targets, [("u-old", true), ("a-old", false), ("r-old", false), ("z-old", false)]);
    assert_eq!(omitted.result.omitted, ["a-old", "r-old", "z-old"]);
    assert_eq!((omitted.result.tool.as_str(), omitted.result.label.as_str()), ("exchange", "\"old\""));
    assert_eq!(omitted.saved_chars(), 3_000 - units(text(&omitted)) as u64);
}

#[test]
fn e12_of_26_calls_20_are_named_and_all_of_them_cost() {
    let mut busy = a("");
    for at in 0..26 {
        busy = busy.call(&format!("c{at}"), "read", &format!(r#"{{"path":"{at}.rs"}}"#));
    }
    let mut items = vec![u("go").id("u-old"), busy];
    items.extend((0..26).map(|at| r(&format!("c{at}"), &"x".repeat(100))));
    items.push(a("Done."));
    let mirror = session(followed(items));
    let found = found(&mirror, &DEFAULT);
    assert_eq!(found[0].cost(), 2 + 5 + 26 * 60 + 200);
    let told = found[0].told(&Masks::default());
    let calls = told["tool_calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[19], &calls[20]), (21, &json!("read 19.rs"), &json!("[… 6 more …]")));
}

#[test]
fn long_prompts_and_answers_cost_and_tell_no_more_than_leaves() {
    let mirror = session(followed(vec![u(&"p".repeat(5_000)), a(&"a".repeat(5_000))]));
    let found = found(&mirror, &DEFAULT);
    assert_eq!(found[0].cost(), 600 + 800 + 200);
    let told = found[0].told(&Masks::default());
    assert_eq!(["user_prompt", "final_answer"].map(|field| units(told[field].as_str().unwrap())), [600, 800]);
}

fn recorded(phase: &str, reason: &str) -> Item {
    let result = json!({ "kind": "exchange", "entryId": "u-old", "outcome": "kept", "reason": reason });
    record(&json!({ "v": 1, "phase": phase, "results": [result] }).to_string())
}

#[test]
fn e13_judged_once_in_a_run() {
    let mut items = followed(exchange("old", 3_000));
    items.push(recorded("mid-run", "relevant"));
    assert!(judged_exchanges(&session(items.clone()), crate::session::Phase::RunEnd).contains("u-old"));
    items.extend(exchange("next", 3_000));
    assert!(
        judged_exchanges(&session(items), crate::session::Phase::RunEnd).is_empty(),
        "the next run asks again"
    );
}

#[test]
fn c13_a_steering_message_does_not_reset_the_memo() {
    let mut items = followed(exchange("old", 3_000));
    items.pop();
    items.extend([recorded("mid-run", "relevant"), u("also docs"), a("Done.")]);
    assert!(judged_exchanges(&session(items), crate::session::Phase::RunEnd).contains("u-old"));
}

#[test]
fn e14_e15_deferred_and_failed_ones_are_asked_about_again() {
    for (reason, again) in [("deferred", true), ("timeout", true), ("error", true), ("no-answer", false)] {
        let mut items = followed(exchange("old", 3_000));
        items.push(recorded("run-end", reason));
        assert_eq!(
            judged_exchanges(&session(items), crate::session::Phase::RunEnd).is_empty(),
            again,
            "{reason}"
        );
    }
}

#[test]
fn b30_one_deferred_at_a_checkpoint_is_asked_about_again_at_run_end_only() {
    let mut items = followed(exchange("old", 3_000));
    items.push(recorded("mid-run", "deferred"));
    let mirror = session(items);
    let judged = |phase| judged_exchanges(&mirror, phase).contains("u-old");
    assert!(judged(crate::session::Phase::MidRun) && !judged(crate::session::Phase::RunEnd));
}

#[test]
fn e14_b30_a_deferred_one_is_kept_with_its_answer() {
    let mut judgement = judged(&session(followed(exchange("old", 3_000))), 0.1);
    judgement.defer();
    assert_eq!(told(&judgement), (ItemOutcome::Kept, "deferred", "p.10"));
    assert_eq!((judgement.edits.len(), judgement.result.omitted.len(), judgement.saved_chars()), (0, 0, 0));
    assert_eq!(judgement.result.after_chars, 3_000);
    let mut kept = judged(&session(followed(exchange("old", 3_000))), 0.9);
    kept.defer();
    assert_eq!(kept.result.reason, "relevant");
}

#[test]
fn e16_a_long_prompt_is_cut_and_put_on_one_line() {
    let prompt = "rename\n\n the  crate ".repeat(20);
    let mirror = session(followed(vec![u(&prompt), a(&"x".repeat(3_000))]));
    let omitted = judged(&mirror, 0.1);
    let (_, rest) = text(&omitted).split_once('"').unwrap();
    let (quoted, _) = rest.split_once('"').unwrap();
    assert_eq!((units(quoted), quoted.ends_with('…')), (120, true));
    assert!(!quoted.contains('\n') && !quoted.contains("  "));
    assert_eq!(units(&omitted.result.label), 62);
}

#[test]
fn e17_the_stub_of_an_exchange() {
    let mut items = vec![u("rename the config crate").id("51e0aa12")];
    items.push(a("").call("c1", "bash", "{}").call("c2", "bash", "{}"));
    items.extend([r("c1", &"x".repeat(9_000)), r("c2", &"y".repeat(300)), a("Going on."), n("notice")]);
    items.push(a(&"z".repeat(9_410 - 9_300 - 23 - 12 - 9 - 6)));
    let omitted = judged(&session(followed(items)), 0.06);
    assert_eq!(
        text(&omitted),
        "[context-guard] Omitted an earlier exchange judged unrelated to the current work: \"rename the config \
         crate\" (7 messages, ~2.4k tokens). Full exchange: recall({\"entryId\":\"51e0aa12\"})."
    );
    assert_eq!(told(&omitted).2, "p.06");
    assert_eq!(omitted.result.before_chars, 9_410);
}

#[test]
fn an_image_only_prompt_is_named_as_questions_name_it() {
    let mirror = session(followed(vec![u("").block(png(900, 900)), a(&"x".repeat(3_000))]));
    assert!(text(&judged(&mirror, 0.1)).contains("\"[the user sent only an image]\""));
}

#[test]
fn a_call_and_its_result_are_never_parted() {
    let mut items = exchange("old", 3_000);
    items.insert(2, u("do something else").id("steer"));
    items[1] = items[1].clone().stop(StopReason::Aborted);
    let mirror = session(followed(items));
    assert_eq!(prompts(&mirror), [""; 0], "the result came after the next prompt");
    let mut items = exchange("old", 3_000);
    items.insert(3, r("call-gone", "a result without its call"));
    assert_eq!(prompts(&session(followed(items))), [""; 0]);
}

#[test]
fn ids_that_come_again_in_another_exchange_do_no_harm() {
    let mut items: Vec<Item> = vec![];
    for name in ["one", "two", "three", "now"] {
        items.extend([u(name).id(name), a("").call("call_0", "bash", "{}"), r("call_0", &"x".repeat(3_000))]);
        items.push(a("Done."));
    }
    assert_eq!(prompts(&session(items)), ["one"]);
}

#[test]
fn a_project_that_lets_no_earlier_conversation_leave_keeps_its_exchanges_in_as_well() {
    let mirror = session(followed(exchange("old", 3_000)));
    let count = |project: &str| found(&mirror, &Settings::load("{}", Some(project)).0).len();
    assert_eq!((count(r#"{"historyExchanges": 1}"#), count(r#"{"historyExchanges": 0}"#)), (1, 0));
}

#[test]
fn b41_calls_to_an_excluded_tool_are_told_by_name_only() {
    let mut items = exchange("old", 3_000);
    items[1] = a("").call("call-old", "vault", r#"{"path":"secret.txt"}"#);
    let mirror = session(followed(items));
    let settings = Settings { exclude_tools: vec!["vault".into()], ..Settings::default() };
    assert_eq!(found(&mirror, &settings)[0].told(&Masks::default())["tool_calls"], json!(["vault"]));
}

#[test]
fn thinking_counts_with_its_signature() {
    let mut items = exchange("old", 2_000);
    items[3] = items[3].clone().block(Block::Text("!".into())).block(thinking("hm", 401));
    assert_eq!(judged(&session(followed(items)), 0.5).result.before_chars, 2_000 + 1 + 2 + 201);
}
