//! Installed from a registry.

use std::fs;

use anyhow::Result;

use crate::clean_home::CleanHome;

#[test]
fn installed_from_a_registry_it_distills() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    assert!(home.runner_package()?.join("context-guard").is_file());
    home.distills()
}

#[test]
fn a_runner_with_a_changed_byte_is_not_started() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    let runner = home.runner_package()?.join("context-guard");
    let mut bytes = fs::read(&runner)?;
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    fs::write(&runner, bytes)?;
    home.goes_on_without("is not the runner that this version was published with, and is not started")
}
