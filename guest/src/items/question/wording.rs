//! The words of a question about a whole item.
//!
//! The thresholds were tuned on words of this meaning, so a change here needs new measurements. Two things have
//! to be said: that a superseded output is out of date (without it, reads of files that had been edited since were
//! kept), and that an exchange matters for the same files, task, decisions or facts.

use super::Subject;
use crate::jev::question::Question;
use crate::outputs::Phase;

pub(super) fn situation(subject: Subject, phase: Phase<'_>) -> &'static str {
    match (subject, phase) {
        (Subject::Output, Phase::RunEnd { .. }) => {
            "A coding agent has finished answering user_question; items holds outputs of some of the tool calls it \
             made. An output judged unnecessary is swapped for a one-line marker, and the agent can ask for it back."
        }
        (Subject::Output, Phase::Checkpoint { .. }) => {
            "A coding agent is in the middle of user_question and has not finished; items holds outputs of tool \
             calls it made earlier. An output judged unnecessary is swapped for a one-line marker, and the agent \
             can ask for it back."
        }
        (Subject::Exchange, _) => {
            "A coding agent and a user share one long session. exchanges lists earlier parts of it that are \
             complete: a prompt of the user and all the agent did in response. user_question is what they work on \
             now. A part judged unrelated is swapped for a one-line marker; its details leave the agent's view, \
             and it can ask for them back."
        }
    }
}

pub(super) fn question(subject: Subject, phase: Phase<'_>, label: &str) -> Question {
    match (subject, phase) {
        (Subject::Output, Phase::RunEnd { .. }) => Question::yes_or_no(
            format!(
                "Is there anything in {label} that final_answer depends on, or that a natural next question would \
                 call for? An output marked superseded is stale, something newer has taken its place, and it does \
                 not count as needed."
            ),
            format!("Retain {label}"),
            format!("{label} is not needed any more"),
        ),
        (Subject::Output, Phase::Checkpoint { .. }) => Question::yes_or_no(
            format!(
                "For the work that is left on user_question, does the agent still need what {label} shows? Output \
                 that is stale (marked superseded), or that it has already dealt with and left behind, does not \
                 count as needed."
            ),
            format!("Retain {label}"),
            format!("{label} is not needed any more"),
        ),
        (Subject::Exchange, _) => Question::yes_or_no(
            format!(
                "Does {label} still bear on the current work, that is user_question and what the agent does for \
                 it? It does when the agent may need its details: the same files or task, decisions taken, facts \
                 found."
            ),
            format!("{label} still bears on it"),
            format!("{label} has nothing to do with it"),
        ),
    }
}
