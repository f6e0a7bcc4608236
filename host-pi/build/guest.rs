//! Runs the nested cargo that compiles the guest.

use crate::toolchain::{Std, Toolchain, WASM};
use anyhow::{Context, Result, ensure};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profile that every guest is compiled with.
pub(crate) const PROFILE: &str = "wasm";

/// Variables of cargo that hold the user's way to the network and must reach the nested cargo. All others are the
/// outer build's: its flags, its target, its wrapper (clippy's too) would change the guest's bytes.
const KEPT: [&str; 6] =
    ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_"];
/// Variables without cargo's prefix that would do the same.
const DROPPED: [&str; 11] = [
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUST_TARGET_PATH",
    "TARGET",
];

/// Compiles what `selection` names (`--package … --lib`) to core modules; returns the directory that they are in.
pub(crate) fn build(workspace: &Path, target_dir: &Path, selection: &[&str]) -> Result<PathBuf> {
    let toolchain = Toolchain::find()?;
    let mut cargo = Command::new(&toolchain.cargo);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let of_cargo = text.starts_with("CARGO") && !KEPT.iter().any(|kept| text.starts_with(kept));
        if of_cargo || DROPPED.contains(&text.as_ref()) {
            cargo.env_remove(&name);
        }
    }
    cargo
        .current_dir(workspace)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(workspace));
    cargo.args(["build", "--locked", "--profile", PROFILE, "--target", WASM]).args(selection);
    cargo.arg("--target-dir").arg(target_dir);
    if toolchain.std == Std::Sources {
        cargo.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-std=std,panic_abort");
    }
    let output = cargo.output().with_context(|| format!("running {}", toolchain.cargo.display()))?;
    ensure!(
        output.status.success(),
        "compiling the guest with {} failed:\n{}",
        toolchain.rustc.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(target_dir.join(WASM).join(PROFILE))
}

/// Flags that keep this machine's paths out of the component, so that every checkout gives the same bytes.
/// Separated by a byte that no path holds.
fn flags(workspace: &Path) -> String {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=/src", workspace.display())];
    flags.extend(home.map(|home| format!("--remap-path-prefix={}=/cargo", home.display())));
    flags.join("\u{1f}")
}
