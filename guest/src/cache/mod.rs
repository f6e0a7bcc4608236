//! The provider's prompt cache: what an edit of earlier context costs there, and what it did cost.

mod log;
mod price;
mod rates;
mod seen;
mod thinking;

pub use log::CacheLog;
pub use price::{Cost, Price, can_pay_off};
pub use seen::{Observation, Seen, Unseen, observe};
pub use thinking::last_refusing;
