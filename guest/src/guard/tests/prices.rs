//! What edits cost, over whole passes: which of them are made, and which wait.

use super::checkpoints::{asked, checkpoint_of, passed, run, text};
use super::*;
use crate::contract::types::Prices;
use crate::session::context_size;

/// The outcome of a checkpoint with that model, whose classifier wants only these chunks.
fn outcome_with(items: &[Item], model: Model, wanted: &[&str]) -> Option<Outcome> {
    let mut guard = guard(items.to_vec());
    let inquiry = guard.begin(Phase::MidRun, model, 0).unwrap()?;
    Some(guard.finish(wants(&inquiry, wanted), 0, false).unwrap())
}

fn other() -> Model {
    Model { cache: CacheScheme::Other, ..model() }
}

/// The edits of a checkpoint whose classifier wants none of the outputs from the turns in `gone`, and all of the
/// others. Also the reasons.
fn with_gone(items: &[Item], model: Model, settings: &str, gone: &[usize]) -> (Vec<String>, Vec<String>) {
    let mut guard = guard_with(settings, whole(items.to_vec()));
    let inquiry = guard.begin(Phase::MidRun, model, 0).unwrap().unwrap();
    let goes = |body: &str| gone.iter().any(|at| body.contains(&format!(r#"{{\"command\":\"step {at}\"}}"#)));
    let verdict = |(nothing, all): (Verdict, Verdict), body: &str| if goes(body) { nothing } else { all };
    let verdicts = wants(&inquiry, &[]).into_iter().zip(wants(&inquiry, &["whole"]));
    let verdicts = verdicts.zip(&inquiry.questions).map(|(pair, question)| verdict(pair, &question.body));
    let outcome = guard.finish(verdicts.collect(), 0, false).unwrap();
    let reasons = if outcome.guard_record.is_some() { reasons(&outcome) } else { vec![] };
    (targets(&outcome).into_iter().map(str::to_owned).collect(), reasons)
}

/// A run whose first output is followed by much that stays.
fn long() -> Vec<Item> {
    let mut items = run(&[6_000, 30_000, 30_000], 24);
    items[4] = r("c1", &text(30_000));
    items[5] = a(&"a".repeat(9_000)).call("c2", "bash", r#"{"command":"step 2"}"#);
    items
}

#[test]
fn b30_after_judging_the_end_of_the_context_with_the_best_net_value_is_edited() {
    // 24 requests. From the first output on some 75,000 are written anew, from the last one on 30,000.
    let edited = |gone: &[usize]| with_gone(&long(), other(), "{}", gone);
    let (targets, why) = edited(&[0, 2]);
    assert_eq!(
        (targets, why),
        (vec!["e6".into()], vec!["deferred".into(), "whole-chosen".into(), "none-needed".into()])
    );
    let (targets, why) = edited(&[0, 1, 2]);
    assert_eq!((targets.len(), why), (3, vec!["none-needed".to_owned(); 3]), "together they pay");
    assert_eq!(edited(&[0]), (vec![], vec!["deferred".into(), "whole-chosen".into(), "whole-chosen".into()]));
}

#[test]
fn b30_what_is_deferred_counts_as_judged_until_the_run_ends() {
    let mut guard = guard(long());
    let inquiry = guard.begin(Phase::MidRun, other(), 0).unwrap().unwrap();
    let mut verdicts = wants(&inquiry, &["whole"]);
    verdicts[0] = wants(&inquiry, &[]).remove(0);
    let outcome = guard.finish(verdicts, 0, false).unwrap();
    let record = record_of(&outcome);
    assert_eq!((&record["results"][0]["outcome"], &record["savedChars"]), (&json!("kept"), &json!(0)));
    assert_eq!(record.get("expected"), None, "nothing changes, so nothing is expected");
    let mut items = applied(&long(), &outcome);
    let settings = r#"{"midRunBatchChars":0,"midRunBreakEven":false}"#;
    assert_eq!(checkpoint_of(&mut guard_with(settings, whole(items.clone()))), None);
    items.push(a("Done."));
    assert_eq!(asked(&begin(&mut super::guard(items)).unwrap()).len(), 3);
}

#[test]
fn b30_the_break_even_can_be_switched_off() {
    let settings = r#"{"midRunBreakEven":false}"#;
    assert_eq!(with_gone(&long(), other(), settings, &[0]).0, ["e2"]);
}

#[test]
fn b30_b9_a_deferred_output_with_a_failed_segment_is_asked_about_again() {
    let mut items = run(&[40_000, 30_000], 20);
    items[0] = u(&"p".repeat(36_000));
    let codex = Model { cache: CacheScheme::OpenaiCodex, ..model() };
    let mut guard = guard(items.clone());
    let inquiry = guard.begin(Phase::MidRun, codex, 0).unwrap().unwrap();
    let mut verdicts = wants(&inquiry, &["whole"]);
    verdicts[0] = wants(&inquiry, &[]).remove(0);
    verdicts[1].reply = Reply::Failed(Failure::Error);
    let outcome = guard.finish(verdicts, 0, false).unwrap();
    assert_eq!(reasons(&outcome), ["deferred,error", "whole-chosen"]);
    let settings = r#"{"midRunBatchChars":0,"midRunBreakEven":false}"#;
    let again = checkpoint_of(&mut guard_with(settings, whole(applied(&items, &outcome)))).unwrap();
    assert_eq!(asked(&again), vec![r#"{"command":"step 0"}"#; 2]);
}

#[test]
fn b31_a_cold_cache_makes_a_checkpoint_free() {
    let items = run(&[30_000, 30_000], 8);
    let mut guard = guard(items.clone());
    assert_eq!(guard.begin(Phase::MidRun, other(), 300_000).unwrap(), None);
    let inquiry = guard.begin(Phase::MidRun, other(), 300_001).unwrap().unwrap();
    let outcome = guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e2", "e4"]);
    assert_eq!(record_of(&outcome)["expected"]["rewrittenChars"], 0);
}

#[test]
fn b33_the_host_s_prices_decide_about_a_checkpoint() {
    // 20 turns and 60,000 of some 60,000 characters pay up to a factor of 20.
    let due = |input, cache_read, cache_write| {
        let prices = Some(Prices { input, output: 1.0, cache_read, cache_write });
        outcome_with(&run(&[30_000, 30_000], 20), Model { prices, ..model() }, &[]).is_some()
    };
    assert!(due(2.0, 0.2, 2.5), "16.4");
    assert!(!due(5.0, 0.25, 6.25), "34.3: cheap reads make a rewrite dear");
    assert!(due(5.0, 0.0, 6.25), "no price for reading: 16");
    assert!(!due(3.2, 0.2, 0.0), "21.4: without a price for writing it is that of input");
}

#[test]
fn c26_a_steering_message_behind_the_outputs_makes_anthropic_write_all_anew() {
    let due = |items: &[Item]| outcome_with(items, model(), &[]).is_some();
    let mut items = vec![u(&"p".repeat(20_000)), a("Yes.")];
    items.extend(run(&[30_000, 30_000], 20));
    assert!(due(&items), "the question's own breakpoint keeps what comes before it");
    items.push(u("also docs"));
    assert!(!due(&items));
}

#[test]
fn c27_without_breakpoints_anthropic_writes_all_anew() {
    let mut items = vec![u(&"p".repeat(20_000)), a("Yes.")];
    items.extend(run(&[30_000, 30_000], 20));
    let mut guard = guard_with(r#"{"pinAnthropicCache":false}"#, whole(items));
    assert_eq!(checkpoint_of(&mut guard), None);
}

/// A run of so many turns whose replies think that much, except for the first two and those in `silent`.
fn thinking_run(turns: usize, signature: u32, silent: std::ops::Range<usize>) -> Vec<Item> {
    let mut items = run(&[30_000, 30_000], turns);
    for at in (2..turns).filter(|at| !silent.contains(at)) {
        items[1 + 2 * at] = items[1 + 2 * at].clone().block(thinking("hm", signature));
    }
    items
}

fn bound(thinking: ThinkingBinding) -> Model {
    Model { thinking, ..other() }
}

#[test]
fn b32_unbound_thinking_is_no_matter() {
    let outcome = outcome_with(&thinking_run(40, 400, 0..0), bound(ThinkingBinding::Unbound), &[]).unwrap();
    assert_eq!(targets(&outcome), ["e2", "e4"]);
    assert_eq!(record_of(&outcome)["expected"].get("lostThinkingChars"), None);
}

#[test]
fn b32_thinking_that_the_provider_drops_is_part_of_the_price() {
    let outcome =
        |signature| outcome_with(&thinking_run(40, signature, 0..0), bound(ThinkingBinding::Dropped), &[]);
    let paid = outcome(400).unwrap();
    assert_eq!(targets(&paid), ["e2", "e4"]);
    assert_eq!(record_of(&paid)["expected"]["lostThinkingChars"], 4 * 202, "that of the newest four replies");
    assert_eq!(outcome(20_000), None, "dearer than the outputs");
    let old = outcome_with(&thinking_run(40, 20_000, 36..40), bound(ThinkingBinding::Dropped), &[]);
    assert_eq!(old, None, "all of it is still written anew");
    let old = outcome_with(&thinking_run(40, 400, 36..40), bound(ThinkingBinding::Dropped), &[]).unwrap();
    assert_eq!(record_of(&old)["expected"].get("lostThinkingChars"), None, "what is old is not in use");
}

#[test]
fn b32_thinking_that_is_dropped_counts_at_run_end_as_well() {
    let saving = |thinking, signature| {
        let mut items = vec![u("Rename the crate"), a(&"a".repeat(30_000)), u("p"), a(""), u("p"), a("")];
        items.extend(thinking_run(60, signature, 0..0));
        items.push(a("Done."));
        let mut guard = guard_with(r#"{"minRunChars":100000}"#, whole(items));
        let codex = Model { cache: CacheScheme::OpenaiCodex, ..bound(thinking) };
        let inquiry = guard.begin(Phase::RunEnd, codex, 0).unwrap().unwrap();
        reasons(&guard.finish(wants(&inquiry, &[]), 0, false).unwrap())
    };
    assert_eq!(saving(ThinkingBinding::Dropped, 400), ["unrelated"]);
    assert_eq!(saving(ThinkingBinding::Dropped, 9_000), ["deferred"]);
    assert_eq!(saving(ThinkingBinding::Unbound, 400), ["unrelated"]);
}

#[test]
fn b32_an_edit_that_the_provider_would_refuse_waits() {
    let refusing = || bound(ThinkingBinding::Refused);
    let items = thinking_run(40, 400, 0..0);
    assert_eq!(outcome_with(&items, refusing(), &[]), None, "all outputs stand before thinking");
    // Of another model no thinking is sent, and thinking before an edit is not touched by it.
    let another = Model { name: "openai/gpt".into(), ..refusing() };
    assert!(outcome_with(&items, another, &[]).is_some());
    let mut before = thinking_run(40, 400, 3..40);
    before[2] = r("c0", &text(5_000));
    before[8] = r("c3", &text(60_000));
    let outcome = outcome_with(&before, refusing(), &[]).unwrap();
    assert_eq!(targets(&outcome), ["e8"], "the outputs before the thinking are not even asked about");
    assert_eq!(reasons(&outcome).len(), 1);
}

#[test]
fn b32_at_run_end_an_edit_waits_until_no_thinking_stands_behind_it() {
    let mut items = thinking_run(8, 400, 0..0);
    items.push(a("Done."));
    let begin = |items: &[Item], model| {
        let mut guard =
            guard_with(r#"{"exchangeBreakEven":false,"keepRecentExchanges":1}"#, whole(items.to_vec()));
        let inquiry = guard.begin(Phase::RunEnd, model, 0).unwrap()?;
        Some(guard.finish(wants(&inquiry, &[]), 0, false).unwrap())
    };
    let refusing = || bound(ThinkingBinding::Refused);
    assert_eq!(begin(&items, refusing()), None);
    assert!(begin(&items, bound(ThinkingBinding::Dropped)).is_some());
    // Later the exchange goes as a whole, and its thinking with it.
    items.extend([u("And now?"), a("Fine."), u("Thanks."), a("Good.")]);
    let outcome = begin(&items, refusing()).unwrap();
    assert_eq!((reasons(&outcome), outcome.edits.len()), (vec!["unrelated".into()], 18));
    items.push(u("Again."));
    items.push(a("Yes.").block(thinking("hm", 400)));
    assert_eq!(begin(&items, refusing()), None, "thinking behind it binds it again");
}

#[test]
fn b32_what_was_recalled_twice_waits_as_well_where_it_would_be_refused() {
    let mut items = run(&[30_000, 30_000], 30);
    items = applied(&items, &passed(&items, &[]));
    for at in 30..32 {
        let id = format!("c{at}");
        let call = a("").call(&id, "recall", r#"{"entryId":"e2"}"#);
        items.extend([call, r(&id, "the original").tool("recall")]);
    }
    items.push(a("Done.").block(thinking("hm", 400)));
    let edited = |thinking| {
        let mut guard = guard(items.clone());
        guard.begin(Phase::RunEnd, bound(thinking), 0).unwrap()?;
        Some(guard.finish(vec![], 0, false).unwrap().edits.len())
    };
    assert_eq!(edited(ThinkingBinding::Dropped), Some(1));
    assert_eq!(edited(ThinkingBinding::Refused), None);
}

#[test]
fn what_a_pass_is_expected_to_save_and_cost_is_on_record() {
    let items = run(&[30_000, 30_000], 30);
    let outcome = outcome_with(&items, other(), &[]).unwrap();
    let saved = record_of(&outcome)["savedChars"].as_i64().unwrap();
    let after = context_size(session(applied(&items, &outcome)).projection().after(1)) as i64;
    let expected = &record_of(&outcome)["expected"];
    assert_eq!((&expected["savedChars"], &expected["requests"]), (&json!(saved), &json!(30)));
    assert_eq!(
        expected["rewrittenChars"],
        json!(after),
        "what stands from the first edit on, with the edits made"
    );
    assert_eq!(expected["netChars"], json!(30 * saved - (after as f64 * 11.5).round() as i64));
}

#[test]
fn the_prices_of_the_last_begin_are_those_of_the_report() {
    let reply = |read, written| {
        a("ok").usage(Usage { input: 10, output: 100, cache_read: read, cache_write: written })
    };
    let saving = record(r#"{"v":1,"phase":"mid-run","savedChars":16000}"#);
    let mut guard = guard(vec![u("p"), reply(50_000, 2_000), saving, reply(20_000, 29_000)]);
    let net = |guard: &Guard| guard.report("status").unwrap().lines().nth(3).unwrap().to_owned();
    insta::assert_snapshot!(net(&guard), @"Net so far (estimate): as much lost as 318.0k tokens read from the cache cost.");
    let prices = Some(Prices { input: 2.5, output: 12.5, cache_read: 0.25, cache_write: 3.125 });
    guard.begin(Phase::RunEnd, Model { prices, ..model() }, 0).unwrap();
    insta::assert_snapshot!(net(&guard), @"Net so far (estimate): $0.08 lost (as much as 318.0k tokens read from the cache cost).");
}
