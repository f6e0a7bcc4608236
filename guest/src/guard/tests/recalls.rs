//! What the model asked back, over whole passes.

use super::*;

/// A guard that edits what came before the run whatever that costs.
fn ungated(items: &[Item]) -> Guard {
    guard_with(r#"{"exchangeBreakEven":false}"#, whole(items.to_vec()))
}

/// An exchange `e0` to `e4` with a screenshot, omitted by a pass; two more; and a run that recalls the first one.
fn recalled(times: usize, id: &str) -> Vec<Item> {
    let mut items = vec![
        u("Look at the page"),
        a("").call("c0", "screenshot", "{}"),
        r("c0", &log(30)).tool("screenshot").block(png(1_500, 1_000)),
        a("It shows a form."),
    ];
    for prompt in ["Is it centred?", "Is it red?"] {
        items.extend([u(prompt), a("Yes.")]);
    }
    items.extend([u("Next."), a("Done.")]);
    let mut guard = ungated(&items);
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(wants(&inquiry, &[]), 0, false).unwrap();
    assert_eq!(targets(&outcome), ["e0", "e1", "e2", "e3"]);
    let mut items = applied(&items, &outcome);
    items.push(u("What did the page show?"));
    for at in 0..times {
        let call = format!("q{at}");
        let arguments = json!({ "entryId": id }).to_string();
        items.extend([a("").call(&call, "recall", &arguments), r(&call, "the original").tool("recall")]);
    }
    items.push(a("A form."));
    items
}

fn shown(items: &[Item]) -> Vec<bool> {
    let mirror = session(items.to_vec());
    (0..4).map(|at| mirror.projection().get(at).unwrap().altered()).collect()
}

#[test]
fn b23_an_exchange_recalled_twice_is_back_and_stays_for_the_run() {
    assert_eq!(pass(&recalled(1, "e0"), &[]), None);
    let items = recalled(2, "e0");
    let outcome = pass(&items, &[]).unwrap();
    assert_eq!(
        (targets(&outcome), reasons(&outcome)),
        (vec!["e0", "e1", "e2", "e3"], vec!["recalled".into()])
    );
    let record = record_of(&outcome);
    assert_eq!((&record["requests"], &record["results"][0]["kind"]), (&json!(0), &json!("exchange")));
    let before = session(items.clone());
    let mut items = applied(&items, &outcome);
    assert_eq!(shown(&items), [false; 4]);
    let grown = |mirror: &Mirror| crate::session::context_size(mirror.projection()) as i64;
    assert_eq!(record["savedChars"], json!(grown(&before) - grown(&session(items.clone()))));
    assert_eq!(begin(&mut ungated(&items)), None, "neither the exchange nor its old image is judged again");

    items.extend([u("Thanks."), a("Fine.")]);
    let mut guard = ungated(&items);
    let inquiry = begin(&mut guard).unwrap();
    let outcome = guard.finish(wants(&inquiry, &["exchange_2"]), 0, false).unwrap();
    assert_eq!(targets(&outcome)[0], "e0", "the next run judges it anew");
}

#[test]
fn b23_a_part_recalled_twice_brings_the_whole_exchange_back() {
    let items = recalled(2, "e2");
    let outcome = pass(&items, &[]).unwrap();
    assert_eq!(targets(&outcome), ["e0", "e1", "e2", "e3"]);
    assert_eq!(pass(&applied(&items, &outcome), &[]), None);
}

/// A screenshot that lost its image, two exchanges, and a run that recalls it.
fn old_screenshot(times: usize) -> Vec<Item> {
    let mut items = vec![
        u("Look"),
        a("").call("c0", "screenshot", "{}"),
        r("c0", "saved").block(png(1_500, 1_000)),
        a("A."),
        u("And?"),
        a("B."),
        a("C."),
    ];
    let mut guard = ungated(&items);
    begin(&mut guard).unwrap();
    let outcome = guard.finish(vec![], 0, false).unwrap();
    items = applied(&items, &outcome);
    items.push(u("What colour?"));
    for at in 0..times {
        let call = format!("q{at}");
        items.extend([a("").call(&call, "recall", r#"{"entryId":"e2"}"#), r(&call, "saved").tool("recall")]);
    }
    items.extend([a("Red."), a(&"x".repeat(40_000))]);
    items
}

#[test]
fn b23_an_early_image_comes_back_whatever_that_costs() {
    assert_eq!(pass(&old_screenshot(1), &[]), None);
    let items = old_screenshot(2);
    let outcome = pass(&items, &[]).unwrap();
    assert_eq!((targets(&outcome), reasons(&outcome)), (vec!["e2"], vec!["recalled".into()]));
    let after = applied(&items, &outcome);
    assert_eq!(begin(&mut ungated(&after)), None, "it stays for the rest of the run");
    let report = guard(after).report("explain").unwrap();
    assert!(report.contains("asked for it twice"), "{report}");
}

#[test]
fn b23_what_came_back_stands_among_the_others_of_its_kind() {
    let mut items = old_screenshot(2);
    items.truncate(items.len() - 2);
    items.extend([u("also here"), a("").call("c9", "screenshot", "{}")]);
    items.push(r("c9", "saved").block(png(1_500, 1_000)));
    items.extend([a("D."), a("E."), a("F.")]);
    let outcome = pass(&items, &[]).unwrap();
    assert_eq!(reasons(&outcome), ["recalled", "3 turns old"]);
}

#[test]
fn b23_an_output_recalled_in_the_run_is_not_judged_in_it() {
    let items = |id: &str| {
        vec![
            u("Why?"),
            a("").call("c1", "bash", r#"{"command":"ls"}"#),
            r("c1", &log(7)),
            a("").call("c2", "recall", &json!({ "entryId": id }).to_string()),
            r("c2", "short"),
            a("Because."),
        ]
    };
    assert_eq!(pass(&items("e2"), &[]), None);
    assert_eq!(targets(&pass(&items("e0"), &[]).unwrap()), ["e2"]);
}

#[test]
fn b23_an_exchange_is_kept_while_a_part_of_it_is_asked_for() {
    let mut items = vec![u("Read"), a("").call("c1", "bash", "{}"), r("c1", &log(30)), a("Read.")];
    for prompt in ["One.", "Two."] {
        items.extend([u(prompt), a("Done.")]);
    }
    items.push(u("Now."));
    let quiet = [items.clone(), vec![a("Done.")]].concat();
    assert!(begin(&mut guard(quiet)).is_some());
    items.extend([a("").call("q", "recall", r#"{"entryId":"e2"}"#), r("q", "x"), a("Done.")]);
    assert_eq!(begin(&mut guard(items)), None);
}
