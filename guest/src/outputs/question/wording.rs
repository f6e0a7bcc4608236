//! The words of a question about a large output.
//!
//! The thresholds of the decision were tuned on words of this meaning, so a change here needs new measurements.
//! Two things that the measurements showed: `whole` must mean that most is needed (put as "no single piece is
//! enough" it drew answers that rest on five files), and with history the question about a chunk must name the
//! user's own task and grant that the current question may be about something else.

use super::{Phase, Scene};
use crate::jev::question::Question;

/// What the words depend on.
pub(super) struct Wording {
    run_end: bool,
    history: bool,
    scope: &'static str,
}

impl Wording {
    pub(super) fn new(scene: &Scene<'_>, several: bool) -> Self {
        Wording {
            run_end: matches!(scene.phase, Phase::RunEnd { .. }),
            history: !scene.history.is_empty(),
            scope: if several { "this part of the tool output" } else { "the tool output" },
        }
    }

    pub(super) fn situation(&self) -> String {
        let (situation, history) = if self.run_end {
            (
                "A coding agent has finished answering user_question. chunks holds the output of one tool call \
                 it made on the way, cut into numbered pieces. The agent keeps working in this session, but of \
                 this output it will only be shown the pieces we retain; a short marker takes the place of the \
                 others, and it can ask for them back.",
                " earlier_conversation holds what came before in this session; expect the agent to carry on \
                 with that work.",
            )
        } else {
            (
                "A coding agent is in the middle of user_question and has not finished. chunks holds the output \
                 of a tool call it made some time ago, cut into numbered pieces; later_tool_calls lists what it \
                 has called since. From now on the agent sees only the pieces we retain of this output, with a \
                 marker in place of the others, and it can ask for them back.",
                " earlier_conversation is what happened in this session before the task.",
            )
        };
        format!("{situation}{}", if self.history { history } else { "" })
    }

    pub(super) fn failed(&self) -> &'static str {
        if self.run_end {
            "failed; once final_answer shows that the agent got past the failure, its details are usually no \
             longer needed"
        } else {
            "failed"
        }
    }

    pub(super) fn keep_whole(&self) -> Question {
        let scope = self.scope;
        if !self.run_end {
            return Question::yes_or_no(
                format!(
                    "For the work that is left on user_question, does the agent still need every piece of \
                     {scope}, so that dropping any of them would cost it information it will probably use again?"
                ),
                "All of it is still needed".into(),
                "Some pieces will not be used again and may go".into(),
            );
        }
        let next = if self.history {
            "the work under way in earlier_conversation, or a natural next question,"
        } else {
            "a natural next question"
        };
        Question::yes_or_no(
            format!(
                "Must every piece of {scope} stay, because dropping any one of them would take away something \
                 final_answer rests on, or something {next} would call for?"
            ),
            "All of it must stay".into(),
            "Parts of it add nothing to this answer and may go".into(),
        )
    }

    pub(super) fn focus(&self) -> String {
        let scope = self.scope;
        if !self.run_end {
            return format!(
                "Will the remaining work rely on most of {scope}, or on just a few of its pieces? When it is a \
                 few, choose the piece that matters most. When none of it will be used again, for instance \
                 because it is stale or the agent is done with it, choose none."
            );
        }
        let built = if self.history {
            "Are final_answer and the work under way in earlier_conversation built"
        } else {
            "Is final_answer built"
        };
        format!(
            "{built} on most of {scope}, or on just a few of its pieces? When it is a few, choose the piece that \
             matters most; when none of it matters any longer, choose none."
        )
    }

    pub(super) fn whole(&self) -> String {
        let scope = self.scope;
        if self.run_end {
            format!("The answer uses a large share of the pieces of {scope}")
        } else {
            format!("Most of {scope} is still going to be used")
        }
    }

    pub(super) fn none(&self) -> String {
        let scope = self.scope;
        if self.run_end {
            format!("No piece of {scope} matters any longer")
        } else {
            format!("No piece of {scope} is going to be used again")
        }
    }

    pub(super) fn above_all(&self, chunk: &str) -> String {
        if self.run_end {
            format!("Only a few pieces matter, and {chunk} matters most")
        } else {
            format!("Only a few pieces are still going to be used, {chunk} above all")
        }
    }

    pub(super) fn chunk(&self, chunk: &str) -> Question {
        let retain = format!("Retain {chunk}");
        if !self.run_end {
            return Question::yes_or_no(
                format!(
                    "For the work that is left on user_question, does the agent still need the lines of {chunk}? \
                     Lines that are stale, or that it has already dealt with and left behind, do not count as \
                     needed."
                ),
                retain,
                format!("{chunk} will not be used again"),
            );
        }
        let need = if self.history {
            "that the task the user has under way in earlier_conversation will call for, even though the current \
             question may be about something else?"
        } else {
            "that a natural next question about it would call for?"
        };
        Question::yes_or_no(
            format!("Are there lines in {chunk} that final_answer depends on, or {need}"),
            retain,
            format!("{chunk} contributes nothing to this answer"),
        )
    }
}
