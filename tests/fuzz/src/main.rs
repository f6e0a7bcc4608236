//! The binary that libFuzzer drives. Which target it runs, the variable `FUZZ_TARGET` says.

#![no_main]

use std::sync::LazyLock;

use context_guard_fuzz::{TARGETS, Target};

static TARGET: LazyLock<Option<&Target>> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name)
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = TARGET.as_ref().expect("FUZZ_TARGET names one of the folders of the corpus");
    (target.run)(data);
});
