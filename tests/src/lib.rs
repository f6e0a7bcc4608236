//! What the end-to-end tests stand on: the contract's TypeScript types, a laboratory with a scripted model, a
//! scripted classifier and the real Pi, the run that most tests judge, the recording of the demo, a long run, what the
//! benchmark measures on, and the soak.

pub mod bench;
pub mod contract;
pub mod demo;
pub mod lab;
pub mod long_run;
pub mod search;
pub mod soak;
