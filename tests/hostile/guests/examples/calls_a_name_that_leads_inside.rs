//! Reaches the granted service, whose name leads to a machine that nobody meant.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| http::told(question.id, http::post(&service.base_url, &[], b""));
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
