//! Records `tests/fixtures/demo.jsonl` anew. It is worth it only when Pi's session files or the script changed.

use anyhow::{Context, Result};
use context_guard_tests::demo;

fn main() -> Result<()> {
    let path = demo::fixture();
    std::fs::write(&path, demo::record()?).with_context(|| format!("{} cannot be written", path.display()))
}
