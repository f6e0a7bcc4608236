//! A host in small: a session as Pi keeps it, and the guard beside it.
//!
//! Reading session files, making the context of a branch and checking answers are the runner's own files: the crate as
//! a whole brings wasmtime along, which would have to be compiled for the fuzzer as well.

#[expect(dead_code, reason = "what fits is sent here")]
#[path = "../../../../host-pi/src/answer/mod.rs"]
mod answer;
mod host;
#[path = "../../../../host-pi/src/replay/mapping.rs"]
mod mapping;
#[path = "../../../../host-pi/src/replay/projection.rs"]
mod projection;
mod promises;
mod requests;
mod script;
#[expect(dead_code, reason = "what a file is besides its branch is for the reader of a replay")]
#[path = "../../../../host-pi/src/replay/session_file.rs"]
mod session_file;

pub(crate) use host::{Answering, Host, Passing};
pub(crate) use script::{passing, play};
