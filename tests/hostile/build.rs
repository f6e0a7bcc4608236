//! Compiles every guest in `guests/examples/` as the runner's build compiles its own, and writes the list of them with a
//! macro that asks for a test of each.

#[path = "../../host-pi/src/engine/config.rs"]
#[expect(unreachable_pub, reason = "public in the runner")]
mod config;
#[path = "../../host-pi/build/guest.rs"]
mod guest;
#[path = "../../host-pi/build/toolchain.rs"]
mod toolchain;

use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use wit_component::ComponentEncoder;

fn main() -> Result<()> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = package.ancestors().nth(2).context("the package lies two levels below its workspace")?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for path in [
        "tests/hostile/guests",
        "tests/hostile/build.rs",
        "host-pi/build",
        "host-pi/src/engine/config.rs",
        "wit",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(path).display());
    }

    // <target>/<profile>/build/<package>-<hash>/out; beside the guard's own, so that its libraries serve here as well.
    let target =
        out.ancestors().nth(4).context("cargo's OUT_DIR lies four levels below its target directory")?;
    let modules =
        guest::build(workspace, &target.join("guest"), &["--package", "hostile-guests", "--examples"])?;
    let mut config = config::config();
    config.target(&env::var("TARGET")?).map_err(anyhow::Error::from)?;
    let engine = wasmtime::Engine::new(&config)?;

    let mut every = String::new();
    for name in names(&package.join("guests/examples"))? {
        let code = compile(&engine, &modules.join("examples").join(format!("{name}.wasm")))
            .with_context(|| format!("compiling the guest {name}"))?;
        let path = out.join(format!("{name}.cwasm"));
        fs::write(&path, code)?;
        writeln!(every, "        $test!({name}, include_bytes!({path:?}));")?;
    }
    let list = format!(
        "/// Calls a macro with the name and the compiled code of every hostile guest.\n\
         #[macro_export]\nmacro_rules! every_guest {{\n    ($test:ident) => {{\n{every}    }};\n}}\n"
    );
    fs::write(out.join("every_guest.rs"), list)?;
    Ok(())
}

/// The guests by the names of their files, in order.
fn names(examples: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(examples)? {
        let path = file?.path();
        names.push(path.file_stem().context("a file has a name")?.to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

fn compile(engine: &wasmtime::Engine, core: &Path) -> Result<Vec<u8>> {
    let component = ComponentEncoder::default().validate(true).module(&fs::read(core)?)?.encode()?;
    Ok(engine.precompile_component(&component)?)
}
