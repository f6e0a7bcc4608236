//! The session as the guard sees it: a mirror of the host's branch and context, and what can be read from it.

#[cfg(test)]
mod changes;
#[cfg(test)]
pub(crate) mod fixtures;
mod history;
mod image;
mod memo;
mod message;
mod mirror;
mod outline;
mod ownership;
mod projection;
mod record;
mod run;
mod size;

pub use history::{Exchange, History};
pub use image::{dimensions, image_tokens};
pub use memo::Memo;
pub use message::{Kind, Shown, text_of, text_only};
pub use mirror::Mirror;
pub use outline::{Extent, Outline};
pub(crate) use projection::recorded;
pub use projection::{Projected, Projection, Sizes};
pub use record::{Expected, ItemKind, ItemOutcome, ItemResult, Phase, Record};
#[cfg(test)]
pub(crate) use run::prompts_of;
pub(crate) use run::untitled;
pub use run::{Call, Run, call_of, prompts_on_branch, start_on_branch};
pub use size::{block_size, content_size, context_size, message_size};
