//! Writes `host-pi/extension/contract.ts` from `wit/guard.wit`.

use anyhow::{Context, Result};
use context_guard_tests::contract;

fn main() -> Result<()> {
    let path = contract::checked_in();
    std::fs::write(&path, contract::typescript()?)
        .with_context(|| format!("{} cannot be written", path.display()))
}
