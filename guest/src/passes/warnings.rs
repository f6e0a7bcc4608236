//! What the user is told of a pass, each thing once.

use super::Answers;
use crate::contract::sessions::Circumstances;

/// Which warnings were given since the settings were last read.
#[derive(Debug, Default)]
pub struct Warnings {
    timed_out: bool,
    denied: bool,
    failed: bool,
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
        let none = answers.failed > 0 && answers.failed == answers.replies.len() as u64;
        if none && !std::mem::replace(&mut self.failed, true) {
            let origin = circumstances.destination.as_deref().unwrap_or("the classifier");
            texts.push(format!(
                "{origin} gave no answer that could be used, so everything stays; see that it is up, that its key \
                 is right and that `model` in the settings names it"
            ));
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
