//! What the end-to-end tests stand on: the contract's TypeScript types, and a laboratory with a scripted
//! model, a scripted classifier and the real Pi.

pub mod contract;
pub mod lab;
