//! Passes over everything: outputs large and small, earlier exchanges, and images.

use super::*;

/// On Codex any edit rewrites the whole context, so that exchanges and images ride on those of the run.
fn codex() -> Model {
    Model { cache: CacheScheme::OpenaiCodex, ..model() }
}

/// Three exchanges, the first of them long and the second with a screenshot, and a run with outputs of all sizes.
fn everything() -> Vec<Item> {
    vec![
        u("Set up the linter"),
        a("Installing.").call("c0", "bash", r#"{"command":"npm i eslint"}"#),
        r("c0", &log(100)).tool("bash"),
        a("The linter is set up."),
        u("Look at the page"),
        a("").call("c1", "screenshot", r#"{"path":"page.png"}"#),
        r("c1", "saved page.png").tool("screenshot").block(png(1_500, 1_000)),
        a("It shows a form."),
        u("Is it centred?"),
        a("Yes."),
        u("Why is step 7 slow?"),
        a("Reading the logs.")
            .call("c2", "bash", r#"{"command":"ls"}"#)
            .call("c3", "bash", r#"{"command":"cat a.log"}"#)
            .call("c4", "read", r#"{"path":"b.log"}"#),
        r("c2", &log(7)).tool("bash"),
        r("c3", &log(100)).tool("bash"),
        r("c4", &log(50)).tool("read"),
        a("Step 7 waits for the disk."),
    ]
}

/// A screenshot of the run itself, three replies old.
fn screenshot() -> Vec<Item> {
    vec![
        u("Look at the page"),
        a("").call("c1", "screenshot", "{}"),
        r("c1", "saved page.png").tool("screenshot").block(png(1_500, 1_000)),
        a("Once more.").call("c2", "bash", "{}"),
        r("c2", "ok"),
        a("And again.").call("c3", "bash", "{}"),
        r("c3", "ok"),
        a("It shows a form."),
    ]
}

#[test]
fn one_pass_judges_all_kinds() {
    let mut guard = guard(everything());
    let inquiry = guard.begin(Phase::RunEnd, codex(), 0).unwrap().unwrap();
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 812, false).unwrap();
    assert_eq!(inquiry.questions.len(), 4, "two large outputs, one batch of small ones and one of exchanges");
    assert_eq!(targets(&outcome), ["e13", "e14", "e12", "e0", "e1", "e2", "e3", "e6"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&record_of(&outcome)).unwrap());

    let after = applied(&everything(), &outcome);
    let saved = |items: &[Item]| crate::session::context_size(session(items.to_vec()).projection());
    assert_eq!(record_of(&outcome)["savedChars"], json!(saved(&everything()) - saved(&after)));
    let mut guard = super::guard(after);
    assert_eq!(guard.begin(Phase::RunEnd, codex(), 0).unwrap(), None, "nothing is left to judge");
    let footer: Vec<String> = guard.status().into_iter().map(|span| span.text).collect();
    assert!(footer.concat().ends_with(" · 5"), "{footer:?}");
    let report = guard.report("status").unwrap();
    for line in [
        "3 distilled outputs, 1 image result and 1 omitted exchange",
        "2 large outputs, 1 small output, 1 exchange, 1 image result",
        "  removed exchange ",
        "  removed small ",
        "  removed image ",
    ] {
        assert!(report.contains(line), "{line} is not in\n{report}");
    }
}

#[test]
fn a_gated_item_is_asked_about_but_stays() {
    let outcome = pass(&everything(), &["chunk_1"]).unwrap();
    assert_eq!(targets(&outcome), ["e13", "e14", "e12"]);
    assert_eq!(reasons(&outcome), ["chunks", "chunks", "not-needed", "deferred"]);
    let exchange = &record_of(&outcome)["results"][3];
    assert_eq!(
        (&exchange["outcome"], &exchange["afterChars"], &exchange["jev"], exchange.get("omitted")),
        (&json!("kept"), &exchange["beforeChars"], &json!(["p.10"]), None)
    );
}

#[test]
fn e14_a_deferred_exchange_is_asked_about_again() {
    let outcome = pass(&everything(), &["chunk_1"]).unwrap();
    let again = pass(&applied(&everything(), &outcome), &[]).unwrap();
    assert_eq!(reasons(&again), ["deferred"]);
}

#[test]
fn b31_a_cold_cache_makes_edits_free() {
    let mut guard = guard(everything());
    let later = 300_001;
    let inquiry = guard.begin(Phase::RunEnd, model(), later).unwrap().unwrap();
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e13", "e14", "e12", "e0", "e1", "e2", "e3", "e6"]);
}

#[test]
fn c32_without_the_gate_exchanges_and_early_images_go() {
    let mut guard = guard_with(r#"{"exchangeBreakEven":false}"#, whole(everything()));
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e13", "e14", "e12", "e0", "e1", "e2", "e3", "e6"]);
}

#[test]
fn b30_the_run_s_outputs_are_weighed_where_the_settings_say_so() {
    // An output that is small beside the rest of the run does not pay on Codex.
    let items = vec![
        u("Why?"),
        a(&"thinking aloud ".repeat(2_000)).call("c1", "bash", r#"{"command":"ls"}"#),
        r("c1", &log(7)),
        a("Because."),
    ];
    let reasons_with = |settings: &str| {
        let mut guard = guard_with(settings, whole(items.clone()));
        let inquiry = guard.begin(Phase::RunEnd, codex(), 0).unwrap().unwrap();
        let outcome = guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
        (outcome.edits.len(), reasons(&outcome))
    };
    assert_eq!(reasons_with("{}"), (1, vec!["not-needed".into()]));
    assert_eq!(reasons_with(r#"{"runEndBreakEven":true}"#), (0, vec!["deferred".into()]));
}

#[test]
fn c33_an_early_image_that_does_not_pay_makes_no_record() {
    let mut items = screenshot();
    items.extend([u("Thanks. Next, a long text."), a(&"x".repeat(40_000))]);
    assert_eq!(begin(&mut guard(items.clone())), None);
    let mut guard = guard_with(r#"{"exchangeBreakEven":false}"#, whole(items));
    assert!(begin(&mut guard).unwrap().questions.is_empty());
    let outcome = guard.finish(vec![], 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e2"]);
}

#[test]
fn i10_without_a_classifier_images_go_all_the_same() {
    for problem in ["no openrouter key", "network not allowed", "Jev model not found"] {
        let mut items = screenshot();
        items.insert(7, r("c3", &log(200)));
        let mut guard = guard(items);
        guard.observe(Circumstances { problem: Some(problem.into()), ..circumstances() });
        let inquiry = begin(&mut guard).unwrap();
        assert_eq!(inquiry.questions, vec![]);
        assert!(!guard.status()[0].text.contains("distilling"), "nothing is awaited");
        let outcome = guard.finish(vec![], 7, false).unwrap();
        assert_eq!(targets(&outcome), ["e2"]);
        let record = record_of(&outcome);
        assert_eq!(
            (&record["requests"], &record["ms"], &record["costUsd"]),
            (&json!(0), &json!(0), &json!(0.0))
        );
        assert_eq!(record.get("origin"), None);
        assert_eq!(reasons(&outcome), ["3 turns old"]);
    }
}

#[test]
fn i10_a_refused_request_leaves_the_images_to_go() {
    let mut items = screenshot();
    items[4] = r("c2", &log(10));
    let mut guard = guard(items);
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(failing(&inquiry, Failure::Denied, 0), 7, false).unwrap();
    assert_eq!(
        (targets(&outcome), reasons(&outcome)),
        (vec!["e2"], vec!["error".into(), "3 turns old".into()])
    );
}

#[test]
fn i12_the_same_pass_again_after_the_commit_does_nothing() {
    let outcome = pass(&screenshot(), &[]).unwrap();
    assert_eq!(targets(&outcome), ["e2"]);
    assert_eq!(pass(&applied(&screenshot(), &outcome), &[]), None);
}

#[test]
fn i9_an_image_in_an_omitted_exchange_has_no_edit_of_its_own() {
    let mut items = everything();
    items[2] = r("c0", &log(100)).block(png(1_500, 1_000));
    let mut guard = guard(items);
    let inquiry = guard.begin(Phase::RunEnd, codex(), 0).unwrap().unwrap();
    let outcome = guard.finish(wants(&inquiry, &["chunk_1"]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e13", "e14", "e12", "e0", "e1", "e2", "e3", "e6"]);
    assert!(outcome.edits[5].replacement.is_none());
}

/// A record of one item, judged at a checkpoint.
fn judged(kind: &str, entry: &str, reason: &str) -> Item {
    let result = json!({ "kind": kind, "entryId": entry, "outcome": "kept", "reason": reason });
    record(&json!({ "v": 1, "phase": "mid-run", "results": [result] }).to_string())
}

/// Which kinds of items a pass asks about.
fn asks(items: Vec<Item>) -> Vec<&'static str> {
    let bodies: Vec<String> = begin(&mut guard(items))
        .map(|inquiry| inquiry.questions.into_iter().map(|question| question.body).collect())
        .unwrap_or_default();
    let kinds = ["chunk_1", "item_1", "exchange_1"];
    kinds.into_iter().filter(|kind| bodies.iter().any(|body| body.contains(kind))).collect()
}

#[test]
fn e13_an_exchange_found_relevant_is_left_alone_until_the_next_run() {
    let mut items = everything();
    items.insert(12, judged("exchange", "e0", "relevant"));
    assert_eq!(asks(items.clone()), ["chunk_1", "item_1"]);
    items.extend([u("And step 8?"), a("It is fast.")]);
    assert_eq!(asks(items), ["exchange_1"]);
}

#[test]
fn e15_an_exchange_whose_request_timed_out_is_asked_about_again() {
    let mut guard = guard(everything());
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(failing(&inquiry, Failure::Timeout, 900), 8_000, true).unwrap();
    assert_eq!((outcome.edits.len(), reasons(&outcome)), (0, vec!["timeout".into(); 4]));
    assert_eq!(asks(applied(&everything(), &outcome)), ["chunk_1", "item_1", "exchange_1"]);
    let mut items = everything();
    items.push(judged("exchange", "e0", "no-answer"));
    assert_eq!(asks(items), ["chunk_1", "item_1"], "an answer without a number is an answer");
}

#[test]
fn s13_an_output_kept_at_a_checkpoint_is_asked_about_again_at_run_end() {
    let mut items = everything();
    items.insert(15, judged("small", "e12", "needed"));
    let inquiry = begin(&mut guard(items)).unwrap();
    assert!(inquiry.questions.iter().any(|question| question.body.contains("item_1")));
}

#[test]
fn s14_what_recall_gave_back_is_judged_at_run_end() {
    let mut items = everything();
    items[11] = a("").call("c2", "recall", r#"{"entryId":"e99"}"#);
    items[12] = r("c2", &log(7)).tool("recall");
    items.drain(13..15);
    assert_eq!(asks(items), ["item_1", "exchange_1"]);
}

#[test]
fn g15_with_everything_switched_off_nothing_is_sent_or_recorded() {
    let quiet = || {
        let mut items = everything();
        items[6] = r("c1", "saved page.png");
        items[13] = r("c3", &log(30));
        items
    };
    let off = r#"{"pruneExchanges":false,"smallResultMinChars":0}"#;
    assert_eq!(begin(&mut guard_with(off, whole(quiet()))), None);
    for on in [r#"{"pruneExchanges":false}"#, r#"{"smallResultMinChars":0}"#] {
        assert_eq!(begin(&mut guard_with(on, whole(quiet()))).unwrap().questions.len(), 1, "{on}");
    }
}

#[test]
fn large_outputs_below_the_least_total_are_not_judged_as_small_ones_either() {
    let items = vec![u("p"), a("").call("c1", "bash", "{}"), r("c1", &log(75)), a("Done.")];
    assert_eq!(asks(items), [""; 0]);
}
