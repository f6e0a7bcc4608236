//! The contract as Rust: types and traits generated from `wit/guard.wit`, and nothing else.

#[expect(missing_docs, reason = "generated; the meaning stands in wit/guard.wit")]
mod generated {
    wit_bindgen::generate!({
        path: "../wit",
        world: "guard",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "context_guard::contract",
        additional_derives: [PartialEq, Clone, serde::Serialize, serde::Deserialize],
        additional_derives_ignore: ["stream-error"],
    });
}

pub use generated::exports::context_guard::guard::{classifier, sessions, types};
pub use generated::{export, exports, wasi};
