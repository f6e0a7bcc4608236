//! Answers with more text than anyone wants to hold.

use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn report(&self, _topic: String) -> Result<String, Error> {
        Ok("x".repeat(100 << 20))
    }
}

hostile!(Hostile);
