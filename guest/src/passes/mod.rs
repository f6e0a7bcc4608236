//! Passes: what `begin` asks, and what `finish` makes of the answers.
//!
//! A pass holds no text between the two. Both read the same session with the same settings, so both find the
//! same work; a session that changed meanwhile drops its pass.

mod answers;
mod warnings;
mod work;

pub use answers::Answers;
pub use warnings::Warnings;

use crate::contract::sessions::{Budget, Circumstances, Inquiry, Outcome, Phase, Question, Verdict};
use crate::session::{Mirror, Record};
use crate::settings::Settings;
use work::Work;

/// A pass that was begun and waits for its verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    phase: Phase,
    questions: usize,
}

impl Pass {
    /// Begins a pass; none where nothing is to be asked.
    pub fn begin(phase: Phase, mirror: &Mirror, settings: &Settings) -> Option<(Pass, Inquiry)> {
        let bodies = Work::find(phase, mirror, settings)?.requests();
        if bodies.is_empty() {
            return None;
        }
        let questions: Vec<Question> = (0..).zip(bodies).map(|(id, body)| Question { id, body }).collect();
        let budget = Budget { timeout_ms: settings.timeout_ms, concurrency: settings.concurrency };
        Some((Pass { phase, questions: questions.len() }, Inquiry { questions, budget }))
    }

    /// Reads the verdicts on this pass's questions.
    pub fn read(&self, verdicts: Vec<Verdict>, elapsed_ms: u32, timed_out: bool) -> Answers {
        Answers::read(verdicts, self.questions, elapsed_ms, timed_out)
    }

    /// Decides by the answers: one edit for each output that changes, and a record of all that was judged.
    ///
    /// Without any request there is neither. Warnings are the caller's.
    pub fn decide(
        &self,
        answers: &Answers,
        mirror: &Mirror,
        settings: &Settings,
        circumstances: &Circumstances,
    ) -> Outcome {
        let nothing = Outcome { edits: vec![], guard_record: None, warnings: vec![] };
        let Some(work) = Work::find(self.phase, mirror, settings) else { return nothing };
        let decided = work.decide(answers, settings);
        if answers.requests == 0 && decided.edits.is_empty() {
            return nothing;
        }
        let sent = (answers.sent_bytes > 0).then_some(answers.sent_bytes);
        let record = Record {
            phase: self.phase.into(),
            model: settings.model.clone(),
            saved_chars: decided.saved_chars(),
            requests: answers.requests,
            input_tokens: answers.input_tokens,
            cost_usd: answers.cost_usd,
            ms: u64::from(answers.elapsed_ms),
            timed_out: answers.timed_out,
            origin: sent.and(circumstances.destination.clone()),
            sent_bytes: sent,
            results: decided.results,
            ..Record::default()
        };
        Outcome { edits: decided.edits, guard_record: Some(record.to_json()), warnings: vec![] }
    }
}
