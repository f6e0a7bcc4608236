//! The provider's prompt cache: what an edit of earlier context costs there and what it did cost, what is known to be
//! in it, and the breakpoints that have more of it written.

mod breakpoints;
mod log;
mod price;
mod rates;
mod seen;
mod thinking;

pub use breakpoints::Breakpoints;
pub use log::CacheLog;
pub use price::{Cost, Price, can_pay_off};
pub use seen::{Observation, Seen, Unseen, observe};
pub use thinking::last_refusing;

/// Returns whether a request calls a tool by that id: as it is, or with what Anthropic does not take in an id
/// replaced by `_` and cut after 64, which is how Pi sends it.
fn is_call_id(sent: &str, recorded: &str) -> bool {
    const MOST: usize = 64;
    let plain = |unit: u16| {
        let allowed =
            u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if allowed { unit } else { u16::from(b'_') }
    };
    sent == recorded || sent.encode_utf16().eq(recorded.encode_utf16().map(plain).take(MOST))
}
