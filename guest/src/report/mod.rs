//! What people see of the guard: the status bar and the views of `/guard`.

mod decisions;
mod overview;
mod statistics;
mod status;
#[cfg(test)]
mod tests;

pub use statistics::Statistics;
pub use status::status;

use crate::contract::sessions::Circumstances;
use crate::contract::types::Error;
use crate::session::Mirror;
use crate::settings::Settings;

/// Returns the text of a topic: `status` (what `/guard` shows) or `explain` (the last decisions).
///
/// # Errors
///
/// `invalid` for an unknown topic, naming those there are.
pub fn report(
    topic: &str,
    mirror: &Mirror,
    settings: &Settings,
    circumstances: &Circumstances,
) -> Result<String, Error> {
    match topic {
        "status" => Ok(overview::overview(mirror, settings, circumstances)),
        "explain" => Ok(decisions::explanation(mirror)),
        _ => Err(Error::Invalid(format!("there is no view `{topic}`: ask for status or explain"))),
    }
}
