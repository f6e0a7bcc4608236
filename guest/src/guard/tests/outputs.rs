//! Passes over the large outputs of a run, and what all passes share.

use super::*;

#[test]
fn a_run_of_large_outputs_is_distilled() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    assert_eq!(
        (inquiry.questions.len(), inquiry.budget.timeout_ms, inquiry.budget.concurrency),
        (2, 8_000, 6)
    );
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 812, false).unwrap();

    assert_eq!(targets(&outcome), ["e2", "e3"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&record_of(&outcome)).unwrap());
    assert!(outcome.warnings.is_empty());
}

#[test]
fn c11_an_edit_that_never_reached_the_branch_is_judged_again() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    guard.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    assert_eq!(begin(&mut guard), Some(inquiry));
}

#[test]
fn what_is_distilled_already_is_not_judged_again() {
    let mut first = guard(two_logs());
    let inquiry = begin(&mut first).unwrap();
    let outcome = first.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    assert_eq!(begin(&mut guard(applied(&two_logs(), &outcome))), None);
}

#[test]
fn b20_nothing_is_asked_while_recall_cannot_be_called() {
    let mut guard = guard(two_logs());
    guard.observe(Circumstances { recall_active: false, ..circumstances() });
    assert_eq!(begin(&mut guard), None);
    guard.observe(circumstances());
    assert!(begin(&mut guard).is_some());
}

#[test]
fn b20_a_host_that_says_nothing_gets_no_edits() {
    let mut guard = Guard::new();
    guard.update(whole(two_logs())).unwrap();
    assert_eq!(begin(&mut guard), None);
}

#[test]
fn nothing_is_asked_while_the_guard_is_off_or_has_a_problem() {
    assert_eq!(begin(&mut guard_with(r#"{"enabled":false}"#, whole(two_logs()))), None);
    let mut guard = guard(two_logs());
    guard.observe(Circumstances { problem: Some("no openrouter key".into()), ..circumstances() });
    assert_eq!(begin(&mut guard), None);
}

#[test]
fn l3_g15_a_run_below_the_least_total_is_not_judged() {
    let short = vec![u("p"), a("").call("c1", "bash", "{}"), r("c1", &log(75)), a("Done.")];
    assert_eq!(begin(&mut guard(short)), None);
}

#[test]
fn r1_without_a_prompt_there_is_no_run() {
    assert_eq!(begin(&mut guard(two_logs().split_off(1))), None);
}

#[test]
fn r3_what_a_steered_run_read_before_is_judged_as_well() {
    let mut items = two_logs();
    items.insert(4, u("Keep it short."));
    let inquiry = begin(&mut guard(items)).unwrap();
    let body: Value = serde_json::from_str(&inquiry.questions[0].body).unwrap();
    let question = "Why is step 7 slow?\n\n[The user added during the run] Keep it short.";
    assert_eq!((inquiry.questions.len(), &body["state"]["user_question"]), (2, &json!(question)));
}

#[test]
fn l26_an_output_that_cannot_be_sent_is_no_reason_to_ask() {
    let oversize = vec![u("p"), a("").call("c1", "bash", "{}"), r("c1", &"x".repeat(32_000)), a("Done.")];
    assert_eq!(begin(&mut guard(oversize)), None);
}

#[test]
fn l42_what_the_budget_cut_off_is_kept_and_may_be_asked_again() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    let late = failing(&inquiry, Failure::Timeout, 900);
    let outcome = guard.finish(late, 8_000, true).unwrap();
    assert!(outcome.edits.is_empty());
    assert_eq!(reasons(&outcome), ["timeout", "timeout"]);
    assert_eq!(record_of(&outcome)["timedOut"], true);
}

#[test]
fn l42_a_question_that_never_left_leaves_no_record() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(failing(&inquiry, Failure::Timeout, 0), 8_000, true).unwrap();
    assert_eq!((outcome.edits, outcome.guard_record), (vec![], None));
}

#[test]
fn l43_an_aborted_request_keeps_the_output() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(failing(&inquiry, Failure::Aborted, 900), 40, false).unwrap();
    assert_eq!(reasons(&outcome), ["error", "error"]);
    assert_eq!(record_of(&outcome)["timedOut"], false);
}

