//! Lines for whoever looks into a fault. Never content, never a secret: kinds, sizes, times and reasons only.

use std::fmt::Arguments;
use std::io::Write;
use std::sync::OnceLock;

/// Switches the log on when it is set to something.
const VARIABLE: &str = "CONTEXT_GUARD_LOG";

/// Writes a line to standard error, if the log is on.
pub(crate) fn line(text: Arguments<'_>) {
    static ON: OnceLock<bool> = OnceLock::new();
    if *ON.get_or_init(|| std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())) {
        // A log that cannot be written must not disturb the session.
        let _ = writeln!(std::io::stderr(), "context-guard: {text}");
    }
}
