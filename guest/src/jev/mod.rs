//! Jev, the classifier: questions and answers as data, the client that asks, and the built-in judge.

pub mod client;
pub mod question;
pub mod schedule;
pub mod system_one;

use serde_json::{Map, Value};

use crate::contract::classifier::Service;
use crate::contract::sessions::{Budget, Failure, Question, Reply, Verdict};
use question::Request;
use schedule::Exchange;
use system_one::{Protocol, Usage};

/// Answers every question, in order. What fails or comes too late is a failure, never a gap.
///
/// Only a component has a network: elsewhere, all but the built-in judge fails.
pub fn ask(service: &Service, questions: &[Question], budget: Budget) -> Vec<Verdict> {
    let Some(protocol) = Protocol::named(&service.api) else {
        return questions.iter().map(|question| failed(question.id, Failure::Error)).collect();
    };
    let post = |bodies: &[String]| {
        if cfg!(target_arch = "wasm32") {
            client::post(&protocol.url(&service.base_url), &service.headers, bodies, budget)
        } else {
            bodies.iter().map(|_| Exchange { outcome: Err(Failure::Error), sent_bytes: 0 }).collect()
        }
    };
    ask_over_the_wire(protocol, service, questions, post)
}

fn ask_over_the_wire(
    protocol: Protocol,
    service: &Service,
    questions: &[Question],
    post: impl FnOnce(&[String]) -> Vec<Exchange>,
) -> Vec<Verdict> {
    let requests: Vec<Option<Request>> =
        questions.iter().map(|question| serde_json::from_str(&question.body).ok()).collect();
    let bodies: Vec<String> =
        requests.iter().flatten().map(|request| protocol.body(&service.model, request)).collect();
    let mut exchanges = post(&bodies).into_iter();
    let mut verdicts = Vec::with_capacity(questions.len());
    for (question, request) in questions.iter().zip(&requests) {
        let exchange = request.as_ref().and_then(|request| Some((request, exchanges.next()?)));
        verdicts.push(match exchange {
            Some((request, exchange)) => verdict(question.id, protocol, service, request, exchange),
            None => failed(question.id, Failure::Error),
        });
    }
    verdicts
}

fn verdict(id: u32, protocol: Protocol, service: &Service, request: &Request, exchange: Exchange) -> Verdict {
    let (reply, usage) = match exchange.outcome {
        Ok(body) => {
            let reading = protocol.read(&body, request);
            (reading.answers.map_or(Reply::Failed(Failure::Error), answered), reading.usage)
        }
        Err(failure) => (Reply::Failed(failure), Usage::default()),
    };
    Verdict {
        id,
        reply,
        sent_bytes: exchange.sent_bytes,
        input_tokens: usage.input_tokens,
        cost_usd: usage.cost_usd(service.input_price),
    }
}

fn answered(answers: Map<String, Value>) -> Reply {
    Reply::Answers(Value::Object(answers).to_string())
}

fn failed(id: u32, failure: Failure) -> Verdict {
    Verdict { id, reply: Reply::Failed(failure), sent_bytes: 0, input_tokens: 0, cost_usd: 0.0 }
}
