//! Answers with more edits than a session has entries.

use hostile_guests::contract::sessions::{Inquiry, Outcome};
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile, inquiry, outcome, rewrite};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        Ok(Some(inquiry()))
    }

    fn finish(&self) -> Result<Outcome, Error> {
        Ok(outcome(vec![rewrite("result", "gone"); 100_000]))
    }
}

hostile!(Hostile);
