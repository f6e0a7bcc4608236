//! From a session to what is judged in it, and what comes of that.

mod exchanges;
mod images;
mod properties;
mod small;

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::*;
use crate::contract::sessions::Part;
use crate::jev::question::Request;
use crate::outputs::{Candidate, Failure, Phase, Reply, Scene, outputs};
use crate::secrets::Masks;
use crate::session::fixtures::*;
use crate::session::{History, ItemKind, Mirror, Run};
use crate::settings::Settings;

static NOTHING: History = History { summary: None, first_request: None, exchanges: vec![] };

static DEFAULT: LazyLock<Settings> = LazyLock::new(Settings::default);

fn run_end() -> Scene<'static> {
    let phase = Phase::RunEnd { answer: "Done.", notes: "" };
    Scene { history: &NOTHING, question: "Fix it", phase }
}

/// One reply for a whole batch: the same probability for every item of it.
fn all(p: f64) -> Reply {
    let labels = (1..=60).flat_map(|at| [format!("item_{at}"), format!("exchange_{at}")]);
    let answers: Map<String, Value> =
        labels.map(|label| (label, json!({ "type": "bool", "probability": p }))).collect();
    Reply::Answers(answers)
}

/// Outcome, reason and trace.
fn told(judgement: &Judgement) -> (ItemOutcome, &str, &str) {
    let result = &judgement.result;
    (result.outcome, &result.reason, result.jev.first().map_or("", String::as_str))
}

/// The text of the only edit's first part.
fn text(judgement: &Judgement) -> &str {
    match judgement.edits.first().and_then(|edit| edit.replacement.as_deref()) {
        Some([Part::Text(text), ..]) => text,
        other => panic!("no text but {other:?}"),
    }
}

/// Ids of the questions.
fn asked(request: &Request) -> Vec<&str> {
    request.questions.keys().map(String::as_str).collect()
}
