//! The labelled set, and whole probes of it.

mod probing;
mod set;
