//! Fuzz targets. Each takes any bytes and panics where a promise of the guard is broken.
//!
//! `make fuzz` runs them under libFuzzer; a short run over the corpus and changes of it is an ordinary test.

#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a panic is what a fuzzer looks for"
)]

mod contract;
mod log;
mod pi;
mod protocol;
mod targets;

/// A place where text from outside comes in.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the name of its folder in the corpus.
    pub name: &'static str,
    /// Panics where a promise is broken.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "answers", run: targets::answers::run },
    Target { name: "cuts", run: targets::cuts::run },
    Target { name: "deltas", run: targets::deltas::run },
    Target { name: "images", run: targets::images::run },
    Target { name: "patterns", run: targets::patterns::run },
    Target { name: "rpc", run: targets::rpc::run },
    Target { name: "secrets", run: targets::secrets::run },
    Target { name: "sessions", run: targets::sessions::run },
    Target { name: "settings", run: targets::settings::run },
];
