//! Installed, and then something in it is not as it was published. The remedy that the user is told mends each.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use context_guard_tests::lab::{Installed, Plan};

use crate::clean_home::{CleanHome, plan};

fn installed() -> Result<CleanHome> {
    let home = CleanHome::new()?;
    home.install()?;
    Ok(home)
}

fn runner(home: &CleanHome) -> Result<PathBuf> {
    Ok(home.runner_package()?.join("context-guard"))
}

/// Changes one byte in the middle of the runner, where it may be code as well as data.
fn change_a_byte(home: &CleanHome) -> Result<()> {
    let path = runner(home)?;
    let mut bytes = fs::read(&path)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    Ok(fs::write(path, bytes)?)
}

#[test]
fn a_changed_byte_in_the_runner() -> Result<()> {
    let home = installed()?;
    change_a_byte(&home)?;
    home.goes_on_without("is not the runner that this version was published with, and is not started")?;
    home.install_again()?;
    home.distills()
}

#[test]
fn a_runner_that_changes_while_pi_runs_is_not_started_again() -> Result<()> {
    let home = installed()?;
    let mut pi = home.lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    // Not written over: a file that runs cannot be.
    fs::copy(runner(&home)?, runner(&home)?.with_extension("new"))?;
    fs::rename(runner(&home)?.with_extension("new"), runner(&home)?)?;
    change_a_byte(&home)?;
    let mark = pi.mark();
    pi.send("new_session", serde_json::json!({}))?;
    pi.until_notified(mark, "is not started")?;
    assert_eq!(pi.close()?, Some(0));
    home.lab.until_left()
}

#[test]
fn the_runner_of_another_version() -> Result<()> {
    let home = installed()?;
    fs::copy("/bin/true", runner(&home)?)?;
    home.goes_on_without("is not the runner that this version was published with")
}

#[test]
fn the_packages_of_another_machine_copied_in() -> Result<()> {
    let home = installed()?;
    fs::rename(home.runner_package()?, home.module("pi-context-guard-wasi-plan9-mips"))?;
    home.goes_on_without("the runner that is installed is for plan9-mips, and this machine is")?;
    home.install_again()?;
    home.distills()
}

#[test]
fn a_machine_that_no_runner_is_made_for() -> Result<()> {
    let home = installed()?;
    fs::write(home.module("pi-context-guard-wasi/digests.json"), r#"{"plan9-mips": "00"}"#)?;
    home.goes_on_without("there is no runner for")
}

#[test]
fn digests_that_cannot_be_read() -> Result<()> {
    let home = installed()?;
    fs::write(home.module("pi-context-guard-wasi/digests.json"), "{")?;
    home.goes_on_without("digests.json is no JSON")
}

#[test]
fn a_runner_that_may_not_be_executed() -> Result<()> {
    let home = installed()?;
    fs::set_permissions(runner(&home)?, fs::Permissions::from_mode(0o644))?;
    home.goes_on_without("may not be executed. `chmod +x` permits it")?;
    fs::set_permissions(runner(&home)?, fs::Permissions::from_mode(0o755))?;
    home.distills()
}

#[test]
fn a_runner_that_was_deleted() -> Result<()> {
    let home = installed()?;
    fs::remove_file(runner(&home)?)?;
    home.goes_on_without("context-guard is missing. `pi remove npm:pi-context-guard-wasi`")
}

#[test]
fn a_runner_of_ones_own_is_taken_as_it_is() -> Result<()> {
    let own = Installed::find(None)?.runner;
    let home =
        CleanHome::with_plan(Plan { environment: vec![("CONTEXT_GUARD_BINARY", own.into())], ..plan() })?;
    home.publish_current()?;
    home.install()?;
    change_a_byte(&home)?;
    home.distills()
}
