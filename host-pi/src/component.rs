//! The guest that the build embedded.

mod facts {
    include!(concat!(env!("OUT_DIR"), "/guest.rs"));
}

/// The component itself, for other hosts.
pub const WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.wasm"));

/// The component compiled for this machine's kind, as [`wasmtime::component::Component::deserialize`] takes it.
pub(crate) const CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));

/// SHA-256 of [`WASM`], in lower-case hexadecimal digits.
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
    fn the_component_asks_for_a_clock_and_http_and_nothing_else() {
        insta::assert_snapshot!(IMPORTS.join("\n"));
    }

    #[test]
    fn the_component_offers_the_contract() {
        insta::assert_snapshot!(EXPORTS.join("\n"));
    }
}
