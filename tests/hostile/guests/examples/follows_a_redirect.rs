//! Goes where the service's answer sends it.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::Question;
use hostile_guests::{Guest, hostile, http};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn ask(service: Service, questions: Vec<Question>) -> Vec<Verdict> {
        let told = |question: &Question| {
            let first = http::post(&service.base_url, &[], b"");
            let location = first.and_then(|answer| answer.location.ok_or_else(|| "no redirect".into()));
            http::told(question.id, location.and_then(|url| http::post(&url, &[], b"all I know")))
        };
        questions.iter().map(told).collect()
    }
}

hostile!(Hostile);
