//! Whole passes: a session goes in, edits and a record come out.

mod breakpoints;
mod checkpoints;
mod hostile;
mod kinds;
mod outputs;
mod prices;
mod properties;
mod recalls;

use serde_json::{Map, Value, json};

use super::*;
use crate::contract::sessions::{Failure, Part, Reply};
use crate::contract::types::{Block, CacheScheme, ThinkingBinding};
use crate::session::fixtures::*;

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

/// The targets of all edits.
fn targets(outcome: &Outcome) -> Vec<&str> {
    outcome.edits.iter().map(|made| made.target.as_str()).collect()
}

/// Begins a pass and has the classifier want nothing but these chunks and items.
fn pass(items: &[Item], wanted: &[&str]) -> Option<Outcome> {
    let mut guard = guard(items.to_vec());
    let inquiry = begin(&mut guard)?;
    Some(guard.finish(wants(&inquiry, wanted), 0, false).unwrap())
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

/// What a host shows after it has taken the outcome over. Ids are places, as the fixtures give them.
fn applied(items: &[Item], outcome: &Outcome) -> Vec<Item> {
    let mirror = session(items.iter().cloned());
    let mut after = items.to_vec();
    for made in &outcome.edits {
        let item = mirror.projection().get(mirror.index(&made.target).unwrap()).unwrap();
        let block = |part: &Part| match part {
            Part::Text(text) => Block::Text(text.clone()),
            Part::Recorded(at) => item.recorded().unwrap().blocks[*at as usize].clone(),
        };
        let place = &mut after[item.position];
        *place = match &made.replacement {
            None => place.clone().omitted(),
            Some(parts) => place.clone().replaced_by(parts.iter().map(block)),
        };
    }
    after.extend(outcome.edits.iter().map(|made| edit(&made.target)));
    after.extend(outcome.guard_record.as_deref().map(record));
    after
}
