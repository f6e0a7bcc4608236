//! Finds out how the guest's standard library can be had on this machine.

use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the guest is compiled for.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Names a compiler to try first.
const OVERRIDE: &str = "CONTEXT_GUARD_WASM_RUSTC";
/// Where distributions put theirs.
const DISTRIBUTION: &str = "/usr/bin/rustc";

/// A compiler for the guest, with the cargo that belongs to it.
pub(crate) struct Toolchain {
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: PathBuf,
    pub(crate) std: Std,
}

/// Where the guest's standard library comes from.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Std {
    /// The toolchain has it compiled.
    Installed,
    /// The toolchain has its sources: cargo compiles them too, which a stable one must be told to allow.
    Sources,
}

impl Toolchain {
    /// Prefers a compiled library to sources, and among equals the compiler named by the user, then the one that
    /// runs this build, then the distribution's.
    pub(crate) fn find() -> Result<Self> {
        println!("cargo::rerun-if-env-changed={OVERRIDE}");
        let outer = (
            PathBuf::from(env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"))),
            PathBuf::from(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"))),
        );
        let beside = |rustc: PathBuf| {
            let cargo = rustc.with_file_name("cargo");
            // Any cargo of about that age can drive another rustc.
            let cargo = if cargo.is_file() { cargo } else { outer.1.clone() };
            (rustc, cargo)
        };
        let named = env::var_os(OVERRIDE).filter(|path| !path.is_empty()).map(|path| beside(path.into()));
        let mut candidates: Vec<_> = named.into_iter().collect();
        candidates.push(outer.clone());
        candidates.push(beside(DISTRIBUTION.into()));
        candidates.retain(|(rustc, _)| is_recent(rustc));

        for std in [Std::Installed, Std::Sources] {
            for (rustc, cargo) in &candidates {
                if has(rustc, std) {
                    return Ok(Self { rustc: rustc.clone(), cargo: cargo.clone(), std });
                }
            }
        }
        bail!(
            "no rustc {version} or later on this machine can compile for {WASM}. Any one of these mends it:\n  \
             make setup\n  \
             rustup target add {WASM}\n  \
             apt-get install rustc-web cargo-web rust-web-src rust-web-llvm lld-22   (Debian, as root)\n\
             A compiler elsewhere, with that target's library or with its sources, is named by {OVERRIDE}=/path/to/rustc",
            version = env!("CARGO_PKG_RUST_VERSION"),
        )
    }
}

fn has(rustc: &Path, std: Std) -> bool {
    match std {
        Std::Installed => print(rustc, &["--print", "target-libdir", "--target", WASM])
            .and_then(|dir| fs::read_dir(dir).ok())
            .is_some_and(|entries| {
                entries.flatten().any(|entry| is_std(&entry.file_name().to_string_lossy()))
            }),
        Std::Sources => print(rustc, &["--print", "sysroot"])
            .is_some_and(|root| Path::new(&root).join("lib/rustlib/src/rust/library/Cargo.lock").is_file()),
    }
}

fn is_std(file: &str) -> bool {
    file.starts_with("libstd-") && file.ends_with(".rlib")
}

/// Whether the compiler exists and knows the workspace's edition and language.
fn is_recent(rustc: &Path) -> bool {
    let version = print(rustc, &["--version"]).unwrap_or_default();
    let found = version.split_whitespace().nth(1).unwrap_or_default();
    numbers(found) >= numbers(env!("CARGO_PKG_RUST_VERSION"))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|number| number.parse().ok()).collect()
}

fn print(rustc: &Path, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(rustc).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
