//! The scripts on their own: the extension's types against Pi's, and what has unit tests. Run `tests/setup.sh` first.

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
    passes(unit_tests("host-pi/extension")?)
}

#[test]
fn what_packs_it_passes_its_unit_tests() -> Result<()> {
    passes(unit_tests("host-pi/packages")?)
}

#[test]
fn the_scripted_models_refuse_and_charge_as_providers_do() -> Result<()> {
    passes(unit_tests("tests/lab")?)
}

fn unit_tests(folder: &str) -> Result<Command> {
    let mut tests = Command::new(Installed::scripts()?.node);
    tests.args(["--test", "--test-reporter", "spec"]).current_dir(repository().join(folder));
    Ok(tests)
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
