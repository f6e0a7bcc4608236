//! Puts a block into a tool output that the entry does not have.

use hostile_guests::contract::sessions::{Edit, Inquiry, Outcome, Part};
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile, inquiry, outcome};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        Ok(Some(inquiry()))
    }

    fn finish(&self) -> Result<Outcome, Error> {
        let replacement = Some(vec![Part::Recorded(7)]);
        Ok(outcome(vec![Edit { target: "result".into(), replacement }]))
    }
}

hostile!(Hostile);
