//! The hosts, built once for all tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, ensure};
use context_guard_tests::contract::repository;
use context_guard_tests::lab::Installed;

/// A host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Host {
    /// The component, transpiled by jco.
    Node,
    /// The component, in wasmtime.
    Python,
    /// The runner, by its protocol.
    JsonRpc,
}

impl Host {
    pub(crate) const ALL: [Self; 3] = [Self::Node, Self::Python, Self::JsonRpc];

    /// The host's command line up to what it is to do, without anything in its environment that tells where to ask.
    pub(crate) fn command(self) -> Result<Command> {
        let built = built()?;
        let hosts = repository().join("tests/hosts");
        let mut command = match self {
            Self::Node => {
                let mut node = Command::new(&built.node);
                node.arg(repository().join("target/hosts/node/host/host.js"));
                node
            }
            Self::Python => {
                let mut python = Command::new(&built.python);
                python.arg(hosts.join("python/host.py")).arg(&built.component);
                python
            }
            Self::JsonRpc => {
                let mut python = Command::new(&built.python);
                python.arg(hosts.join("python/rpc_host.py")).arg(&built.runner);
                python
            }
        };
        for variable in ["GUARD_SERVICE", "GUARD_ALLOW", "GUARD_KEY", "CONFORMANCE_ORIGIN"] {
            command.env_remove(variable);
        }
        // Nothing is written beside the sources, and Python speaks UTF-8 in every locale.
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUTF8", "1");
        Ok(command)
    }
}

/// Where the parts of the hosts are.
pub(crate) struct Built {
    pub(crate) node: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) runner: PathBuf,
    pub(crate) component: PathBuf,
}

/// Returns what was built when a test first asked.
pub(crate) fn built() -> Result<&'static Built> {
    static BUILT: LazyLock<Result<Built>> = LazyLock::new(|| {
        let Installed { node, runner, .. } = Installed::find(None)?;
        let home = repository().join("target/hosts");
        let python = home.join("python/bin/python");
        for path in [&python, &home.join("node/node_modules/@bytecodealliance/jco")] {
            ensure!(path.exists(), "{} is missing; run `sh tests/hosts/setup.sh`", path.display());
        }
        said(Command::new("sh").arg(repository().join("tests/hosts/node/build.sh")).arg(&runner))?;
        let component = Path::new(env!("CARGO_TARGET_TMPDIR")).join("context-guard.wasm");
        said(Command::new(&runner).args(["inspect", "--wasm"]).arg(&component))?;
        Ok(Built { node, python, runner, component })
    });
    BUILT.as_ref().map_err(|error| anyhow!("the hosts cannot be built: {error:#}"))
}

/// Runs a command and returns what it printed; both its outputs, where it fails.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let Output { status, stdout, stderr } =
        command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    ensure!(status.success() && stderr.is_empty(), "{command:?} failed\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}
