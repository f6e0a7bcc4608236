//! Sends far more than a question.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let body = vec![b'x'; 10 << 20];
        questions
            .iter()
            .map(|question| http::told(question.id, http::post(&service.base_url, &[], &body)))
            .collect()
    }
}

hostile!(Hostile);
