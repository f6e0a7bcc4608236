//! One line per segment that tells how it was decided, for the record.

use super::decision::{Answers, Decision, Reason};
use crate::text::probability;

/// Writes the trace of a segment; `answers` is none where no response came.
pub(super) fn trace(answers: Option<&Answers>, decision: &Decision) -> String {
    let head = answers.map_or_else(|| "no answer".to_owned(), head);
    let tail = match decision.reason {
        Reason::Chunks | Reason::NoneNeeded => {
            let kept = decision.keep.iter().filter(|keep| **keep).count();
            format!("keep {kept}/{}", decision.keep.len())
        }
        Reason::Timeout => "timeout".to_owned(),
        reason => format!("keep all ({})", reason.as_str()),
    };
    format!("{head} {tail}")
}

fn head(answers: &Answers) -> String {
    let focus = answers.focus.as_ref();
    let choice = focus.map_or("?", |focus| &focus.choice);
    let p = probability(focus.and_then(|focus| focus.probability));
    format!("kw{} focus={choice}:{p}", probability(answers.keep_whole))
}
