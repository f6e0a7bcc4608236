//! The component: hands the calls of the contract to the guard and the classifier, and decides nothing.

use std::cell::RefCell;

use crate::contract::sessions::*;
use crate::contract::{classifier, sessions};
use crate::guard::Guard;
use crate::jev;

/// What the world's exports are bound to.
pub struct Component;

/// One session. The cell is never borrowed twice: a component runs one call at a time, and no call into a
/// session makes one to the host.
pub struct Session(RefCell<Guard>);

impl sessions::Guest for Component {
    type Session = Session;
}

impl sessions::GuestSession for Session {
    fn new() -> Self {
        Self(RefCell::new(Guard::new()))
    }

    fn configure(&self, user: String, project: Option<String>) -> Configuration {
        self.0.borrow_mut().configure(&user, project.as_deref())
    }

    fn observe(&self, circumstances: Circumstances) {
        self.0.borrow_mut().observe(circumstances);
    }

    fn update(&self, delta: Delta) -> Result<(), Error> {
        self.0.borrow_mut().update(delta)
    }

    fn begin(&self, phase: Phase, model: Model, now: Timestamp) -> Result<Option<Inquiry>, Error> {
        self.0.borrow_mut().begin(phase, model, now)
    }

    fn finish(&self, verdicts: Vec<Verdict>, elapsed_ms: u32, timed_out: bool) -> Result<Outcome, Error> {
        self.0.borrow_mut().finish(verdicts, elapsed_ms, timed_out)
    }

    fn request(&self, model: Model, shape: RequestShape, now: Timestamp) -> Vec<Breakpoint> {
        self.0.borrow_mut().request(model, shape, now)
    }

    fn response(&self, model: String, usage: Usage) {
        self.0.borrow_mut().response(model, usage);
    }

    fn recall(&self, request: RecallRequest) -> Result<Vec<Recalled>, Error> {
        self.0.borrow().recall(request)
    }

    fn status(&self) -> Vec<Span> {
        self.0.borrow().status()
    }

    fn report(&self, topic: String) -> Result<String, Error> {
        self.0.borrow().report(&topic)
    }
}

impl classifier::Guest for Component {
    fn ask(service: classifier::Service, questions: Vec<Question>, budget: Budget) -> Vec<Verdict> {
        jev::ask(&service, &questions, budget)
    }
}

#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "generated")]
mod exports {
    use super::Component;

    crate::contract::export!(Component with_types_in crate::contract);
}
