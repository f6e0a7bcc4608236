//! The session that `make demo` replays: the real Pi at work on this repository, its model scripted.

mod answers;
mod neutral;
mod script;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::contract::repository;
use crate::lab::{Lab, Plan};
use neutral::Places;

/// Longest time for the whole session: it compiles the guest's tests twice.
const PATIENCE: Duration = Duration::from_secs(900);

/// Returns the path of the recording.
pub fn fixture() -> PathBuf {
    repository().join("tests/fixtures/demo.jsonl")
}

/// Lets Pi work through the script in a copy of the last commit, and returns its session file with neutral paths.
///
/// # Errors
///
/// Fails when something is not installed, when a step of the script did not go as its later steps presume, or when
/// something of this machine is left in the session.
pub fn record() -> Result<String> {
    let target = repository().join("target/demo");
    let lab = Lab::new(Plan {
        turns: script::turns(),
        unguarded: true,
        environment: toolchain(&target)?,
        patience: Some(PATIENCE),
        ..Plan::default()
    })?;
    let project = lab.project();
    copy_last_commit(&project)?;
    // What cargo says of compiling dependencies is no part of the story.
    run(Command::new("cargo")
        .args(script::TEST)
        .arg("--no-run")
        .current_dir(&project)
        .envs(toolchain(&target)?))?;

    let run = lab.print(&script::PROMPTS)?;
    ensure!(run.code == Some(0), "Pi failed: {run:?}");
    let session = lab.session()?;
    script::check(&session)?;
    neutral::session(&session, &Places { project, target })
}

/// What cargo needs to work offline with the machine's toolchain, and to compile quickly.
fn toolchain(target: &Path) -> Result<Vec<(&'static str, OsString)>> {
    let home = std::env::home_dir().context("there is no home directory, so no cargo")?;
    let folder = |name, default| std::env::var_os(name).unwrap_or_else(|| home.join(default).into());
    Ok(vec![
        ("CARGO_HOME", folder("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", folder("RUSTUP_HOME", ".rustup")),
        ("CARGO_TARGET_DIR", target.into()),
        ("CARGO_NET_OFFLINE", "true".into()),
    ])
}

fn copy_last_commit(project: &Path) -> Result<()> {
    let archive = project.join("commit.tar");
    run(Command::new("git")
        .args(["archive", "--output"])
        .arg(&archive)
        .arg("HEAD")
        .current_dir(repository()))?;
    run(Command::new("tar").arg("-xf").arg(&archive).current_dir(project))?;
    Ok(std::fs::remove_file(archive)?)
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
