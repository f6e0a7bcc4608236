//! What hostile guests have in common: the contract, a guest that does nothing, and the means to reach for the network.
//!
//! Each file in `examples/` is one guest with one risk, and named by it. It says what it does differently from
//! [`Guest`]'s silence, and [`hostile!`] makes a component of it.

pub mod contract;
pub mod http;

use contract::classifier::{Service, Verdict};
use contract::sessions::*;
use contract::types::{Error, Model, Timestamp};

/// A guest of the contract. What an example leaves out does nothing.
pub trait Guest: Default + 'static {
    /// As in the contract.
    fn update(&self, _delta: Delta) -> Result<(), Error> {
        Ok(())
    }

    /// As in the contract: no pass is due.
    fn begin(&self) -> Result<Option<Inquiry>, Error> {
        Ok(None)
    }

    /// As in the contract: nothing is changed.
    fn finish(&self) -> Result<Outcome, Error> {
        Ok(outcome(vec![]))
    }

    /// As in the contract: no breakpoint is set.
    fn request(&self) -> Vec<Breakpoint> {
        vec![]
    }

    /// As in the contract: an empty text.
    fn report(&self, _topic: String) -> Result<String, Error> {
        Ok(String::new())
    }

    /// As in the contract: no question is answered.
    fn ask(_service: Service, _questions: Vec<Question>) -> Vec<Verdict> {
        vec![]
    }
}

/// An inquiry with one question, so that the host asks and then calls `finish`.
pub fn inquiry() -> Inquiry {
    let question = Question { id: 0, body: "{}".into() };
    Inquiry { questions: vec![question], budget: Budget { timeout_ms: 1_000, concurrency: 1 } }
}

/// An outcome with these edits and a record that tells of them.
pub fn outcome(edits: Vec<Edit>) -> Outcome {
    Outcome { edits, guard_record: Some(r#"{"v":1}"#.into()), warnings: vec![] }
}

/// Replaces an entry by a text.
pub fn rewrite(target: &str, text: &str) -> Edit {
    Edit { target: target.into(), replacement: Some(vec![Part::Text(text.into())]) }
}

/// A session of a hostile guest, as the contract's resource.
pub struct Session<G>(G);

impl<G: Guest> GuestSession for Session<G> {
    fn new() -> Self {
        Self(G::default())
    }

    fn configure(&self, _user: String, _project: Option<String>) -> Configuration {
        Configuration { enabled: true, classifier: "a/b".into(), breakpoints: true, warnings: vec![] }
    }

    fn observe(&self, _circumstances: Circumstances) {}

    fn update(&self, delta: Delta) -> Result<(), Error> {
        self.0.update(delta)
    }

    fn begin(&self, _phase: Phase, _model: Model, _now: Timestamp) -> Result<Option<Inquiry>, Error> {
        self.0.begin()
    }

    fn finish(&self, _verdicts: Vec<Verdict>, _elapsed_ms: u32, _timed_out: bool) -> Result<Outcome, Error> {
        self.0.finish()
    }

    fn request(&self, _model: Model, _shape: RequestShape, _now: Timestamp) -> Vec<Breakpoint> {
        self.0.request()
    }

    fn response(&self, _model: String, _usage: contract::types::Usage) {}

    fn recall(&self, _request: RecallRequest) -> Result<Vec<Recalled>, Error> {
        Ok(vec![])
    }

    fn status(&self) -> Vec<Span> {
        vec![]
    }

    fn report(&self, topic: String) -> Result<String, Error> {
        self.0.report(topic)
    }
}

/// Makes the component of a [`Guest`].
#[macro_export]
macro_rules! hostile {
    ($guest:ident) => {
        struct Component;

        impl $crate::contract::sessions::Guest for Component {
            type Session = $crate::Session<$guest>;
        }

        impl $crate::contract::classifier::Guest for Component {
            fn ask(
                service: $crate::contract::classifier::Service,
                questions: Vec<$crate::contract::sessions::Question>,
                _budget: $crate::contract::sessions::Budget,
            ) -> Vec<$crate::contract::sessions::Verdict> {
                <$guest as $crate::Guest>::ask(service, questions)
            }
        }

        $crate::contract::export!(Component with_types_in $crate::contract);
    };
}
