//! What is in the tarballs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use context_guard_tests::contract::repository;
use context_guard_tests::lab::{Installed, StandIn};
use serde_json::{Value, json};

use crate::tarballs::{CURRENT, machine, said, tarballs};

const MAIN: &str = "pi-context-guard-wasi";

fn current(name: &str) -> Result<&'static PathBuf> {
    let file = format!("{name}-{CURRENT}.tgz");
    let found = tarballs()?.current.iter().find(|path| path.ends_with(&file));
    found.with_context(|| format!("no {file}"))
}

fn names(package: &str) -> Result<BTreeSet<String>> {
    let listed = said(Command::new("tar").arg("-tzf").arg(current(package)?))?;
    Ok(listed.lines().map(|line| line.trim_start_matches("package/").to_owned()).collect())
}

fn text(package: &str, name: &str) -> Result<String> {
    said(Command::new("tar").arg("-xzOf").arg(current(package)?).arg(format!("package/{name}")))
}

fn manifest(package: &str) -> Result<Value> {
    Ok(serde_json::from_str(&text(package, "package.json")?)?)
}

#[test]
fn the_main_package_has_the_extension_the_component_and_the_digests() -> Result<()> {
    let mut expected: BTreeSet<String> =
        ["README.md", "LICENSE", "THIRD-PARTY-NOTICES.txt", "CHANGELOG.md", "context-guard.wasm"]
            .map(str::to_owned)
            .into();
    expected.extend(["package.json", "digests.json"].map(str::to_owned));
    for file in fs::read_dir(repository().join("host-pi/extension"))? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".ts") {
            expected.insert(format!("extension/{name}"));
        }
    }
    assert_eq!(names(MAIN)?, expected);
    assert!(
        text(MAIN, "CHANGELOG.md")?.contains(&format!("\n## [{CURRENT}]")),
        "Pi finds the version's section"
    );
    Ok(())
}

#[test]
fn the_main_package_pins_the_runners_and_runs_nothing_when_installed() -> Result<()> {
    let manifest = manifest(MAIN)?;
    let mut pinned = json!({});
    pinned[format!("{MAIN}-{}", machine()?)] = json!(CURRENT);
    assert_eq!(manifest["optionalDependencies"], pinned, "exact versions");
    for none in ["scripts", "dependencies", "devDependencies", "private"] {
        assert_eq!(manifest[none], Value::Null, "{none}");
    }
    assert_eq!(manifest["peerDependencies"], json!({ "@earendil-works/pi-coding-agent": "*" }));
    Ok(())
}

#[test]
fn a_runners_package_has_the_runner_for_its_machine_alone() -> Result<()> {
    let package = format!("{MAIN}-{}", machine()?);
    let expected = ["package.json", "README.md", "LICENSE", "THIRD-PARTY-NOTICES.txt", "context-guard"]
        .map(str::to_owned);
    assert_eq!(names(&package)?, expected.into());
    let manifest = manifest(&package)?;
    let own = machine()?;
    let (os, cpu) = own.split_once('-').context("two words")?;
    assert_eq!((&manifest["os"], &manifest["cpu"]), (&json!([os]), &json!([cpu])));
    assert_eq!(manifest["scripts"], Value::Null);
    Ok(())
}

#[test]
fn there_is_one_version() -> Result<()> {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(repository().join("host-pi/package.json"))?)?;
    assert_eq!(manifest["version"], CURRENT, "`npm pkg set version={CURRENT}` in host-pi makes them agree");
    Ok(())
}

#[test]
fn a_binary_for_another_machine_is_not_packed() -> Result<()> {
    let other =
        StandIn::file(b"\xcf\xfa\xed\xfe\x0c\0\0\x01 the beginning of a program for macOS on arm64", true)?;
    let out = tempfile::tempdir()?;
    let script = repository().join("host-pi/packages/pack.mjs");
    let mut packing = Command::new(Installed::scripts()?.node);
    packing.arg(script).arg("--binary").arg(format!("linux-x64={}", other.path().display()));
    packing.arg("--component").arg(other.path()).arg("--out").arg(out.path());
    let error = said(&mut packing).err().context("it was packed")?.to_string();
    assert!(error.contains("was built for darwin-arm64, not for linux-x64"), "{error}");
    Ok(())
}
