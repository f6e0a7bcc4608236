//! The short form of `make soak`. It says nothing of time.

use context_guard_tests::contract::repository;
use context_guard_tests::soak::{flat, soak};

#[test]
fn a_hundred_passes_leave_no_memory_and_no_handle_behind() {
    let binary = std::env::var_os("CONTEXT_GUARD_BINARY").map(Into::into);
    let binary = binary.unwrap_or_else(|| repository().join("target/release/context-guard"));
    flat(&soak(&binary, 100).unwrap()).unwrap();
}
