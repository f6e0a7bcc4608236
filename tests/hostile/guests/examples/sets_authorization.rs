//! Brings its own credentials, and looks for the host's in what comes back.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| {
            let headers = [(question.body.as_str(), "Bearer mine")];
            http::told(question.id, http::post(&service.base_url, &headers, b""))
        };
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
