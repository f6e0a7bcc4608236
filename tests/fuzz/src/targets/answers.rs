//! Answers of a classifier, over the wire and as a host hands them in.

use std::sync::LazyLock;

use context_guard::jev::question::Request;
use context_guard::jev::system_one::{Protocol, Reading};
use serde_json::{Value, json};

use crate::contract::sessions::Phase;
use crate::pi::{Answering, Host};

static REQUEST: LazyLock<Request> = LazyLock::new(|| {
    serde_json::from_value(json!({
        "state": { "chunks": { "chunk_1": "a", "chunk_2": "b" } },
        "questions": {
            "keep_whole": { "type": "bool", "instructions": "?", "criteria": { "true": "t", "false": "f" } },
            "focus": { "type": "choice", "instructions": "?",
                "criteria": { "whole": "w", "none": "n", "chunk_1": "1", "chunk_2": "2" } },
            "chunk_1": { "type": "bool", "instructions": "?", "criteria": { "true": "t", "false": "f" } },
        },
    }))
    .unwrap()
});

/// Takes the bytes for the body of a response, and for the text that a host hands in.
pub(crate) fn run(data: &[u8]) {
    let mut texts = vec![String::from_utf8_lossy(data).into_owned()];
    for protocol in [Protocol::SystemOne, Protocol::Cloudflare] {
        let reading = protocol.read(data, &REQUEST);
        sound(&reading);
        texts.extend(reading.answers.map(|answers| Value::Object(answers).to_string()));
    }
    for text in texts {
        judged(text);
    }
}

fn sound(Reading { answers, usage }: &Reading) {
    assert!([0.0, 1e300, f64::NAN, f64::INFINITY, -1.0].iter().all(|price| usage.cost_usd(*price) >= 0.0));
    for (id, answer) in answers.iter().flatten() {
        let question = REQUEST.questions.get(id).expect("only what was asked is answered");
        let probability = |value: &Value| value.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p));
        if question["type"] == "bool" {
            assert!(probability(&answer["probability"]), "{answer}");
        } else {
            let given = answer["probabilities"].as_object().expect("a choice has probabilities");
            assert!(given.values().all(probability), "{answer}");
            assert!(given.keys().all(|option| question["criteria"].get(option).is_some()), "{answer}");
            assert!(given.contains_key(answer["choice"].as_str().expect("a choice is a text")), "{answer}");
        }
    }
}

/// Runs passes over a session with items of every kind, all of whose questions get that answer.
fn judged(text: String) {
    let session = include_bytes!("../../corpus/sessions/v3-every-kind.jsonl");
    let mut host = Host::open(session).expect("the corpus has a session");
    host.configure(r#"{"exchangeBreakEven":false,"keepRecentExchanges":0,"minRunChars":0}"#, None);
    let mut passing = crate::pi::passing(Phase::RunEnd, "");
    passing.answering = Answering::Raw(text);
    host.pass(&passing);
}
