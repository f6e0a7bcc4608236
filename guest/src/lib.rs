//! x
#![allow(missing_docs)]
pub mod contract;
#[cfg(target_arch = "wasm32")]
mod component;
