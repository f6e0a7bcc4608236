//! Whole requests, word by word, and the rules for single fields.

use std::borrow::Cow;

use super::*;
use crate::jev::question::page;
use crate::outputs::Plan;
use crate::session::Exchange;
use crate::settings::Settings;

static NOTHING: History = History { summary: None, first_request: None, exchanges: Vec::new() };

fn told() -> History {
    let exchange = |prompt: &str, reply: Option<&str>| Exchange {
        prompt: prompt.into(),
        reply: reply.map(str::to_owned),
    };
    History {
        summary: Some("The crates were renamed.".into()),
        first_request: Some("Tidy the workspace".into()),
        exchanges: vec![exchange("Rename the store", Some("Done.")), exchange("And the docs", None)],
    }
}

fn candidate(arguments: Option<&'static str>) -> Candidate<'static> {
    let hits = |file: &str| (1..4).map(|at| format!("{:.<70}", format!("{file}:{at}:"))).collect::<Vec<_>>();
    let text = [hits("a.rs"), hits("b.rs")].concat().join("\n");
    Candidate { entry: "e1", tool: "bash", arguments, text: Cow::Owned(text), failed: false, turn: Some(0) }
}

fn run_end(history: &History) -> Scene<'_> {
    let phase = Phase::RunEnd { answer: "It is fixed.", notes: "Looking." };
    Scene { history, question: "Fix the parser", phase }
}

fn checkpoint<'s>(history: &'s History, later_calls: &'s [&'s str]) -> Scene<'s> {
    let phase = Phase::Checkpoint {
        latest_note: "Now the tests.",
        earlier_notes: "Looking.",
        later_calls,
        superseded: Some("same command run again (4 turns on)"),
    };
    Scene { history, question: "Fix the parser", phase }
}

fn requests(candidate: Candidate<'_>, scene: &Scene<'_>) -> Vec<Request> {
    Plan::new(candidate, &Settings::default()).requests(scene, &Masks::default())
}

/// The only request about a small output, as JSON for people.
fn golden(candidate: Candidate<'_>, scene: &Scene<'_>) -> String {
    let [request] = &requests(candidate, scene)[..] else { panic!("one request") };
    serde_json::to_string_pretty(request).unwrap()
}

fn state_of(candidate: Candidate<'_>, scene: &Scene<'_>) -> Map<String, Value> {
    requests(candidate, scene).remove(0).state
}

