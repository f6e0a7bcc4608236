//! Asks for memory until there is none.

use hostile_guests::contract::sessions::Inquiry;
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        const PAGES: usize = 16;
        loop {
            core::hint::black_box(core::arch::wasm32::memory_grow(0, PAGES));
        }
    }
}

hostile!(Hostile);
