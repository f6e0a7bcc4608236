//! Which outputs are judged.

use super::*;
use crate::contract::types::Block;
use crate::session::fixtures::{Item, a, edit, guard_pass, image, r, session, u};
use crate::session::{Mirror, Run};

/// A run in which `write` was called and answered with `result`.
fn run_of(result: Item) -> Mirror {
    session([u("q"), a("").call("c1", "write", r#"{"command":"ls"}"#), result])
}

/// Tool and turn of what is found in a session.
fn found(mirror: &Mirror, settings: &Settings) -> Option<(String, Option<u32>)> {
    let run = Run::of(mirror.projection()).unwrap();
    outputs(&run, settings).pop().map(|found| (found.tool.to_owned(), found.turn))
}

fn is_found(result: Item) -> bool {
    found(&run_of(result.tool("bash")), &Settings::default()).is_some()
}

#[test]
fn l1_an_output_of_4_000_characters_is_large() {
    let is_large = |len: usize| bash("x".repeat(len)).is_large(&Settings::default());
    assert!(!is_large(3_999));
    assert!(is_large(4_000));
}

#[test]
fn l2_an_emoji_outside_the_bmp_counts_two() {
    assert!(bash("😀".repeat(2_000)).is_large(&Settings::default()));
}

#[test]
fn l3_l4_a_run_needs_8_000_characters() {
    let settings = Settings::default();
    assert!(!worth_asking(&[bash("x".repeat(7_500))], &settings));
    assert!(worth_asking(&[bash("x".repeat(4_000)), bash("x".repeat(4_000))], &settings));
}

#[test]
fn l5_a_failed_call_is_judged_unless_the_settings_say_otherwise() {
    let failed = run_of(r("c1", "x").tool("bash").failed());
    assert!(found(&failed, &Settings::default()).is_some());
    assert!(found(&failed, &Settings { distill_errors: false, ..Settings::default() }).is_none());
}

#[test]
fn l6_a_result_with_an_image_is_never_judged_by_text() {
    assert!(is_found(r("c1", "x")));
    assert!(!is_found(r("c1", "x").block(image("image/png", "iVBO"))));
}

#[test]
fn l7_a_text_that_someone_else_changed_is_left_alone() {
    let text = |text: &str| Block::Text(text.into());
    assert!(!is_found(r("c1", "x").replaced_by([text("x"), text("y")])));
    assert!(is_found(r("c1", "x").replaced_by([text("x")])));
    assert!(!is_found(r("c1", "x").omitted()));
}

#[test]
fn l8_b6_an_output_that_begins_with_the_marker_is_like_any_other() {
    let marked = "[context-guard] printed by a tool";
    assert!(is_found(r("c1", marked)));
    let mut items = vec![u("q"), a("").call("c1", "bash", "{}"), r("c1", marked).replaced(marked)];
    items.push(edit("e2"));
    assert!(
        found(&session(items.clone()), &Settings::default()).is_some(),
        "somebody's edit changed nothing"
    );
    items.pop();
    items.extend(guard_pass(&[("e2", "removed")]));
    assert!(found(&session(items), &Settings::default()).is_none(), "the guard's own edit is in force");
}

/// Whether the last result is found, of a session in which `recall` was called with that id before it. Earlier, `ssh`
/// returned `secret`, as part of the exchange of `prompt`, and `bash` returned `plain`.
fn recalled_is_found(id: &str, exclude: &[&str]) -> bool {
    let asked = format!(r#"{{"entryId":" {id} "}}"#);
    let mirror = session([
        u("first").id("other"),
        a("").call("c0", "bash", "{}"),
        r("c0", "x").tool("bash").id("plain"),
        a("Done."),
        u("q").id("prompt"),
        a("").call("c1", "ssh", "{}"),
        r("c1", "x").tool("ssh").id("secret"),
        a("Done."),
        u("q").id("now"),
        a("").call("c2", "recall", r#"{"entryId":"secret"}"#),
        r("c2", "x").tool("recall").id("again"),
        a("").call("c3", "recall", &asked),
        r("c3", "x").tool("recall").id("last"),
        a("Done."),
    ]);
    let settings = Settings {
        exclude_tools: exclude.iter().map(|tool| (*tool).into()).collect(),
        ..Settings::default()
    };
    outputs(&Run::of(mirror.projection()).unwrap(), &settings).iter().any(|output| output.entry == "last")
}

#[test]
fn what_recall_returns_of_an_excluded_tool_is_excluded_as_well() {
    assert!(recalled_is_found("secret", &[]));
    assert!(!recalled_is_found("secret", &["ssh"]));
    assert!(!recalled_is_found("prompt", &["ssh"]), "its exchange holds the output");
    assert!(!recalled_is_found("again", &["ssh"]), "a recall of a recall");
    for id in ["plain", "other", "no such id", "last"] {
        assert!(recalled_is_found(id, &["ssh"]), "{id}");
    }
    assert!(!recalled_is_found("plain", &["recall"]));
}

#[test]
fn a_recall_without_its_call_could_be_of_any_tool() {
    let mirror = session([u("q"), r("c1", "x").tool("recall"), a("Done.")]);
    assert_eq!(found(&mirror, &Settings::default()), None);
}

#[test]
fn l9_without_a_name_of_its_own_a_result_has_its_calls() {
    let unnamed = run_of(r("c1", "x"));
    assert_eq!(found(&unnamed, &Settings::default()), None, "`write` is excluded");
    let settings = Settings { exclude_tools: vec![], ..Settings::default() };
    assert_eq!(found(&unnamed, &settings), Some(("write".into(), Some(0))));
    assert_eq!(found(&run_of(r("c9", "x")), &settings), Some(("tool".into(), None)));
}

#[test]
fn r16_outputs_come_in_the_order_of_results_with_their_own_arguments() {
    let calls = a("").call("c1", "bash", r#"{"command":"ls"}"#).call("c2", "bash", "{}");
    let mirror = session([u("q"), calls, r("c2", "x"), r("c1", "x")]);
    let run = Run::of(mirror.projection()).unwrap();
    let arguments: Vec<_> =
        outputs(&run, &Settings::default()).iter().map(|output| output.arguments.unwrap()).collect();
    assert_eq!(arguments, ["{}", r#"{"command":"ls"}"#]);
}
