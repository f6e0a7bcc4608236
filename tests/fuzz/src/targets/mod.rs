//! One module for each target.

pub(crate) mod answers;
pub(crate) mod cuts;
pub(crate) mod deltas;
pub(crate) mod images;
pub(crate) mod patterns;
pub(crate) mod rpc;
pub(crate) mod secrets;
pub(crate) mod sessions;
pub(crate) mod settings;
