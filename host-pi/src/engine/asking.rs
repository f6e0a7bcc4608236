//! `classifier.ask` in an instance that lives for this one call.

use super::sandbox::{Broken, Sandbox};
use crate::contract::classifier::Service;
use crate::contract::sessions::{Budget, Failure, Question, Reply, Verdict};
use crate::gate::Hooks;
use std::time::Duration;

/// Asks the classifier. Nothing of one call, not even a corrupted memory, can reach the session or the next call.
pub(crate) async fn ask(
    sandbox: &Sandbox,
    hooks: Hooks,
    service: &Service,
    questions: &[Question],
    budget: Budget,
) -> Result<Vec<Verdict>, Broken> {
    let mut instance = sandbox.instance(hooks).await?;
    let limit = Duration::from_millis(budget.timeout_ms.into()) + sandbox.limits().ask_grace;
    let classifier = instance.guard.context_guard_guard_classifier();
    sandbox.within(limit, classifier.call_ask(&mut instance.store, service, questions, budget)).await
}

/// Returns the same failure for every question.
pub(crate) fn failed(questions: &[Question], failure: Failure) -> Vec<Verdict> {
    let verdict = |question: &Question| Verdict {
        id: question.id,
        reply: Reply::Failed(failure),
        sent_bytes: 0,
        input_tokens: 0,
        cost_usd: 0.0,
    };
    questions.iter().map(verdict).collect()
}
