//! The provider's prompt cache: what an edit of earlier context costs there.

mod log;
mod price;
mod thinking;

pub use log::CacheLog;
pub use price::{Cost, Price};
pub use thinking::last_refusing;
