//! Sequences of calls, from a script of a session.

/// Plays the text as a script.
pub(crate) fn run(data: &[u8]) {
    crate::pi::play(&String::from_utf8_lossy(data));
}
