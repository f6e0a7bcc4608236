//! A home with nothing in it but npm's settings, and a registry that has this repository's packages.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use context_guard_tests::lab::{Lab, Plan, Printed, Registry, Rpc};
use serde_json::{Value, json};

use crate::search::{self, NEEDED, NOISE, text_of};
use crate::tarballs::{machine, tarballs};

/// What is installed, as Pi is told.
pub(crate) const SOURCE: &str = "npm:pi-context-guard-wasi";

pub(crate) struct CleanHome {
    pub(crate) lab: Lab,
    pub(crate) registry: Registry,
}

impl CleanHome {
    /// A home in which nothing is installed; the registry has the current version.
    pub(crate) fn new() -> Result<Self> {
        let home = Self::with_empty_registry()?;
        home.publish_current()?;
        Ok(home)
    }

    pub(crate) fn with_empty_registry() -> Result<Self> {
        Self::with_plan(plan())
    }

    pub(crate) fn with_plan(plan: Plan) -> Result<Self> {
        let home = Self { lab: search::lab(plan)?, registry: Registry::start()? };
        home.npm_settings("")?;
        Ok(home)
    }

    pub(crate) fn publish_current(&self) -> Result<()> {
        tarballs()?.current.iter().try_for_each(|tarball| self.registry.publish(tarball))
    }

    /// Writes npm's settings anew: the registry, a cache of this home, and what is given.
    pub(crate) fn npm_settings(&self, more: &str) -> Result<()> {
        let cache = self.lab.home().join("npm-cache");
        let text = format!("{}cache={}\n{more}", self.registry.npmrc(), cache.display());
        fs::write(self.lab.home().join(".npmrc"), text).context("npm's settings cannot be written")
    }

    /// Runs one of Pi's commands, which must go well.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Printed> {
        let ran = self.lab.command(arguments)?;
        ensure!(ran.code == Some(0), "pi {arguments:?} failed: {ran:?}");
        Ok(ran)
    }

    pub(crate) fn install(&self) -> Result<Printed> {
        self.command(&["install", SOURCE])
    }

    /// Does what the user is told where an installation is damaged.
    pub(crate) fn install_again(&self) -> Result<()> {
        self.command(&["remove", SOURCE])?;
        self.install().map(drop)
    }

    /// Lets Pi show at its start what is new, which the laboratory's own settings forbid; in a line, which fits any screen.
    pub(crate) fn show_news(&self) -> Result<()> {
        let path = self.lab.agent("settings.json");
        let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path)?)?;
        settings["quietStartup"] = json!(false);
        settings["collapseChangelog"] = json!(true);
        Ok(fs::write(path, settings.to_string())?)
    }

    /// A file of what npm installed.
    pub(crate) fn module(&self, name: &str) -> PathBuf {
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
        let mut later = self.lab.requests()?;
        ensure!(later.len() > requests, "the model was asked");
        let seen = later.pop().as_ref().and_then(first_result).context("the search is in the context")?;
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
        let seen = first_result(&last).context("the search is in the context")?;
        ensure!(seen.contains(NOISE) && !seen.contains("[context-guard]"), "{seen}");
        let session = self.lab.session()?;
        let recorded = text_of(&session.tool_results("bash")[0]["message"]["content"]);
        ensure!(recorded == seen, "nothing was changed");
        ensure!(self.lab.runners()?.is_empty(), "no runner was started");
        Ok(())
    }
}

/// The search, as often as a test may run it.
pub(crate) fn plan() -> Plan {
    let once = search::plan(&[json!({ "text": "Yes." })]).turns;
    let turns: Vec<_> = (0..4).flat_map(|_| once.as_array().into_iter().flatten().cloned()).collect();
    Plan { turns: json!(turns), installed: true, ..search::plan(&[]) }
}

/// The text of the first tool result in a request to the model, whose id tells which turn of the model asked for it.
fn first_result(request: &Value) -> Option<String> {
    let blocks =
        request["messages"].as_array()?.iter().flat_map(|message| message["content"].as_array()).flatten();
    blocks.into_iter().find(|block| block["type"] == "tool_result").map(|block| text_of(&block["content"]))
}
