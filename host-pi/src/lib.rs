//! Runs the context guard, a sandboxed component, for a coding agent.
//!
//! The guest decides and computes; this crate gives it a sandbox ([`engine`]), a network with a gate ([`gate`]), the
//! user's settings ([`settings`]) and a way to be driven: line by line ([`protocol`]) or by calls ([`runner`]).

mod answer;
pub mod cli;
pub mod component;
pub mod contract;
pub mod engine;
pub mod gate;
mod log;
mod probe;
pub mod protocol;
mod replay;
pub mod runner;
pub mod settings;
#[cfg(test)]
mod testing;
