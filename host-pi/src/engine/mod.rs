//! The sandbox: wasmtime, set up so that the guest can compute, wait and ask for HTTP, and nothing else.

pub(crate) mod asking;
mod config;
mod limits;
mod sandbox;
mod session;
mod ticker;

pub use config::config;
pub use limits::Limits;
pub use sandbox::Sandbox;
pub use session::{Failure, Session};