#[test]
fn a_question_without_a_verdict_counts_as_failed() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    let mut verdicts = wants(&inquiry, &["chunk_1"]);
    verdicts.truncate(1);
    let outcome = guard.finish(verdicts, 40, false).unwrap();
    assert_eq!(reasons(&outcome), ["chunks", "error"]);
}

#[test]
fn only_the_first_verdict_on_a_question_counts_and_strays_are_passed_over() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    let mut verdicts = wants(&inquiry, &["chunk_1"]);
    verdicts.extend(failing(&inquiry, Failure::Error, 900));
    verdicts.push(Verdict { id: 77, ..verdicts[0].clone() });
    let outcome = guard.finish(verdicts, 40, false).unwrap();
    assert_eq!((reasons(&outcome), &record_of(&outcome)["requests"]), (vec!["chunks".into(); 2], &json!(2)));
}

#[test]
fn b42_a_refusal_is_told_once_with_its_remedy() {
    let mut guard = guard(two_logs());
    let mut denied = || {
        let inquiry = begin(&mut guard).unwrap();
        let outcome = guard.finish(failing(&inquiry, Failure::Denied, 0), 3, false).unwrap();
        assert_eq!((outcome.edits, outcome.guard_record), (vec![], None));
        outcome.warnings
    };
    let [warning] = <[String; 1]>::try_from(denied()).unwrap();
    assert!(warning.contains("https://openrouter.ai") && warning.contains("/guard allow"), "{warning}");
    assert_eq!(denied(), Vec::<String>::new());
}

#[test]
fn a_classifier_that_cannot_be_asked_is_told_once_and_recorded() {
    let mut guard = guard(two_logs());
    let failed = |guard: &mut Guard| {
        let inquiry = begin(guard).unwrap();
        guard.finish(failing(&inquiry, Failure::Error, 0), 3, false).unwrap()
    };
    let outcome = failed(&mut guard);
    let [warning] = &outcome.warnings[..] else { panic!("{outcome:?}") };
    assert!(warning.contains("https://openrouter.ai gave no answer"), "{warning}");
    assert_eq!((reasons(&outcome), &record_of(&outcome)["requests"]), (vec!["error".into(); 2], &json!(2)));
    assert!(failed(&mut guard).warnings.is_empty());
}

#[test]
fn a_time_out_is_told_once_until_the_settings_are_read_again() {
    let mut guard = guard(two_logs());
    let late = |guard: &mut Guard| {
        let inquiry = begin(guard).unwrap();
        guard.finish(failing(&inquiry, Failure::Timeout, 0), 8_000, true).unwrap().warnings.len()
    };
    assert_eq!((late(&mut guard), late(&mut guard)), (1, 0));
    guard.configure("{}", None);
    assert_eq!(late(&mut guard), 1);
}

#[test]
fn a_session_that_changes_drops_its_pass() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    guard.update(Delta { keep_branch: 5, branch: vec![], keep_context: 5, context: vec![] }).unwrap();
    let refused = guard.finish(wants(&inquiry, &[]), 0, false).unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)));
}

#[test]
fn the_status_bar_says_when_answers_are_awaited() {
    let text = |guard: &Guard| guard.status().into_iter().map(|span| span.text).collect::<String>();
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    assert_eq!(text(&guard), "🛡 distilling…");
    guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
    assert_eq!(text(&guard), "🛡 0 saved");
}

#[test]
fn b40_no_secret_leaves_and_kept_lines_are_the_original_ones() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let mut items = two_logs();
    items[2] = r("c1", &format!("GITHUB_TOKEN={secret}\n{}", log(100)));
    let mut guard = guard(items);
    let inquiry = begin(&mut guard).unwrap();
    assert!(inquiry.questions.iter().all(|question| !question.body.contains(&secret)));
    assert!(inquiry.questions[0].body.contains("GITHUB_TOKEN=‹secret 1›"));
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    let [Part::Text(text)] = outcome.edits[0].replacement.as_deref().unwrap() else { panic!("one text") };
    assert!(text.contains(&format!("\nGITHUB_TOKEN={secret}\n")), "{text}");
}
