//! The verdicts on a pass's questions, checked and added up.

use serde_json::{Map, Value};

use crate::contract::sessions::{self, Failure, Verdict};
use crate::outputs::{self, Reply};

/// What came back for the questions of one pass.
#[derive(Debug, Default)]
pub struct Answers {
    /// By question id. A question without a readable verdict counts as failed.
    pub replies: Vec<Reply>,
    /// Requests that were handed to the classifier.
    pub requests: u64,
    /// Tokens that it counted.
    pub input_tokens: u64,
    /// What it cost, in US dollars.
    pub cost_usd: f64,
    /// Body bytes that left, retries included.
    pub sent_bytes: u64,
    /// Wall time of asking, in milliseconds.
    pub elapsed_ms: u32,
    /// The budget ran out first.
    pub timed_out: bool,
    /// Requests that the classifier did not answer, other than for lack of time.
    pub failed: u64,
    /// A request was refused by the network permission.
    pub denied: bool,
}

impl Answers {
    /// Reads the verdicts on the questions `0..questions`. The first on a question counts; strays are passed over.
    pub(super) fn read(
        verdicts: Vec<Verdict>,
        questions: usize,
        elapsed_ms: u32,
        timed_out: bool,
    ) -> Answers {
        let missing = if timed_out { outputs::Failure::Timeout } else { outputs::Failure::Error };
        let mut replies: Vec<Option<Reply>> = (0..questions).map(|_| None).collect();
        let mut answers = Answers { elapsed_ms, timed_out, ..Answers::default() };
        for verdict in verdicts {
            let Some(place @ None) = replies.get_mut(verdict.id as usize) else { continue };
            // A question that the time ran out on, or that was refused, may never have been asked.
            let asked = matches!(
                verdict.reply,
                sessions::Reply::Answers(_) | sessions::Reply::Failed(Failure::Error)
            );
            answers.requests += u64::from(asked || verdict.sent_bytes > 0);
            answers.failed += u64::from(matches!(verdict.reply, sessions::Reply::Failed(Failure::Error)));
            answers.input_tokens = answers.input_tokens.saturating_add(verdict.input_tokens);
            answers.cost_usd += if verdict.cost_usd.is_finite() { verdict.cost_usd.max(0.0) } else { 0.0 };
            answers.sent_bytes = answers.sent_bytes.saturating_add(verdict.sent_bytes);
            answers.denied |= matches!(verdict.reply, sessions::Reply::Failed(Failure::Denied));
            *place = Some(reply(verdict.reply));
        }
        answers.replies = replies.into_iter().map(|reply| reply.unwrap_or(Reply::Failed(missing))).collect();
        answers
    }
}

fn reply(reply: sessions::Reply) -> Reply {
    match reply {
        sessions::Reply::Answers(json) => match serde_json::from_str::<Map<String, Value>>(&json) {
            Ok(answers) => Reply::Answers(answers),
            Err(_) => Reply::Failed(outputs::Failure::Error),
        },
        sessions::Reply::Failed(Failure::Timeout) => Reply::Failed(outputs::Failure::Timeout),
        sessions::Reply::Failed(Failure::Error | Failure::Aborted | Failure::Denied) => {
            Reply::Failed(outputs::Failure::Error)
        }
    }
}
