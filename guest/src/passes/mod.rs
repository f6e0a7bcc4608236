//! Passes: what `begin` asks, and what `finish` makes of the answers.
//!
//! A pass holds no text between the two. Both read the same session with the same settings, so both find the
//! same work; a session that changed meanwhile drops its pass.

mod answers;
mod checkpoint;
mod found;
mod gates;
mod recalled;
mod run_end;
mod selection;
mod warnings;
mod work;

pub use answers::Answers;
pub use warnings::Warnings;

use crate::cache::CacheLog;
use crate::contract::sessions::{Budget, Circumstances, Inquiry, Outcome, Phase, Question, Verdict};
use crate::contract::types::{Model, Timestamp};
use crate::session::{Mirror, Record};
use crate::settings::Settings;
use work::Work;

/// What a pass looks at.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The session.
    pub mirror: &'a Mirror,
    /// The settings in force.
    pub settings: &'a Settings,
    /// What the host can do.
    pub circumstances: &'a Circumstances,
    /// What the provider's cache holds.
    pub log: &'a CacheLog,
}

/// A pass that was begun and waits for its verdicts.
#[derive(Clone, Debug)]
pub struct Pass {
    phase: Phase,
    model: Model,
    begun: Timestamp,
    questions: usize,
    /// What the host could do when the pass began, which decides what it looks for.
    circumstances: Circumstances,
}

impl Pass {
    /// Begins a pass; none where there is nothing to judge.
    pub fn begin(
        phase: Phase,
        model: Model,
        begun: Timestamp,
        situation: Situation<'_>,
    ) -> Option<(Pass, Inquiry)> {
        let Situation { settings, circumstances, .. } = situation;
        let mut pass = Pass { phase, model, begun, questions: 0, circumstances: circumstances.clone() };
        let bodies = pass.work(situation)?.requests();
        pass.questions = bodies.len();
        let questions: Vec<Question> = (0..).zip(bodies).map(|(id, body)| Question { id, body }).collect();
        let budget = Budget { timeout_ms: settings.timeout_ms, concurrency: settings.concurrency };
        // An output too big for any request is looked at and kept: nothing to ask, nothing to do.
        let nothing = questions.is_empty() && pass.decide(&Answers::default(), situation).edits.is_empty();
        (!nothing).then_some((pass, Inquiry { questions, budget }))
    }

    /// Returns the bodies that a pass would ask if the run ended now.
    pub fn preview(situation: Situation<'_>) -> Vec<String> {
        run_end::find(situation, None).map(|work| work.requests()).unwrap_or_default()
    }

    /// Finds the work of this pass; none where none is due.
    fn work<'a>(&self, situation: Situation<'a>) -> Option<Work<'a>> {
        match self.phase {
            Phase::RunEnd => run_end::find(situation, Some(&self.model)),
            Phase::MidRun => checkpoint::find(situation, &self.model, self.begun),
        }
    }

    /// Returns whether the classifier is asked.
    pub fn asks(&self) -> bool {
        self.questions > 0
    }

    /// Reads the verdicts on this pass's questions.
    pub fn read(&self, verdicts: Vec<Verdict>, elapsed_ms: u32, timed_out: bool) -> Answers {
        Answers::read(verdicts, self.questions, elapsed_ms, timed_out)
    }

    /// Decides by the answers: one edit for each entry that changes, and a record of all that was judged.
    ///
    /// Without any request and any edit there is no record. Warnings are the caller's.
    pub fn decide(&self, answers: &Answers, situation: Situation<'_>) -> Outcome {
        let nothing = Outcome { edits: vec![], guard_record: None, warnings: vec![] };
        let situation = Situation { circumstances: &self.circumstances, ..situation };
        let Some(work) = self.work(situation) else { return nothing };
        let decided = work.decide(answers, &self.model, self.begun);
        if answers.requests == 0 && decided.edits.is_empty() {
            return nothing;
        }
        let sent = (answers.sent_bytes > 0).then_some(answers.sent_bytes);
        let record = Record {
            phase: self.phase.into(),
            model: situation.settings.model.clone(),
            saved_chars: decided.saved_chars,
            requests: answers.requests,
            input_tokens: answers.input_tokens,
            cost_usd: answers.cost_usd,
            // A pass that asks nothing takes no time worth telling.
            ms: if self.asks() { u64::from(answers.elapsed_ms) } else { 0 },
            timed_out: answers.timed_out,
            origin: sent.and(self.circumstances.destination.clone()),
            sent_bytes: sent,
            expected: decided.expected,
            results: decided.results,
            ..Record::default()
        };
        Outcome { edits: decided.edits, guard_record: Some(record.to_json()), warnings: vec![] }
    }
}
