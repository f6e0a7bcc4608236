//! Installed from a repository: sources, and no runner.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use context_guard_tests::contract::repository;

use crate::clean_home::CleanHome;
use crate::tarballs::said;

const SOURCE: &str = "git:git.lab.test/lab/context-guard";

/// Makes a repository of what Pi reads of this one.
fn commit_sources(home: &Path) -> Result<()> {
    let sources = home.join("sources");
    fs::create_dir_all(sources.join("host-pi/extension"))?;
    for name in ["package.json", "host-pi/package.json"] {
        fs::copy(repository().join(name), sources.join(name))?;
    }
    for file in fs::read_dir(repository().join("host-pi/extension"))? {
        let path = file?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, sources.join("host-pi/extension").join(name))?;
        }
    }
    // Pi knows no repositories of this machine, so git is told that this one is elsewhere.
    let here = format!("[url \"file://{}\"]\n", sources.display());
    fs::write(
        home.join(".gitconfig"),
        format!("{here}insteadOf = https://git.lab.test/lab/context-guard\n"),
    )?;
    let git = |arguments: &[&str]| {
        let named = ["-c", "user.name=lab", "-c", "user.email=lab@lab.test"];
        said(Command::new("git").env("HOME", home).arg("-C").arg(&sources).args(named).args(arguments))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "."])?;
    git(&["commit", "--quiet", "--message", "sources"]).map(drop)
}

#[test]
fn from_git_come_sources_and_the_way_to_a_runner() -> Result<()> {
    let home = CleanHome::with_empty_registry()?;
    commit_sources(home.lab.home())?;
    home.command(&["install", SOURCE])?;
    home.goes_on_without(
        "context-guard has sources and no runner. `pi install npm:pi-context-guard-wasi` brings both",
    )
}

#[test]
fn beside_the_package_the_sources_stand_back() -> Result<()> {
    let home = CleanHome::new()?;
    commit_sources(home.lab.home())?;
    home.install()?;
    home.command(&["install", SOURCE])?;
    let mut pi = home.lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    pi.until_notified(
        0,
        "another context guard is installed, npm:pi-context-guard-wasi, and this one stands back",
    )?;
    assert_eq!(pi.warnings(0).len(), 1);
    assert_eq!(pi.close()?, Some(0));
    home.lab.until_left()
}
