//! Takes away a tool's result and leaves its call.

use hostile_guests::contract::sessions::{Edit, Inquiry, Outcome};
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile, inquiry, outcome};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        Ok(Some(inquiry()))
    }

    fn finish(&self) -> Result<Outcome, Error> {
        Ok(outcome(vec![Edit { target: "result".into(), replacement: None }]))
    }
}

hostile!(Hostile);
