//! A home with nothing in it but npm's settings, and a registry that has this repository's packages.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use context_guard_tests::lab::{Lab, Plan, Printed, Registry, Rpc};
use serde_json::json;

use crate::search::{self, NEEDED, NOISE, result_in, text_of};
use crate::tarballs::{machine, tarballs};

/// What is installed, as Pi is told.
const SOURCE: &str = "npm:pi-context-guard-wasi";

pub(crate) struct CleanHome {
    lab: Lab,
    registry: Registry,
}

impl CleanHome {
    /// A home in which nothing is installed. Npm has the registry and a cache of this home.
    pub(crate) fn new() -> Result<Self> {
        let home = Self { lab: search::lab(plan())?, registry: Registry::start()? };
        let settings =
            format!("{}cache={}\n", home.registry.npmrc(), home.lab.home().join("npm-cache").display());
        fs::write(home.lab.home().join(".npmrc"), settings).context("npm's settings cannot be written")?;
        for tarball in tarballs()? {
            home.registry.publish(tarball)?;
        }
        Ok(home)
    }

    /// Runs one of Pi's commands, which must go well.
    fn command(&self, arguments: &[&str]) -> Result<Printed> {
        let ran = self.lab.command(arguments)?;
        ensure!(ran.code == Some(0), "pi {arguments:?} failed: {ran:?}");
        Ok(ran)
    }

    pub(crate) fn install(&self) -> Result<Printed> {
        self.command(&["install", SOURCE])
    }

    /// A file of what npm installed.
    fn module(&self, name: &str) -> PathBuf {
        self.lab.agent("npm/node_modules").join(name)
    }

    /// The folder of the package that has the runner.
    pub(crate) fn runner_package(&self) -> Result<PathBuf> {
        Ok(self.module(&format!("pi-context-guard-wasi-{}", machine()?)))
    }

    /// Runs the search in Pi as it is installed; it must have been distilled, and nobody may have been warned.
    pub(crate) fn distills(&self) -> Result<()> {
        let requests = self.lab.requests()?.len();
        let mut pi = self.lab.rpc(&[])?;
        pi.until_status(0, "🛡 0 saved")?;
        pi.prompt("Where is the backoff set?")?;
        pi.until_saved(0)?;
        pi.prompt("Are you sure?")?;
        let told = pi.warnings(0);
        ensure!(told.is_empty() && pi.extension_errors().is_empty(), "{told:?} {:?}", pi.extension_errors());
        ensure!(pi.close()? == Some(0), "Pi leaves as ever");
        self.lab.until_left()?;
        let later = self.lab.requests()?;
        let seen = later
            .get(requests..)
            .and_then(|new| result_in(new.last()?))
            .context("the search is in the context")?;
        ensure!(seen.starts_with("[context-guard] Distilled") && seen.contains(NEEDED), "{seen}");
        self.lab.until_left()
    }

    /// Runs the search in Pi, whose guard cannot work: Pi goes on, and the user is told this and nothing else.
    pub(crate) fn goes_on_without(&self, notice: &str) -> Result<()> {
        let mut pi = self.lab.rpc(&[])?;
        let (level, told) = pi.until_notified(0, notice)?;
        ensure!(level == "warning", "{told}");
        self.goes_on(&mut pi)?;
        let told = pi.warnings(0);
        ensure!(told.len() == 1 && told[0].lines().count() == 1, "one sentence: {told:#?}");
        ensure!(pi.extension_errors().is_empty(), "{:?}", pi.extension_errors());
        ensure!(pi.close()? == Some(0), "Pi leaves as ever");
        self.lab.until_left()
    }

    fn goes_on(&self, pi: &mut Rpc) -> Result<()> {
        pi.prompt("Where is the backoff set?")?;
        pi.prompt("Are you sure?")?;
        let last = self.lab.requests()?.pop().context("the model was asked")?;
        let seen = result_in(&last).context("the search is in the context")?;
        ensure!(seen.contains(NOISE) && !seen.contains("[context-guard]"), "{seen}");
        let session = self.lab.session()?;
        let recorded = text_of(&session.tool_results("bash")[0]["message"]["content"]);
        ensure!(recorded == seen, "nothing was changed");
        ensure!(self.lab.runners()?.is_empty(), "no runner was started");
        Ok(())
    }
}

/// The search, twice over.
fn plan() -> Plan {
    let once = search::plan(&[json!({ "text": "Yes." })]).turns;
    let turns: Vec<_> = (0..4).flat_map(|_| once.as_array().into_iter().flatten().cloned()).collect();
    Plan { turns: json!(turns), installed: true, ..search::plan(&[]) }
}
