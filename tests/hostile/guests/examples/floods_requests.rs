//! Asks the service again and again, without end.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        loop {
            if let Err(error) = http::post(&service.base_url, &[], b"again") {
                return questions
                    .iter()
                    .map(|question| http::told(question.id, Err(error.clone())))
                    .collect();
            }
        }
    }
}

hostile!(Hostile);
