//! What people see of the guard: the status bar and the views of `/guard`.

mod costs;
mod decisions;
mod ledger;
mod overview;
mod preview;
mod statistics;
mod status;
#[cfg(test)]
mod tests;

pub use statistics::Statistics;
pub use status::status;

use crate::contract::types::{Error, Model};
use crate::passes::Situation;

/// Returns the text of a topic: `status` (what `/guard` shows), `preview` (what the next pass would send), `explain`
/// (the last decisions) or `ledger` (what was sent where, and what became of each pass).
///
/// `model` is the one that the host told of last; none before it did.
///
/// # Errors
///
/// `invalid` for an unknown topic, naming those there are.
pub fn report(topic: &str, situation: Situation<'_>, model: Option<&Model>) -> Result<String, Error> {
    let Situation { mirror, settings, circumstances, .. } = situation;
    match topic {
        "status" => Ok(overview::overview(mirror, settings, circumstances, model)),
        "explain" => Ok(decisions::explanation(mirror)),
        "preview" => Ok(preview::preview(situation)),
        "ledger" => Ok(ledger::ledger(mirror, model)),
        _ => Err(Error::Invalid(format!(
            "there is no view `{topic}`: ask for status, preview, explain or ledger"
        ))),
    }
}
