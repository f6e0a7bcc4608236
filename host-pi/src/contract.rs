//! The contract as Rust: types and calls generated from `wit/guard.wit`, and nothing else.
//!
//! The types read and write themselves as the protocol's JSON, so that one definition serves both borders.

#[expect(missing_docs, reason = "generated; the meaning stands in wit/guard.wit")]
mod generated {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "guard",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
        },
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
        require_store_data_send: true,
    });
}

pub use generated::exports::context_guard::guard::{classifier, sessions, types};
pub use generated::{Guard, GuardPre};

/// Name and version of the WIT package, as `hello` tells it.
pub const CONTRACT: &str = "context-guard:guard@0.1.0";