#[test]
fn the_request_at_run_end() {
    let candidate = candidate(Some(r#"{"command": "cargo test", "timeout": 1.0}"#));
    insta::assert_snapshot!(golden(candidate, &run_end(&NOTHING)));
}

#[test]
fn the_request_at_run_end_with_history() {
    let candidate = Candidate { failed: true, ..candidate(Some(r#"{"command":"cargo test"}"#)) };
    insta::assert_snapshot!(golden(candidate, &run_end(&told())));
}

#[test]
fn the_request_at_a_checkpoint() {
    let calls = ["edit src/a.rs", "bash `cargo test`"];
    insta::assert_snapshot!(golden(candidate(None), &checkpoint(&NOTHING, &calls)));
}

#[test]
fn the_request_at_a_checkpoint_with_history() {
    let candidate = Candidate { failed: true, ..candidate(None) };
    insta::assert_snapshot!(golden(candidate, &checkpoint(&told(), &[])));
}

#[test]
fn r23_without_history_nothing_speaks_of_it() {
    for scene in [run_end(&NOTHING), checkpoint(&NOTHING, &[])] {
        assert!(!golden(candidate(None), &scene).contains("earlier_conversation"));
    }
}

#[test]
fn l25_a_second_segment_says_which_part_it_is() {
    let line = "x".repeat(799);
    let text = Cow::Owned(vec![line; 41].join("\n"));
    let requests = requests(Candidate { text, ..candidate(None) }, &run_end(&NOTHING));
    assert_eq!(requests.len(), 2);
    let second = &requests[1];
    assert_eq!(second.state["output_size"], "41 lines; this is part 2 of 2");
    assert_eq!(second.state["chunks"].as_object().unwrap().keys().collect::<Vec<_>>(), ["chunk_41"]);
    assert_eq!(second.questions.keys().collect::<Vec<_>>(), ["keep_whole", "focus", "chunk_41"]);
    let focus = second.questions["focus"].to_string();
    assert!(focus.contains("most of this part of the tool output, or"), "{focus}");
}

#[test]
fn l45_arguments_are_cut_at_600_characters() {
    let long: &'static str = Box::leak(format!(r#"{{"a":"{}"}}"#, "x".repeat(692)).into_boxed_str());
    let state = state_of(candidate(Some(long)), &run_end(&NOTHING));
    assert_eq!(state["tool_arguments"], format!("{}…", &long[..600]));
    assert_eq!(state_of(candidate(Some("{}")), &run_end(&NOTHING))["tool_arguments"], "{}");
    assert!(!state_of(candidate(None), &run_end(&NOTHING)).contains_key("tool_arguments"));
}

#[test]
fn l46_a_checkpoint_before_the_first_note() {
    let phase = Phase::Checkpoint { latest_note: " ", earlier_notes: "", later_calls: &[], superseded: None };
    let scene = Scene { history: &NOTHING, question: "Fix the parser", phase };
    let state = state_of(candidate(Some("{}")), &scene);
    assert_eq!(
        state.keys().collect::<Vec<_>>(),
        ["situation", "user_question", "later_tool_calls", "tool", "tool_arguments", "output_size", "chunks"]
    );
    assert_eq!(state["later_tool_calls"], "none so far");
}

#[test]
fn l47_a_long_list_of_later_calls_has_a_gap() {
    let labels: Vec<String> = (0..45).map(|at| format!("read {at}.rs")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let told = calls(&labels);
    let told: Vec<&str> = told.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(
        (told.len(), told[14], told[15], told[16]),
        (31, "read 14.rs", "[… 15 more calls …]", "read 30.rs")
    );
    assert_eq!(calls(&labels[..30]).as_array().unwrap().len(), 30);
    assert_eq!(calls(&labels[..31])[15], "[… 1 more call …]");
}

#[test]
fn an_empty_answer_is_told_and_blank_notes_are_not() {
    let phase = Phase::RunEnd { answer: "", notes: " \n" };
    let state = state_of(candidate(None), &Scene { history: &NOTHING, question: "q", phase });
    assert_eq!(state["final_answer"], "");
    assert!(!state.contains_key("agent_notes_during_the_run"));
}

#[test]
fn long_texts_are_clipped() {
    let long = "x".repeat(7_000);
    let phase = Phase::RunEnd { answer: &long, notes: &long };
    let state = state_of(candidate(None), &Scene { history: &NOTHING, question: &long, phase });
    let len = |field: &str| crate::text::units(state[field].as_str().unwrap());
    assert_eq!(
        ["user_question", "final_answer", "agent_notes_during_the_run"].map(len),
        [4_000, 6_000, 2_000]
    );
}

#[test]
fn arguments_are_written_as_a_javascript_host_would() {
    assert_eq!(
        compact(r#"{ "b": [1.0, 2.5, -3.0], "a": "é" }"#, &Masks::default()),
        r#"{"b":[1,2.5,-3],"a":"é"}"#
    );
    assert_eq!(compact("{broken", &Masks::default()), "{broken");
}

#[test]
fn the_page_on_the_questions_quotes_them_as_they_are_sent() {
    let told = told();
    let scenes = [run_end(&NOTHING), run_end(&told), checkpoint(&NOTHING, &[]), checkpoint(&told, &[])];
    let texts = scenes.iter().flat_map(|scene| {
        let wording = Wording::new(scene, false);
        let questions = questions(&["chunk_N".to_owned()], &wording);
        let questions = questions.into_values().map(|question| serde_json::from_value(question).unwrap());
        std::iter::once(wording.situation()).chain(questions.flat_map(page::texts)).collect::<Vec<_>>()
    });
    assert_eq!(page::quoted("Large outputs"), texts.collect());
}
