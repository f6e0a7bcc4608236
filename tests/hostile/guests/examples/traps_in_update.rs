//! Traps when it is told of the session.

use hostile_guests::contract::sessions::Delta;
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn update(&self, _delta: Delta) -> Result<(), Error> {
        core::arch::wasm32::unreachable()
    }
}

hostile!(Hostile);
