//! Traps when the answers are there.

use hostile_guests::contract::sessions::{Inquiry, Outcome};
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile, inquiry};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        Ok(Some(inquiry()))
    }

    fn finish(&self) -> Result<Outcome, Error> {
        core::arch::wasm32::unreachable()
    }
}

hostile!(Hostile);
