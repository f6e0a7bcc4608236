//! Traps when a pass begins.

use hostile_guests::contract::sessions::Inquiry;
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        core::arch::wasm32::unreachable()
    }
}

hostile!(Hostile);
