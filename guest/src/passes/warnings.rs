//! What the user is told of a pass, each thing once.

use super::Answers;
use crate::contract::sessions::Circumstances;

/// Which warnings were given since the settings were last read.
#[derive(Debug, Default)]
pub struct Warnings {
    timed_out: bool,
    denied: bool,
}

impl Warnings {
    /// Returns what is to be said of a pass and was not said before.
    pub fn of(&mut self, answers: &Answers, circumstances: &Circumstances) -> Vec<String> {
        let mut texts = vec![];
        if answers.timed_out && !std::mem::replace(&mut self.timed_out, true) {
            texts.push(
                "the classifier did not answer in time, so what it was asked about stays; \
                 raise `timeoutMs` in the settings if that happens often"
                    .to_owned(),
            );
        }
        if answers.denied && !std::mem::replace(&mut self.denied, true) {
            let origin = circumstances.destination.as_deref().unwrap_or("the classifier's address");
            texts.push(format!(
                "the network permission refused {origin}, so nothing was judged; `/guard allow` allows it"
            ));
        }
        texts
    }
}
