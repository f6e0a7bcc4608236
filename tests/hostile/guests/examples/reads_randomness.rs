//! Wants numbers that nobody can foresee.

use hostile_guests::contract::sessions::Inquiry;
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

mod more {
    wit_bindgen::generate!({
        inline: "
            package hostile:guests;
            world more { import wasi:random/random@0.2.12; }
        ",
        path: "../../../wit",
        world: "hostile:guests/more",
        generate_all,
    });
}

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        core::hint::black_box(more::wasi::random::random::get_random_u64());
        Ok(None)
    }
}

hostile!(Hostile);
