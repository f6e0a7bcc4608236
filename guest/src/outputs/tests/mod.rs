//! From the output of a tool to what takes its place.

mod candidates;
mod judging;
mod properties;

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::*;

static NOTHING: History = History { summary: None, first_request: None, exchanges: Vec::new() };

fn run_end(answer: &str) -> Scene<'_> {
    Scene { history: &NOTHING, question: "Fix it", phase: Phase::RunEnd { answer, notes: "" } }
}

fn bash(text: impl Into<String>) -> Candidate<'static> {
    Candidate {
        entry: "e1",
        tool: "bash",
        arguments: Some(r#"{"command":"make"}"#),
        text: Cow::Owned(text.into()),
        failed: false,
        turn: Some(0),
    }
}

/// Lines of 100 units with their newline, eight of which make a chunk.
fn lines(count: usize) -> String {
    (0..count).map(|at| format!("{:.<99}", format!("line {at} "))).collect::<Vec<_>>().join("\n")
}

/// Answers with that much of a whole, that choice, and the probabilities of chunks by number.
fn answers(keep_whole: f64, choice: &str, focus: &[(&str, f64)], chunks: &[(usize, f64)]) -> Reply {
    let focus: Map<String, Value> = focus.iter().map(|(key, p)| ((*key).into(), json!(p))).collect();
    let mut answers = Map::new();
    answers.insert("keep_whole".into(), json!({ "type": "bool", "probability": keep_whole }));
    answers.insert("focus".into(), json!({ "type": "choice", "choice": choice, "probabilities": focus }));
    for (at, p) in chunks {
        answers.insert(format!("chunk_{at}"), json!({ "type": "bool", "probability": p }));
    }
    Reply::Answers(answers)
}

fn judge(candidate: Candidate<'_>, replies: &[Reply]) -> Judgement {
    let settings = Settings::default();
    Plan::new(candidate, &settings).judge(replies, &run_end("Done."), &settings)
}
