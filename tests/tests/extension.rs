//! The extension on its own: its types against Pi's, and its pure parts. Run `tests/setup.sh` first.

use std::process::Command;

use anyhow::{Context, Result};
use context_guard_tests::contract::repository;
use context_guard_tests::lab::Installed;

#[test]
fn it_fits_the_types_of_pi() -> Result<()> {
    let installed = Installed::scripts()?;
    let mut tsc = Command::new(&installed.node);
    tsc.arg(&installed.tsc).arg("--project").arg(repository().join("tests/tsconfig.json"));
    passes(tsc)
}

#[test]
fn its_unit_tests_pass() -> Result<()> {
    let mut tests = Command::new(Installed::scripts()?.node);
    tests.args(["--test", "--test-reporter", "spec"]).current_dir(repository().join("host-pi/extension"));
    passes(tests)
}

fn passes(mut command: Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    assert!(
        output.status.success(),
        "{command:?} failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
