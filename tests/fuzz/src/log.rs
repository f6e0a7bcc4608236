//! What the runner's files write to its log, which here is only ever that an answer was refused.

/// Says what was wrong with an answer of the guard.
pub(crate) fn line(text: std::fmt::Arguments<'_>) {
    panic!("the runner refuses an answer: {text}");
}
