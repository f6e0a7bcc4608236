//! The contract as Rust, generated from `wit/guard.wit` as the guard's own is.

#[expect(missing_docs, reason = "generated; the meaning stands in wit/guard.wit")]
mod generated {
    wit_bindgen::generate!({
        path: "../../../wit",
        world: "guard",
        generate_all,
        pub_export_macro: true,
        default_bindings_module: "hostile_guests::contract",
    });
}

pub use generated::exports::context_guard::guard::{classifier, sessions, types};
pub use generated::{export, exports, wasi};
