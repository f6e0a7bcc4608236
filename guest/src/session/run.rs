//! The run that has just ended or is under way: where it starts, what was asked, called and answered.

use super::projection::Projected;

/// A tool call of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The id that its result refers to.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// A JSON object as text.
    pub arguments: &'a str,
    /// The turn that made it; the run's first is 0.
    pub turn: u32,
}

/// The newest prompt and everything since.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Entries after the prompt, oldest first.
    pub span: Vec<Projected<'a>>,
    /// Position of the prompt in the projection.
    pub start: usize,
    /// The prompt and what the user added during the run.
    pub question: String,
    /// The last thing that the model said, trimmed; empty if it said nothing.
    pub answer: String,
    /// What the model said before its answer.
    pub notes: String,
    /// Number of turns, which is the number of replies.
    pub turns: u32,
    /// Tool calls in call order, an id once.
    pub calls: Vec<Call<'a>>,
}

impl<'a> Run<'a> {
    /// Returns the call that a result answers, if it is part of the run.
    pub fn call(&self, id: &str) -> Option<&Call<'a>> {
        self.calls.iter().find(|call| call.id == id)
    }
}
