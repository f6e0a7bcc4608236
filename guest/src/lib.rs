//! The context guard: decides which parts of a coding agent's context the work still needs.
//!
//! Everything here computes; only `jev::client` reaches out, and only through `wasi:http`.

pub mod cache;
pub mod component;
pub mod contract;
pub mod guard;
pub mod items;
pub mod jev;
pub mod label;
pub mod outputs;
pub mod passes;
pub mod recall;
pub mod report;
pub mod secrets;
pub mod session;
pub mod settings;
pub mod text;
