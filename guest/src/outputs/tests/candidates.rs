//! Which outputs are judged.

use super::*;
use crate::contract::types::{Block, Entry, EntryBody, Image, Message, ToolResult, View};
use crate::session::{Call, Projected, Run};

fn result(text: &str) -> ToolResult {
    ToolResult {
        call_id: "c1".into(),
        tool_name: Some("bash".into()),
        is_error: false,
        blocks: vec![Block::Text(text.into())],
    }
}

fn entry(result: ToolResult) -> Entry {
    Entry { id: "e1".into(), time: 0, body: EntryBody::Message(Message::ToolResult(result)) }
}

fn run<'a>(entry: &'a Entry, view: &'a View) -> Run<'a> {
    Run {
        span: vec![Projected { entry, position: 1, view }],
        start: 0,
        question: "q".into(),
        answer: String::new(),
        notes: String::new(),
        turns: 2,
        calls: vec![Call { id: "c1", name: "write", arguments: r#"{"command":"ls"}"#, turn: 1 }],
    }
}

/// What is found of one result in a run, as it was recorded.
fn found(result: ToolResult, settings: &Settings) -> Option<(String, Option<u32>)> {
    let entry = entry(result);
    let run = run(&entry, &View::AsRecorded);
    outputs(&run, settings, |_| false).pop().map(|found| (found.tool.to_owned(), found.turn))
}

#[test]
fn l1_an_output_of_4_000_characters_is_large() {
    let settings = Settings::default();
    let is_large = |len: usize| bash("x".repeat(len)).is_large(&settings);
    assert_eq!((is_large(3_999), is_large(4_000)), (false, true));
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
    let failed = ToolResult { is_error: true, ..result("x") };
    assert!(found(failed.clone(), &Settings::default()).is_some());
    assert!(found(failed, &Settings { distill_errors: false, ..Settings::default() }).is_none());
}

#[test]
fn l6_a_result_with_an_image_is_never_judged_by_text() {
    let image = Block::Image(Image { media_type: "image/png".into(), head: String::new(), base64_length: 9 });
    let mut result = result("x");
    result.blocks.push(image);
    assert_eq!(found(result, &Settings::default()), None);
}

#[test]
fn l7_a_text_that_someone_else_changed_is_left_alone() {
    let entry = entry(result("x"));
    let changed = View::Replaced(vec![Block::Text("x".into()), Block::Text("y".into())]);
    let same = View::Replaced(vec![Block::Text("x".into())]);
    let count = |view: &View| outputs(&run(&entry, view), &Settings::default(), |_| false).len();
    assert_eq!((count(&changed), count(&same), count(&View::Omitted)), (0, 1, 0));
}

#[test]
fn l8_b6_an_output_that_begins_with_the_marker_is_like_any_other() {
    let entry = entry(result("[context-guard] but not ours"));
    let run = run(&entry, &View::AsRecorded);
    assert_eq!(outputs(&run, &Settings::default(), |_| false).len(), 1);
    assert_eq!(outputs(&run, &Settings::default(), |entry| entry.id() == "e1").len(), 0);
}

#[test]
fn l9_without_a_name_of_its_own_a_result_has_its_calls() {
    let unnamed = ToolResult { tool_name: None, ..result("x") };
    assert_eq!(found(unnamed.clone(), &Settings::default()), None, "`write` is excluded");
    let settings = Settings { exclude_tools: vec![], ..Settings::default() };
    assert_eq!(found(unnamed.clone(), &settings), Some(("write".into(), Some(1))));
    let orphan = ToolResult { call_id: "c9".into(), ..unnamed };
    assert_eq!(found(orphan, &Settings::default()), Some(("tool".into(), None)));
}

#[test]
fn r16_outputs_come_in_the_order_of_results_with_their_own_arguments() {
    let entries = ["c2", "c1"].map(|call| entry(ToolResult { call_id: call.into(), ..result("x") }));
    let mut run = run(&entries[0], &View::AsRecorded);
    run.span.push(Projected { entry: &entries[1], position: 2, view: &View::AsRecorded });
    run.calls.push(Call { id: "c2", name: "bash", arguments: "{}", turn: 1 });
    let outputs = outputs(&run, &Settings::default(), |_| false);
    let arguments: Vec<_> = outputs.iter().map(|output| output.arguments.unwrap()).collect();
    assert_eq!(arguments, ["{}", r#"{"command":"ls"}"#]);
}
