//! Sends the question to another port of the granted machine: the one that the question names.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| {
            let host = service.base_url.rsplit_once(':').map_or("", |(host, _)| host);
            let url = format!("{host}:{}/", question.body);
            http::told(question.id, http::post(&url, &[], b"all I know"))
        };
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
