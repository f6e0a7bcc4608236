//! Never comes back, neither from a pass nor from asking.

use hostile_guests::contract::classifier::{Service, Verdict};
use hostile_guests::contract::sessions::{Inquiry, Question};
use hostile_guests::contract::types::Error;
use hostile_guests::{Guest, hostile};

#[derive(Default)]
struct Hostile;

impl Guest for Hostile {
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        spin()
    }

    fn ask(_service: Service, _questions: Vec<Question>) -> Vec<Verdict> {
        spin()
    }
}

fn spin() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

hostile!(Hostile);
