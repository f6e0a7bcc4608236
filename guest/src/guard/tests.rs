//! Whole passes: a session goes in, edits and a record come out.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::contract::sessions::{Failure, Part, Reply};
use crate::contract::types::{CacheScheme, Entry, ThinkingBinding, View, Visible};
use crate::session::fixtures::{Item, a, edit, r, record, u, whole};

fn model() -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: None,
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

fn circumstances() -> Circumstances {
    Circumstances {
        problem: None,
        destination: Some("https://openrouter.ai".into()),
        recall_active: true,
        working_directory: "/home/dev/project".into(),
    }
}

fn guard_with(settings: &str, delta: Delta) -> Guard {
    let mut guard = Guard::new();
    assert_eq!(guard.configure(settings, None).warnings, Vec::<String>::new());
    guard.observe(circumstances());
    guard.update(delta).unwrap();
    guard
}

fn guard(items: Vec<Item>) -> Guard {
    guard_with("{}", whole(items))
}

fn begin(guard: &mut Guard) -> Option<Inquiry> {
    guard.begin(Phase::RunEnd, model(), 0).unwrap()
}

/// A log of that many lines of 100 characters, the newline included.
fn log(lines: usize) -> String {
    (0..lines).map(|at| format!("{:.<99}\n", format!("step {at} "))).collect()
}

/// A run that read two long logs and answered.
fn two_logs() -> Vec<Item> {
    vec![
        u("Why is step 7 slow?"),
        a("Reading the logs.").call("c1", "bash", r#"{"command":"cat a.log"}"#).call(
            "c2",
            "read",
            r#"{"path":"b.log"}"#,
        ),
        r("c1", &log(100)),
        r("c2", &log(50)),
        a("Step 7 waits for the disk."),
    ]
}

/// The verdict of a classifier that wants to see only these chunks of each request.
fn wants(inquiry: &Inquiry, chunks: &[&str]) -> Vec<Verdict> {
    let answers = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        let mut answers = Map::new();
        for (id, question) in body["questions"].as_object().unwrap() {
            let focus = if chunks.is_empty() { "none" } else { chunks[0] };
            let answer = if question["type"] == "choice" {
                json!({ "type": "choice", "choice": focus, "probabilities": { focus: 0.9 } })
            } else {
                let wanted = chunks.contains(&id.as_str());
                json!({ "type": "bool", "probability": if wanted { 0.9 } else { 0.1 } })
            };
            answers.insert(id.clone(), answer);
        }
        Value::Object(answers).to_string()
    };
    let verdict = |question: &crate::contract::sessions::Question| Verdict {
        id: question.id,
        reply: Reply::Answers(answers(&question.body)),
        sent_bytes: question.body.len() as u64,
        input_tokens: 1_000,
        cost_usd: 0.000_042,
    };
    inquiry.questions.iter().map(verdict).collect()
}

fn failing(inquiry: &Inquiry, failure: Failure, sent_bytes: u64) -> Vec<Verdict> {
    let verdict = |question: &crate::contract::sessions::Question| Verdict {
        id: question.id,
        reply: Reply::Failed(failure),
        sent_bytes,
        input_tokens: 0,
        cost_usd: 0.0,
    };
    inquiry.questions.iter().map(verdict).collect()
}

fn record_of(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.guard_record.as_deref().unwrap()).unwrap()
}

fn reasons(outcome: &Outcome) -> Vec<String> {
    let record = record_of(outcome);
    let results = record["results"].as_array().unwrap();
    results.iter().map(|result| result["reason"].as_str().unwrap().to_owned()).collect()
}

/// What a host shows after it has taken the outcome over.
fn applied(mut items: Vec<Item>, outcome: &Outcome) -> Vec<Item> {
    for edit_made in &outcome.edits {
        let at: usize = edit_made.target[1..].parse().unwrap();
        let [Part::Text(text)] = edit_made.replacement.as_deref().unwrap() else { panic!("one text") };
        items[at] = items[at].clone().replaced(text);
    }
    items.extend(outcome.edits.iter().map(|made| edit(&made.target)));
    items.extend(outcome.guard_record.as_deref().map(record));
    items
}

#[test]
fn a_run_of_large_outputs_is_distilled() {
    let mut guard = guard(two_logs());
    let inquiry = begin(&mut guard).unwrap();
    assert_eq!(
        (inquiry.questions.len(), inquiry.budget.timeout_ms, inquiry.budget.concurrency),
        (2, 8_000, 6)
    );
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 812, false).unwrap();

    let targets: Vec<&str> = outcome.edits.iter().map(|edit| edit.target.as_str()).collect();
    assert_eq!(targets, ["e2", "e3"]);
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
    assert_eq!(begin(&mut guard(applied(two_logs(), &outcome))), None);
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

