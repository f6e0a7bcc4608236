//! From an older version to the current one.

use std::fs;

use anyhow::Result;
use serde_json::Value;

use crate::clean_home::{CleanHome, SOURCE};
use crate::tarballs::{CURRENT, OLDER, tarballs};

fn version(home: &CleanHome, package: &str) -> Result<String> {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(home.module(package).join("package.json"))?)?;
    Ok(manifest["version"].as_str().unwrap_or_default().to_owned())
}

fn with_older() -> Result<CleanHome> {
    let home = CleanHome::with_empty_registry()?;
    for tarball in &tarballs()?.older {
        home.registry.publish(tarball)?;
    }
    home.install()?;
    assert_eq!(version(&home, "pi-context-guard-wasi")?, OLDER);
    Ok(home)
}

#[test]
fn an_update_brings_extension_and_runner_and_keeps_what_was_saved() -> Result<()> {
    let home = with_older()?;
    home.distills()?;
    home.publish_current()?;
    home.command(&["update", SOURCE])?;
    assert_eq!(version(&home, "pi-context-guard-wasi")?, CURRENT);
    let runner = home.runner_package()?;
    let name = runner.file_name().unwrap_or_default().to_string_lossy();
    assert_eq!(version(&home, &name)?, CURRENT, "they go together");
    let mut pi = home.lab.rpc(&["-c"])?;
    pi.until_saved(0)?;
    assert_eq!(pi.close()?, Some(0));
    home.distills()
}

#[test]
fn a_version_that_was_asked_for_by_its_number_stays() -> Result<()> {
    let home = with_older()?;
    home.command(&["remove", SOURCE])?;
    home.publish_current()?;
    home.command(&["install", &format!("{SOURCE}@{OLDER}")])?;
    home.command(&["update", "--extensions"])?;
    assert_eq!(version(&home, "pi-context-guard-wasi")?, OLDER);
    home.distills()
}

#[test]
fn pi_shows_what_is_new_after_an_update() -> Result<()> {
    let home = with_older()?;
    home.show_news()?;
    let mut pi = home.lab.terminal()?;
    pi.until("🛡 0 saved")?;
    drop(pi);
    home.lab.until_left()?;
    home.publish_current()?;
    home.command(&["update", SOURCE])?;
    let mut pi = home.lab.terminal()?;
    // It has found the section of this version in the package's CHANGELOG.md.
    pi.until(&format!("Updated pi-context-guard-wasi to v{CURRENT}."))?;
    drop(pi);
    home.lab.until_left()
}
