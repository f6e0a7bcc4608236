//! The provider's prompt cache: what an edit of earlier context costs there.

mod log;
mod price;
mod rates;
mod thinking;

pub use log::CacheLog;
pub use price::{Cost, Price, can_pay_off};
pub use thinking::last_refusing;
