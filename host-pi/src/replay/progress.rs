//! How far a replay is, on standard error, where that is a terminal.

use super::passes::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar over the runs. It vanishes when it is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A hidden one does nothing, as for output that a program reads.
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} run {pos} of {len} {msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }
}

impl Watch for Progress {
    fn runs(&self, count: usize) {
        self.0.set_length(count as u64);
        // Drawn now and then also while a judge on the network thinks.
        self.0.enable_steady_tick(Duration::from_millis(100));
    }

    fn run(&self, number: usize) {
        self.0.set_message("");
        self.0.set_position(number as u64);
    }

    fn questions(&self, count: usize) {
        let s = if count == 1 { "" } else { "s" };
        self.0.set_message(format!("· asking {count} question{s}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
