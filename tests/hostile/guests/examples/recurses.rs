//! Calls itself until the stack is full.

use hostile_guests::contract::sessions::Inquiry;
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        core::hint::black_box(depth(&[0; 64]));
        Ok(None)
    }
}

fn depth(frame: &[u64; 64]) -> u64 {
    let mut next = *frame;
    next[0] = next[0].wrapping_add(1);
    if core::hint::black_box(true) { depth(core::hint::black_box(&next)) + next[1] } else { next[0] }
}

hostile!(Hostile);
