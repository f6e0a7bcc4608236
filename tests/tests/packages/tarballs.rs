//! The tarballs, made once for all tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow, ensure};
use context_guard_tests::contract::repository;
use context_guard_tests::lab::Installed;

/// The version that is packed besides the current one, to update from.
pub(crate) const OLDER: &str = "0.0.9";

/// The current version.
pub(crate) const CURRENT: &str = env!("CARGO_PKG_VERSION");

/// The packages of both versions for this machine, made from the release build.
pub(crate) struct Tarballs {
    pub(crate) older: Vec<PathBuf>,
    pub(crate) current: Vec<PathBuf>,
}

/// Returns what was packed when a test first asked.
pub(crate) fn tarballs() -> Result<&'static Tarballs> {
    static PACKED: LazyLock<Result<Tarballs>> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
        fs::create_dir_all(&root)?;
        Ok(Tarballs { older: pack(&root, OLDER)?, current: pack(&root, CURRENT)? })
    });
    PACKED.as_ref().map_err(|error| anyhow!("the packages cannot be made: {error:#}"))
}

/// The name of this machine's platform in the packages' names.
pub(crate) fn machine() -> Result<String> {
    let words = "process.stdout.write(`${process.platform}-${process.arch}`)";
    said(Command::new(Installed::scripts()?.node).args(["-e", words]))
}

fn pack(root: &Path, version: &str) -> Result<Vec<PathBuf>> {
    let Installed { node, runner, .. } = Installed::find(None)?;
    let component = root.join("context-guard.wasm");
    said(Command::new(&runner).args(["inspect", "--wasm"]).arg(&component))?;
    let out = root.join(version);
    let binary = format!("{}={}", machine()?, runner.display());
    let mut packing = Command::new(node);
    packing.arg(repository().join("host-pi/packages/pack.mjs")).args([
        "--binary",
        &binary,
        "--version",
        version,
    ]);
    said(packing.arg("--component").arg(component).arg("--out").arg(&out))?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(&out)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "tgz"));
    ensure!(files.len() == 2, "two packages were expected, and came {files:?}");
    Ok(files)
}

/// What a command wrote, if it went well.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    ensure!(output.status.success(), "{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
