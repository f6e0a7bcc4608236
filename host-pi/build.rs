//! Builds the guest, wraps it into a component, compiles it for the target and writes `guest.rs`, which
//! `src/component.rs` includes. The compiler is needed only here: the shipped binary has none.

#[path = "src/engine/config.rs"]
#[expect(unreachable_pub, reason = "public in the runner")]
mod config;
#[path = "build/guest.rs"]
mod guest;
#[path = "build/toolchain.rs"]
mod toolchain;

use anyhow::{Context, Result, bail};
use lz4::block::CompressionMode;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use wit_component::{ComponentEncoder, DecodedWasm};

/// All that a guest may import. The runner's linker has nothing else either; failing here names the culprit.
const ALLOWED_IMPORTS: [&str; 3] = ["wasi:io/", "wasi:clocks/monotonic-clock@", "wasi:http/"];

fn main() -> Result<()> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = package.parent().context("the package lies in its workspace")?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let target = env::var("TARGET")?;

    for path in ["guest/src", "guest/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", workspace.join(path).display());
    }
    for path in ["build.rs", "build", "src/engine/config.rs"] {
        println!("cargo::rerun-if-changed={}", package.join(path).display());
    }

    let modules =
        guest::build(workspace, &guest_target_dir(&out)?, &["--package", "context-guard", "--lib"])?;
    let component = componentize(&modules.join("context_guard.wasm"))?;
    let (imports, exports) = interfaces(&component)?;
    if let Some(import) =
        imports.iter().find(|name| !ALLOWED_IMPORTS.iter().any(|allowed| name.starts_with(allowed)))
    {
        bail!(
            "the guest imports {import}, but a host grants only wasi:io, wasi:clocks/monotonic-clock and wasi:http"
        );
    }

    let mut config = config::config();
    // Named even when it is this machine's own: code for "native" may use instructions that a user's CPU lacks.
    config
        .target(&target)
        .map_err(anyhow::Error::from)
        .with_context(|| format!("compiling the guest for {target}"))?;
    // Nothing unwinds through the guest: wasmtime stops a host's panic before it. Only the loader of Windows insists.
    if !target.contains("windows") {
        config.native_unwind_info(false);
    }
    let compiler = wasmtime::Engine::new(&config)?;
    let code = compiler.precompile_component(&component)?;
    pack(&component, &out.join("guest.wasm.lz4"))?;
    pack(&code, &out.join("guest.cwasm.lz4"))?;
    fs::write(
        out.join("guest.rs"),
        facts(&component, code.len(), &imports, &exports, &locked_version(workspace, "wasmtime")?)?,
    )?;
    Ok(())
}

/// Writes the bytes compressed, as `src/component.rs` embeds them: a block of LZ4 behind its uncompressed size.
fn pack(bytes: &[u8], path: &Path) -> Result<()> {
    // The level costs time here alone: unpacking is as fast at any.
    let packed = lz4::block::compress(bytes, Some(CompressionMode::HIGHCOMPRESSION(12)), true)?;
    fs::write(path, packed).with_context(|| format!("writing {}", path.display()))
}

/// A directory of the nested cargo's own, since the outer cargo holds the lock of its one. It lies beside the
/// profiles, so that debug, release and clippy builds share the guest.
fn guest_target_dir(out: &Path) -> Result<PathBuf> {
    // <target>/<profile>/build/<package>-<hash>/out
    Ok(out
        .ancestors()
        .nth(4)
        .context("cargo's OUT_DIR lies four levels below its target directory")?
        .join("guest"))
}

fn componentize(core: &Path) -> Result<Vec<u8>> {
    let module = fs::read(core).with_context(|| format!("reading {}", core.display()))?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .encode()
        .context("turning the guest into a component")
}

fn interfaces(component: &[u8]) -> Result<(Vec<String>, Vec<String>)> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("the encoder made no component");
    };
    let world = &resolve.worlds[world];
    let names = |keys: Vec<_>| keys.into_iter().map(|key| resolve.name_world_key(key)).collect();
    Ok((names(world.imports.keys().collect()), names(world.exports.keys().collect())))
}

/// What the runner says about its guest, as Rust.
fn facts(
    component: &[u8],
    code_bytes: usize,
    imports: &[String],
    exports: &[String],
    wasmtime: &str,
) -> Result<String> {
    let mut sha256 = String::new();
    for byte in Sha256::digest(component) {
        write!(sha256, "{byte:02x}")?;
    }
    Ok(format!(
        "pub(super) const SHA256: &str = {sha256:?};\n\
         pub(super) const WASM_BYTES: usize = {bytes};\n\
         pub(super) const CODE_BYTES: usize = {code_bytes};\n\
         pub(super) const IMPORTS: &[&str] = &{imports:?};\n\
         pub(super) const EXPORTS: &[&str] = &{exports:?};\n\
         pub(super) const WASMTIME: &str = {wasmtime:?};\n",
        bytes = component.len(),
    ))
}

/// The version that the lock file gives for a package: wasmtime's own crate does not tell it.
fn locked_version(workspace: &Path, package: &str) -> Result<String> {
    let lock = fs::read_to_string(workspace.join("Cargo.lock"))?;
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    let version = lines.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.with_context(|| format!("Cargo.lock has no {package}"))?.to_owned())
}
