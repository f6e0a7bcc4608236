//! Speaks to the granted machine by other protocols than the granted one.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| {
            let rest = service.base_url.split_once("://").map_or("", |(_, rest)| rest);
            let url = format!("{}://{rest}", question.body);
            http::told(question.id, http::post(&url, &[], b"all I know"))
        };
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
