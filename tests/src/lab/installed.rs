//! What the tests need on the machine. Nothing is skipped for want of it.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::contract::repository;

/// Where the programs of a test are.
#[derive(Debug)]
pub struct Installed {
    /// Node, recent enough for Pi.
    pub node: PathBuf,
    /// Pi's command-line entry.
    pub pi: PathBuf,
    /// TypeScript's compiler.
    pub tsc: PathBuf,
    /// The runner.
    pub runner: PathBuf,
}

impl Installed {
    /// Finds everything; `runner` takes the place of the release build.
    ///
    /// # Errors
    ///
    /// Fails with the command that brings what is missing.
    pub fn find(runner: Option<&Path>) -> Result<Self> {
        let scripts = Self::scripts()?;
        let runner = match runner {
            Some(path) => path.to_owned(),
            None => {
                let override_path = std::env::var_os("CONTEXT_GUARD_BINARY").map(PathBuf::from);
                let path = override_path.unwrap_or_else(|| repository().join("target/release/context-guard"));
                if !path.is_file() {
                    bail!("{} is missing; run `make build`", path.display());
                }
                path
            }
        };
        Ok(Self { runner, ..scripts })
    }

    /// Finds what the extension's own tests need, which run without a runner.
    ///
    /// # Errors
    ///
    /// Fails with the command that brings what is missing.
    pub fn scripts() -> Result<Self> {
        let home = repository().join("target/pi-host");
        let modules = home.join("node_modules");
        let installed = Self {
            node: home.join("bin/node"),
            pi: modules.join("@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
            tsc: modules.join("typescript/bin/tsc"),
            runner: PathBuf::new(),
        };
        for path in [&installed.node, &installed.pi, &installed.tsc] {
            if !path.is_file() {
                bail!("{} is missing; run `tests/setup.sh`", path.display());
            }
        }
        Ok(installed)
    }
}
