//! What came before the run, as far as a question tells it.

/// An earlier prompt with the reply that answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// The prompt, clipped.
    pub prompt: String,
    /// The reply, clipped; none where there was none.
    pub reply: Option<String>,
}

/// The earlier conversation, clipped to what leaves in a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The newest summary of a compaction or a branch.
    pub summary: Option<String>,
    /// The session's first prompt, where it is not among `exchanges`.
    pub first_request: Option<String>,
    /// The last exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
}

impl History {
    /// Returns whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && self.first_request.is_none() && self.exchanges.is_empty()
    }
}
