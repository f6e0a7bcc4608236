//! The provider's prompt cache: what an edit of earlier context costs there.

mod price;

pub use price::{Price, is_cold};
