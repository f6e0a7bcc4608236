//! The session as the guard sees it: a mirror of the host's branch and context, and what can be read from it.

#[cfg(test)]
pub(crate) mod fixtures;
mod history;
mod image;
mod message;
mod mirror;
mod ownership;
mod projection;
mod record;
mod run;
mod size;

pub use history::{Exchange, History};
pub use image::{dimensions, image_tokens};
pub use message::{Kind, Shown, text_of, text_only};
pub use mirror::Mirror;
pub(crate) use projection::recorded;
pub use projection::{Projected, Projection, Sizes};
pub use record::{Expected, ItemKind, ItemOutcome, ItemResult, Phase, Record};
pub(crate) use run::untitled;
pub use run::{Call, Run, call_of, prompts_of, prompts_on_branch, start_on_branch};
pub use size::{block_size, content_size, context_size, message_size};