/// Replies that no classifier should give.
fn broken_reply() -> impl Strategy<Value = Reply> {
    let answers = |p: Value| json!({ "keep_whole": { "type": "bool", "probability": p }, "focus": p });
    prop_oneof![
        Just(Reply::Failed(Failure::Timeout)),
        Just(Reply::Failed(Failure::Error)),
        Just(Reply::Failed(Failure::Denied)),
        Just(Reply::Failed(Failure::Aborted)),
        "\\PC{0,40}".prop_map(Reply::Answers),
        any::<f64>().prop_map(move |p| Reply::Answers(answers(json!(p)).to_string())),
        Just(Reply::Answers(answers(json!("none")).to_string())),
        Just(Reply::Answers(r#"{"focus":{"type":"choice","choice":"none","probabilities":{"none":1e999}}}"#.into())),
        Just(Reply::Answers(r#"{"keep_whole":{"type":"bool","probability":-1},"focus":{"type":"choice","choice":"none","probabilities":{"none":0.9}}}"#.into())),
    ]
}

/// A step of a session: what the user, the model and its tools add.
fn steps() -> impl Strategy<Value = Vec<Item>> {
    let step = prop_oneof![
        Just(vec![u("And now?")]),
        Just(vec![a("Done.")]),
        (0usize..120, any::<bool>()).prop_map(|(lines, failed)| {
            let result = r("c", &log(lines)).tool("bash");
            vec![
                a("").call("c", "bash", r#"{"command":"make"}"#),
                if failed { result.failed() } else { result },
            ]
        }),
        Just(vec![edit("e0")]),
    ];
    prop::collection::vec(step, 1..12).prop_map(|steps| {
        let mut items = vec![u("Start.")];
        items.extend(steps.into_iter().flatten());
        items
    })
}

/// Sends a session in pieces, at each cut also taking back and repeating what `overlap` says.
fn in_pieces(delta: &Delta, cuts: &[(usize, usize)]) -> Guard {
    let mut guard = guard_with("{}", whole([]));
    let (mut branch, mut context): (usize, usize) = (0, 0);
    let positions: Vec<usize> = delta
        .context
        .iter()
        .map(|item: &Visible| delta.branch.iter().position(|entry: &Entry| entry.id == item.id).unwrap())
        .collect();
    for &(cut, overlap) in cuts.iter().chain([&(delta.branch.len(), 0)]) {
        let end = cut.clamp(branch.min(delta.branch.len()), delta.branch.len());
        let keep_branch = branch.saturating_sub(overlap);
        let keep_context = positions.iter().take(context).filter(|&&at| at < keep_branch).count();
        let context_end = positions.iter().filter(|&&at| at < end).count();
        guard
            .update(Delta {
                keep_branch: u32::try_from(keep_branch).unwrap(),
                branch: delta.branch[keep_branch..end].to_vec(),
                keep_context: u32::try_from(keep_context).unwrap(),
                context: delta.context[keep_context..context_end].to_vec(),
            })
            .unwrap();
        (branch, context) = (end, context_end);
    }
    guard
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn without_a_sound_answer_everything_is_kept(
        items in steps(),
        replies in prop::collection::vec(broken_reply(), 0..6),
        timed_out in any::<bool>(),
    ) {
        let mut guard = guard(items);
        if let Some(inquiry) = begin(&mut guard) {
            let verdicts = replies.into_iter().zip(0..).map(|(reply, id)| Verdict {
                id,
                reply,
                sent_bytes: 1,
                input_tokens: u64::MAX,
                cost_usd: f64::NAN,
            });
            let outcome = guard.finish(verdicts.collect(), 0, timed_out).unwrap();
            prop_assert_eq!(outcome.edits, vec![]);
            drop(inquiry);
        }
    }

    #[test]
    fn however_the_log_is_sent_the_outcome_is_the_same(
        items in steps(),
        cuts in prop::collection::vec((0usize..30, 0usize..5), 0..5),
    ) {
        let delta = whole(items);
        prop_assume!(delta.context.iter().all(|item| matches!(item.view, View::AsRecorded)));
        let mut at_once = guard_with("{}", delta.clone());
        let mut piecewise = in_pieces(&delta, &cuts);
        let inquiry = begin(&mut at_once);
        prop_assert_eq!(&begin(&mut piecewise), &inquiry);
        if let Some(inquiry) = inquiry {
            let verdicts = wants(&inquiry, &["chunk_2"]);
            let outcome = at_once.finish(verdicts.clone(), 5, false).unwrap();
            prop_assert_eq!(piecewise.finish(verdicts, 5, false).unwrap(), outcome);
        }
    }

    #[test]
    fn a_replacement_is_shorter_and_told_by_the_record(items in steps(), chunk in 1usize..20) {
        let mut guard = guard(items.clone());
        if let Some(inquiry) = begin(&mut guard) {
            let chunk = format!("chunk_{chunk}");
            let outcome = guard.finish(wants(&inquiry, &[&chunk]), 0, false).unwrap();
            let record = record_of(&outcome);
            let results = record["results"].as_array().unwrap();
            let shrunk = results.iter().filter(|result| result["outcome"] != "kept");
            let told: Vec<&str> = shrunk.clone().map(|result| result["entryId"].as_str().unwrap()).collect();
            let made: Vec<&str> = outcome.edits.iter().map(|edit| edit.target.as_str()).collect();
            prop_assert_eq!(told, made);
            for result in shrunk {
                prop_assert!(result["afterChars"].as_u64() < result["beforeChars"].as_u64());
            }
        }
    }
}
