//! Installed from a registry under all kinds of npm settings, and removed.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};

use crate::clean_home::{CleanHome, SOURCE};

fn packages(home: &CleanHome) -> Result<Value> {
    let text = fs::read_to_string(home.lab.agent("settings.json"))?;
    Ok(serde_json::from_str::<Value>(&text)?["packages"].take())
}

#[test]
fn installed_from_a_registry_it_distills() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    assert_eq!(packages(&home)?, json!([SOURCE]));
    assert!(home.command(&["list"])?.stdout.contains(SOURCE));
    home.distills()
}

#[test]
fn removed_it_is_gone_and_its_sessions_go_on() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    home.distills()?;
    home.command(&["remove", SOURCE])?;
    assert!(!home.module("pi-context-guard-wasi").exists());
    assert!(!home.runner_package()?.exists(), "the runner is gone with it");
    let mut pi = home.lab.rpc(&["-c"])?;
    pi.prompt("Where is the backoff set?")?;
    assert_eq!((pi.statuses(0), pi.warnings(0)), (vec![], vec![]));
    assert_eq!(pi.close()?, Some(0));
    let last = home.lab.requests()?.pop().unwrap_or_default().to_string();
    assert!(last.contains("[context-guard] Distilled"), "what was distilled stays so");
    Ok(())
}

#[test]
fn without_a_network_it_starts_all_the_same() -> Result<()> {
    let home = CleanHome::new()?;
    home.install()?;
    let asked = home.registry.requests();
    home.distills()?;
    assert_eq!(home.registry.requests(), asked, "nobody asked the registry");
    let CleanHome { lab, registry } = home;
    drop(registry);
    let mut pi = lab.rpc(&["-c"])?;
    pi.until_saved(0)?;
    assert_eq!(pi.warnings(0), Vec::<String>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn it_needs_no_install_scripts() -> Result<()> {
    let home = CleanHome::new()?;
    home.npm_settings("ignore-scripts=true\n")?;
    home.install()?;
    home.distills()
}

#[test]
fn with_optional_packages_omitted_there_is_no_runner_until_that_is_mended() -> Result<()> {
    let home = CleanHome::new()?;
    home.npm_settings("omit=optional\n")?;
    home.install()?;
    assert!(!home.runner_package()?.exists());
    home.goes_on_without("npm has left out the runner, pi-context-guard-wasi-")?;
    home.npm_settings("")?;
    home.install_again()?;
    home.distills()
}

#[test]
fn a_registry_without_this_machines_runner_is_like_omitting_it() -> Result<()> {
    let home = CleanHome::with_empty_registry()?;
    for tarball in &crate::tarballs::tarballs()?.current {
        if !tarball.to_string_lossy().contains(&crate::tarballs::machine()?) {
            home.registry.publish(tarball)?;
        }
    }
    home.install()?;
    home.goes_on_without("npm has left out the runner")
}
