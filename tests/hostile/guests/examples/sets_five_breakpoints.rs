//! Wants cache breakpoints where there is no block, more than a provider takes, and of a kind that does not exist.

use hostile_guests::contract::sessions::{Breakpoint, Section};
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn request(&self) -> Vec<Breakpoint> {
        let at = |message, block, cache_control: &str| Breakpoint {
            section: Section::Messages,
            message,
            block,
            cache_control: Some(cache_control.into()),
        };
        (0..5).map(|message| at(message, 9, r#"{"type":"eternal"}"#)).collect()
    }
}

hostile!(Hostile);
