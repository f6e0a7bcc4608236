//! The provider's prompt cache: what an edit of earlier context costs there.

mod log;
mod price;

pub use log::CacheLog;
pub use price::{Price, is_cold};
