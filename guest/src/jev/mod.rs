//! Jev, the classifier: questions and answers as data, the client that asks, and the built-in judge.

pub mod builtin;
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
    if service.api == builtin::API && service.model == builtin::MODEL {
        return questions.iter().map(judged).collect();
    }
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

fn judged(question: &Question) -> Verdict {
    let verdict = failed(question.id, Failure::Error);
    match serde_json::from_str(&question.body) {
        Ok(request) => Verdict { reply: answered(builtin::judge(&request)), ..verdict },
        Err(_) => verdict,
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BUDGET: Budget = Budget { timeout_ms: 8_000, concurrency: 6 };

    fn service(api: &str, model: &str) -> Service {
        Service {
            api: api.into(),
            base_url: "https://jev.test/v1".into(),
            model: model.into(),
            headers: Vec::new(),
            input_price: 0.5,
        }
    }

    fn question(id: u32) -> Question {
        let body = json!({
            "state": {"final_answer": "it is in src/a.rs", "chunks": {"chunk_1": "src/a.rs:1: fn main"}},
            "questions": {"chunk_1": {"type": "bool", "instructions": "?", "criteria": {}}},
        });
        Question { id, body: body.to_string() }
    }

    fn broken(id: u32) -> Question {
        Question { id, body: "{".into() }
    }

    #[test]
    fn every_question_gets_its_own_verdict_and_a_broken_one_is_not_sent() {
        let answer = json!({
            "answers": {"chunk_1": {"type": "noul", "noul": 0.25}}, "usage": {"input_tokens": 1_000_000},
        });
        let ends = [Ok(answer.to_string().into_bytes()), Ok(b"<html>".to_vec()), Err(Failure::Denied)];
        let service = service("typesafe-system-one", "jev-latest");
        let questions = [question(7), broken(8), question(9), question(10)];
        let verdicts = ask_over_the_wire(Protocol::SystemOne, &service, &questions, |bodies| {
            assert_eq!(bodies.len(), 3);
            ends.map(|outcome| Exchange { outcome, sent_bytes: 40 }).to_vec()
        });
        let told: Vec<_> =
            verdicts.iter().map(|v| (v.id, v.reply.clone(), v.sent_bytes, v.cost_usd)).collect();
        assert_eq!(
            told,
            [
                (7, Reply::Answers(r#"{"chunk_1":{"type":"bool","probability":0.25}}"#.into()), 40, 0.5),
                (8, Reply::Failed(Failure::Error), 0, 0.0),
                (9, Reply::Failed(Failure::Error), 40, 0.0),
                (10, Reply::Failed(Failure::Denied), 40, 0.0),
            ]
        );
    }

    #[test]
    fn the_built_in_judge_answers_without_a_network() {
        let verdicts = ask(&service("builtin", "lexical"), &[question(1), broken(2)], BUDGET);
        assert!(matches!(&verdicts[0].reply, Reply::Answers(answers) if answers.contains("chunk_1")));
        assert_eq!((verdicts[0].sent_bytes, verdicts[0].cost_usd), (0, 0.0));
        assert_eq!(verdicts[1].reply, Reply::Failed(Failure::Error));
    }

    #[test]
    fn an_unknown_service_fails_every_question() {
        for (api, model) in [("llama-cpp-classify", "x"), ("", ""), ("builtin", "semantic")] {
            let verdicts = ask(&service(api, model), &[question(1), question(2)], BUDGET);
            assert_eq!(verdicts.iter().map(|verdict| verdict.id).collect::<Vec<_>>(), [1, 2]);
            assert!(verdicts.iter().all(|verdict| verdict.reply == Reply::Failed(Failure::Error)));
        }
    }
}
