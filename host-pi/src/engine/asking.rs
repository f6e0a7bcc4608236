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
    let limit = Duration::from_millis(budget.timeout_ms.into()) + sandbox.limits().ask_grace;
    let asked = async {
        let mut instance = sandbox.instance(hooks).await?;
        let classifier = instance.guard.context_guard_guard_classifier();
        classifier.call_ask(&mut instance.store, service, questions, budget).await
    };
    sandbox.within(limit, asked).await
}

/// Returns the same failure for every question. `sent` are the body bytes of each request that left.
///
/// The gate does not know which question a request asked, so the bytes are put down in the order in which requests
/// and questions stand, and what is left of them (retries) with the last question: their sum is exact.
pub(crate) fn failed(questions: &[Question], failure: Failure, sent: &[u64]) -> Vec<Verdict> {
    let verdict = |(place, question): (usize, &Question)| {
        let last = place + 1 == questions.len();
        let own = sent.get(place..).unwrap_or_default();
        let own = if last { own } else { own.get(..1).unwrap_or_default() };
        Verdict {
            id: question.id,
            reply: Reply::Failed(failure),
            sent_bytes: own.iter().sum(),
            input_tokens: 0,
            cost_usd: 0.0,
        }
    };
    questions.iter().enumerate().map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent_bytes(questions: u32, sent: &[u64]) -> Vec<u64> {
        let questions: Vec<_> = (0..questions).map(|id| Question { id, body: String::new() }).collect();
        let verdicts = failed(&questions, Failure::Aborted, sent);
        verdicts.iter().map(|verdict| verdict.sent_bytes).collect()
    }

    #[test]
    fn b41_every_byte_that_left_is_put_down_once() {
        assert_eq!(sent_bytes(3, &[]), [0, 0, 0]);
        assert_eq!(sent_bytes(3, &[7, 5]), [7, 5, 0]);
        assert_eq!(sent_bytes(2, &[7, 5, 7, 1]), [7, 13]);
        assert_eq!(sent_bytes(0, &[7]), [0; 0]);
    }
}
