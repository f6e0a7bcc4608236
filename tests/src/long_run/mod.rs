//! A long run of the real Pi: a scripted model mends ten bugs of a small project, and runs its suite after every fix.
//!
//! The project is `tests/fixtures/orderbook`. The model's replies are fixed; every output of a tool is made by really
//! running it.

mod bugs;
mod figures;
mod script;
mod table;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::contract::repository;
use crate::lab::{Charge, Installed, Lab, Plan, Provider, Session, Thinking};
pub use figures::{Checkpoint, Figures, Request};
pub use table::{Row, cuts, requests, table};

/// How many bugs a run mends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// All ten: more than 40 requests.
    Long,
    /// Two: at most 14 requests.
    Short,
}

impl Length {
    fn bugs(self) -> usize {
        match self {
            Self::Long => bugs::BUGS.len(),
            Self::Short => 2,
        }
    }
}

/// Who judges what the run no longer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// Nobody: Pi works without the guard.
    Off,
    /// The scripted classifier with the rule of `tests/lab/suite-judge.mjs`, which stands for a good one.
    Rule,
    /// The guest's own heuristic, which asks nobody.
    Builtin,
}

/// What a run left behind.
pub struct Finished {
    /// What each request was charged, oldest first.
    pub charges: Vec<Charge>,
    /// Pi's session.
    pub session: Session,
}

/// Lets Pi work through a run, its model behind a provider with a prompt cache.
///
/// # Errors
///
/// Fails when something is not installed, or when a step did not go as the later ones presume.
pub fn run(provider: Provider, length: Length, judge: Judge) -> Result<Finished> {
    let thinking = provider.thinking != Thinking::Off;
    let lab = Lab::new(Plan {
        turns: json!(script::turns(length.bugs(), thinking)),
        provider: Some(provider),
        judge: (judge == Judge::Rule).then_some("suite-judge.mjs"),
        granted: true,
        settings: if judge == Judge::Builtin { json!({ "model": "builtin/lexical" }) } else { Value::Null },
        unguarded: judge == Judge::Off,
        silent: true,
        environment: vec![("PATH", path_with_node()?)],
        ..Plan::default()
    })?;
    copy(&repository().join("tests/fixtures/orderbook"), &lab.project())?;
    let run = lab.print(&[&script::prompt(length.bugs())])?;
    ensure!(run.code == Some(0), "Pi failed: {run:?}");
    let session = lab.session()?;
    check(&session, length)?;
    Ok(Finished { charges: lab.charges()?, session })
}

/// The machine's programs, with the Node that Pi uses before any other.
fn path_with_node() -> Result<OsString> {
    let node = Installed::scripts()?.node;
    let first = node.parent().context("Node is in a folder")?.to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths([first].into_iter().chain(std::env::split_paths(&path)))?)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Makes sure that every step went as the later ones presume: no read or edit failed, and each run of the suite had
/// fewer failures than the one before.
fn check(session: &Session, length: Length) -> Result<()> {
    let failed = |result: &&Value| result["message"]["isError"] == true;
    for tool in ["read", "edit"] {
        let failures: Vec<&Value> = session.tool_results(tool).into_iter().filter(failed).collect();
        ensure!(failures.is_empty(), "calls of {tool} failed: {failures:#?}");
    }
    let failures: Vec<u32> = session
        .tool_results("bash")
        .into_iter()
        .filter_map(|result| failing(result["message"]["content"][0]["text"].as_str()?))
        .collect();
    ensure!(failures.len() == length.bugs() + 1, "the suite ran {} times", failures.len());
    ensure!(failures.is_sorted_by(|a, b| a > b), "each fix is to mend something: {failures:?}");
    ensure!(length == Length::Short || failures.last() == Some(&0), "tests fail at the end: {failures:?}");
    Ok(())
}

/// How many tests fail by a run of the suite; none for any other output.
fn failing(output: &str) -> Option<u32> {
    output.lines().find_map(|line| line.strip_prefix("ℹ fail ")?.parse().ok())
}
