//! The session as the guard sees it: a mirror of the host's branch and context, and what can be read from it.

#[cfg(test)]
pub(crate) mod fixtures;
mod history;
mod message;
mod mirror;
mod ownership;
mod projection;
mod record;
mod run;

pub use history::{Exchange, History};
pub use message::{Kind, Shown, text_of, text_only};
pub use mirror::Mirror;
pub use projection::{Projected, Projection};
pub use record::{ItemKind, ItemOutcome, ItemResult, Phase, Record};
pub use run::{Call, Run, prompts_of, prompts_on_branch, start_on_branch};
