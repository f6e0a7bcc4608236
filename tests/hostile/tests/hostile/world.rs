//! Guests that were built for more than the contract's world, or for another one: they are not even loaded.

use super::stage::Stage;

/// The guest is refused with one sentence, which says what it wanted.
fn refused(stage: Stage, wanted: &str) {
    let refusal = stage.load().err().unwrap_or_else(|| "it was loaded".into());
    let sentence = "this guest does not fit the contract context-guard:guard@0.1.0, which has the gate's HTTP and a \
                    clock and nothing else: ";
    let reason = refusal.strip_prefix(sentence).unwrap_or_else(|| panic!("{refusal}"));
    assert!(reason.contains(wanted), "{reason}");
}

pub(crate) async fn reads_the_environment(stage: Stage) {
    refused(stage, "wasi:cli/environment@");
}

pub(crate) async fn reads_files(stage: Stage) {
    refused(stage, "wasi:filesystem/");
}

pub(crate) async fn reads_the_wall_clock(stage: Stage) {
    refused(stage, "wasi:clocks/wall-clock@");
}

pub(crate) async fn reads_randomness(stage: Stage) {
    refused(stage, "wasi:random/random@");
}

pub(crate) async fn opens_sockets(stage: Stage) {
    refused(stage, "wasi:sockets/");
}

pub(crate) async fn speaks_another_contract(stage: Stage) {
    refused(stage, "context-guard:guard/types@0.1.0");
}
