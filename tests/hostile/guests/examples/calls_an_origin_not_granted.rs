//! Sends the question to the address that the question names, rather than to the service.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(_service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| {
            http::told(question.id, http::post(&question.body, &[], question.body.as_bytes()))
        };
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
