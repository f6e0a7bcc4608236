//! The guest that the build embedded, packed.

use anyhow::Context;

mod facts {
    include!(concat!(env!("OUT_DIR"), "/guest.rs"));
}

const WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm.lz4"));
const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm.lz4"));

/// Size of the component in bytes.
pub const WASM_BYTES: usize = facts::WASM_BYTES;

/// Size of the code that the component was compiled to, in bytes.
pub const CODE_BYTES: usize = facts::CODE_BYTES;

/// Unpacks the component itself, for other hosts.
///
/// # Errors
///
/// When this program was damaged.
pub fn wasm() -> anyhow::Result<Vec<u8>> {
    unpack(WASM)
}

/// Unpacks the component compiled for this machine's kind, as [`wasmtime::component::Component::deserialize`] takes it.
pub(crate) fn code() -> anyhow::Result<Vec<u8>> {
    unpack(CODE)
}

fn unpack(packed: &[u8]) -> anyhow::Result<Vec<u8>> {
    lz4_flex::decompress_size_prepended(packed)
        .context("the guest in this program is damaged; install the program again")
}

/// SHA-256 of [`wasm`], in lower-case hexadecimal digits.
pub const SHA256: &str = facts::SHA256;

/// Interfaces that the component asks its host for; this is its whole request for permission.
pub const IMPORTS: &[&str] = facts::IMPORTS;

/// Interfaces that the component offers.
pub const EXPORTS: &[&str] = facts::EXPORTS;

/// Version of wasmtime that compiled the component and runs it.
pub const WASMTIME: &str = facts::WASMTIME;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_out_whole() {
        let (wasm, code) = (wasm().unwrap(), code().unwrap());
        assert_eq!((wasm.len(), code.len()), (WASM_BYTES, CODE_BYTES));
        assert!(wasm.starts_with(b"\0asm") && code.starts_with(b"\x7fELF"), "neither is what it is called");
    }

    #[test]
    fn the_component_asks_for_a_clock_and_http_and_nothing_else() {
        insta::assert_snapshot!(IMPORTS.join("\n"));
    }

    #[test]
    fn the_component_offers_the_contract() {
        insta::assert_snapshot!(EXPORTS.join("\n"));
    }
}
