//! The contract, under the name that the files of the runner know it by.

pub(crate) use context_guard::contract::{sessions, types};
