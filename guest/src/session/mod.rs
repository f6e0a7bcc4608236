//! The session as the guard sees it: a mirror of the host's branch and context, and what can be read from it.

#[cfg(test)]
pub(crate) mod fixtures;
mod history;
mod message;
mod mirror;
mod projection;
mod run;

pub use history::{Exchange, History};
pub use message::{Kind, Shown, text_of, text_only};
pub use mirror::Mirror;
pub use projection::Projected;
pub use run::{Call, Run};
