//! What `make bench` measures on: generated sessions, a fake classifier, and the runner behind its pipe.

mod classifier;
mod runner;
mod session;
mod text;

pub use classifier::Classifier;
pub use runner::Runner;
pub use session::Session;
