use serde_json::json;

use super::*;
use crate::session::fixtures::*;

const STUB: &str = "[context-guard] Omitted …";

fn recall(call: &str, id: &str) -> Item {
    a("").call(call, "recall", &json!({ "entryId": id }).to_string())
}

/// What stands before the run: a distilled output `r`, a screenshot `shot` without its image, and an omitted exchange
/// `u` with its reply `a`, its call's result `s`, and a notice `n`.
fn earlier() -> Vec<Item> {
    let mut items = vec![
        u("read it"),
        a("").call("c1", "bash", "{}").call("c2", "shot", "{}"),
        r("c1", &"x".repeat(5_000)).id("r").replaced(STUB),
        r("c2", "saved").id("shot").block(png(900, 900)).replaced(STUB),
        a("Read."),
    ];
    items.extend(guard_pass(&[("r", "distilled")]));
    items.extend([
        edit("shot"),
        results(&[json!({ "kind": "image", "entryId": "shot", "outcome": "removed" })]),
    ]);
    items.extend([
        u(&"u".repeat(1_000)).id("u").replaced(STUB),
        a("").call("c3", "bash", "{}").id("a").omitted(),
        r("c3", &"s".repeat(2_000)).id("s").omitted(),
        n("by the way").id("n").omitted(),
        a("Done.").id("z").omitted(),
    ]);
    items.extend(["u", "a", "s", "n", "z"].map(edit));
    items.push(results(&[json!({
        "kind": "exchange", "entryId": "u", "outcome": "removed", "label": "\"uuu\"", "tool": "exchange",
        "reason": "unrelated", "jev": ["p.06"], "omitted": ["a", "s", "n", "z"],
    })]));
    items
}

fn results(results: &[serde_json::Value]) -> Item {
    record(&json!({ "v": 1, "results": results }).to_string())
}

/// The session with a run in which the model recalled these, with success or not.
fn recalling(calls: &[(&str, bool)]) -> Mirror {
    let mut items = earlier();
    items.push(u("And now?"));
    for (at, (id, successful)) in calls.iter().enumerate() {
        let call = format!("q{at}");
        let result = r(&call, "the original").tool("recall");
        items.extend([recall(&call, id), if *successful { result } else { result.failed() }]);
    }
    items.push(a("Done."));
    session(items)
}

/// Targets of the edits that lift something.
fn lifted(mirror: &Mirror) -> Vec<String> {
    let lifts = Recalled::of(mirror).lifts(mirror);
    lifts.iter().flat_map(|lift| &lift.judgement.edits).map(|edit| edit.target.clone()).collect()
}

#[test]
fn b23_once_is_left_alone_and_twice_is_put_back() {
    let once = recalling(&[("r", true)]);
    assert!(Recalled::of(&once).holds("r") && !Recalled::of(&once).holds("shot"));
    assert_eq!(lifted(&once), [""; 0]);
    let twice = recalling(&[("r", true), (" r ", true)]);
    let recalled = Recalled::of(&twice);
    assert!(recalled.holds("r"));
    let [lift] = <[Lift; 1]>::try_from(recalled.lifts(&twice)).ok().unwrap();
    let recorded = Edit { target: "r".into(), replacement: Some(vec![Part::Recorded(0)]) };
    assert_eq!(lift.judgement.edits, [recorded]);
    let result = &lift.judgement.result;
    assert_eq!((result.outcome, result.reason.as_str()), (ItemOutcome::Kept, "recalled"));
    assert_eq!((result.before_chars, result.after_chars), (5_000, 5_000));
    assert_eq!(lift.grown, 5_000 - STUB.chars().count() as i64);
}

#[test]
fn b23_an_image_comes_back_with_its_text() {
    let mirror = recalling(&[("shot", true), ("shot", true)]);
    let lifts = Recalled::of(&mirror).lifts(&mirror);
    assert_eq!(lifts[0].judgement.result.kind, ItemKind::Image);
    assert_eq!(
        lifts[0].judgement.edits,
        [Edit { target: "shot".into(), replacement: Some(vec![Part::Recorded(0), Part::Recorded(1)]) }]
    );
}

#[test]
fn b23_an_exchange_comes_back_in_all_its_entries() {
    for calls in [[("u", true), ("u", true)], [("u", true), ("s", true)], [("s", true), ("z", true)]] {
        let mirror = recalling(&calls);
        assert_eq!(lifted(&mirror), ["u", "a", "s", "n", "z"], "{calls:?}");
        let lifts = Recalled::of(&mirror).lifts(&mirror);
        let result = &lifts[0].judgement.result;
        assert_eq!((result.kind, result.entry_id.as_str()), (ItemKind::Exchange, "u"));
        assert!(result.omitted.is_empty() && result.jev.is_empty(), "nothing was omitted or asked");
        assert_eq!(result.label, "\"uuu\"");
        assert_eq!(lifts[0].grown, 1_000 + 6 + 2_000 + 10 + 5 - STUB.chars().count() as i64);
    }
}

