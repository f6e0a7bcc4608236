//! What `make bench` measures on: generated sessions, a fake classifier, and the guard natively, as the component, and
//! behind the runner's pipe.

mod classifier;
mod component;
mod native;
mod request;
mod runner;
mod session;
mod text;

pub use classifier::{Classifier, verdicts};
pub use component::Component;
pub use native::Native;
pub use runner::Runner;
pub use session::Session;

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

/// A guard somewhere, called by the methods and with the JSON of the runner's protocol.
pub trait Hooks {
    /// Calls a method and returns its result with the time that the call itself took: JSON that only this trait needs is
    /// read and written outside it.
    ///
    /// # Errors
    ///
    /// Fails where the guard answers with an error or not at all.
    fn call(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)>;
}
