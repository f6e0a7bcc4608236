//! The contract is written once, in WIT; the extension's types are made from it.

use context_guard_tests::contract;

#[test]
fn the_typescript_types_are_those_of_the_wit() {
    let kept = std::fs::read_to_string(contract::checked_in()).unwrap_or_default();
    let made = contract::typescript().unwrap();
    assert!(
        kept == made,
        "host-pi/extension/contract.ts is stale; run `cargo run -p context-guard-tests --bin contract-types`"
    );
}