#[test]
fn b23_what_was_distilled_before_its_exchange_went_comes_back_with_that_only() {
    let mut items = earlier();
    let omission = items.split_off(items.len() - 6);
    items.extend(guard_pass(&[("s", "distilled")]));
    items.extend(omission);
    items.extend([
        u("And now?"),
        recall("q1", "s"),
        r("q1", "x"),
        recall("q2", "s"),
        r("q2", "x"),
        a("Done."),
    ]);
    assert_eq!(
        lifted(&session(items)),
        ["u", "a", "s", "n", "z"],
        "each once, and no result without its call"
    );
}

#[test]
fn b23_an_exchange_that_is_back_stays_whole() {
    let mut items = earlier();
    for item in items.iter_mut().rev().take(11) {
        *item = item.clone().unedited();
    }
    items.extend(["u", "a", "s", "n", "z"].map(edit));
    items.extend([
        u("And now?"),
        recall("q1", "s"),
        r("q1", "x"),
        recall("q2", "s"),
        r("q2", "x"),
        a("Done."),
    ]);
    let mirror = session(items);
    let recalled = Recalled::of(&mirror);
    assert!(["u", "a", "s", "n", "z"].iter().all(|id| recalled.holds(id)));
    assert!(recalled.lifts(&mirror).is_empty(), "there is nothing left to put back");
}

#[test]
fn a_recall_that_failed_gave_nothing_back() {
    let mirror = recalling(&[("r", false), ("r", true)]);
    assert!(Recalled::of(&mirror).holds("r"));
    assert_eq!(lifted(&mirror), [""; 0]);
    assert!(!Recalled::of(&recalling(&[("r", false), ("r", false)])).holds("r"));
    let mut items = earlier();
    items.extend([u("And now?"), recall("q1", "r"), recall("q2", "r"), a("Done.")]);
    assert!(!Recalled::of(&session(items)).holds("r"), "aborted before it was made");
}

#[test]
fn b23_only_the_newest_run_counts_and_steering_does_not_end_it() {
    let mut items = earlier();
    items.extend([
        u("And now?"),
        recall("q1", "r"),
        r("q1", "x"),
        u("also docs"),
        recall("q2", "r"),
        r("q2", "x"),
    ]);
    items.push(a("Done."));
    assert_eq!(lifted(&session(items.clone())), ["r"]);
    items.extend([u("Next."), a("Done.")]);
    assert_eq!(lifted(&session(items.clone())), [""; 0]);
    assert!(!Recalled::of(&session(items)).holds("r"));
}

#[test]
fn what_somebody_else_changed_since_is_not_put_back() {
    let mut items = earlier();
    items.extend([edit("r"), edit("s"), u("And now?")]);
    for (at, id) in ["r", "r", "u", "u"].into_iter().enumerate() {
        items.extend([recall(&format!("q{at}"), id), r(&format!("q{at}"), "x")]);
    }
    assert_eq!(
        lifted(&session(items)),
        [""; 0],
        "the exchange would come back with a call without its result"
    );
}

#[test]
fn nonsense_in_a_call_counts_for_nothing() {
    let mut items = earlier();
    items.push(u("And now?"));
    for (at, arguments) in
        ["{", "[]", "{}", r#"{"entryId":7}"#, r#"{"entryId":"gone"}"#].into_iter().enumerate()
    {
        let call = format!("q{at}");
        items.extend([a("").call(&call, "recall", arguments), r(&call, "x")]);
    }
    items.extend([a("").call("q9", "bash", r#"{"entryId":"r"}"#), r("q9", "x"), a("Done.")]);
    assert!(Recalled::of(&session(items)).counts.is_empty());
}

/// An exchange whose omitted parts hold no block, and a run that asks for it twice.
fn recalling_with(empty: impl IntoIterator<Item = Item>) -> Mirror {
    let mut items = vec![u(&"u".repeat(1_000)).id("u").replaced(STUB)];
    items.extend([a("").call("c3", "bash", "{}").id("a").omitted()]);
    items.extend(empty);
    items.push(a("Done.").id("z").omitted());
    items.extend(["u", "a", "s", "n", "z"].map(edit));
    items.push(results(&[json!({
        "kind": "exchange", "entryId": "u", "outcome": "removed", "omitted": ["a", "s", "n", "z"],
    })]));
    items.push(u("And now?"));
    for call in ["q1", "q2"] {
        items.extend([recall(call, "u"), r(call, "the original").tool("recall")]);
    }
    items.push(a("Done."));
    session(items)
}

#[test]
fn b23_a_reply_without_a_block_stays_omitted_where_its_exchange_comes_back() {
    let result = r("c3", "s").id("s").omitted();
    assert_eq!(lifted(&recalling_with([result, a("").id("n").omitted()])), ["u", "a", "s", "z"]);
}

#[test]
fn b23_an_exchange_with_an_empty_result_stays_since_no_edit_could_put_it_back() {
    let result = r("c3", "").id("s").omitted();
    assert_eq!(lifted(&recalling_with([result, n("by the way").id("n").omitted()])), [""; 0]);
}
