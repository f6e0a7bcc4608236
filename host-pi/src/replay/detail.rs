//! One run of a replay in full: every judgement with its traces, and every replacement.

use super::look::{self, Look};
use super::report::{Report, Run};
use super::rows::{self, Columns};
use super::table;
use std::fmt::Write;

/// Returns everything about one run.
pub(super) fn detail(report: &Report, run: &Run, look: Look) -> String {
    let mut text = table::head(report, look);
    let Some(pass) = &run.pass else {
        let question = look::cut(&look::line(&run.question), look.width.saturating_sub(20));
        let _ = writeln!(text, "\nrun {} “{question}”: no pass was due at its end", run.number);
        return text;
    };
    let _ = write!(text, "\n{}", rows::run_rows(run, pass, &Columns::of(report, look), look));
    for item in &pass.items {
        let title = look::cut(&look::line(&item.label), look.width);
        let _ = writeln!(text, "\n{}", look.bold(&title));
        let _ = writeln!(text, "  {} {}", item.entry_id, look::line(&item.reason));
        if let Some(superseded) = &item.superseded {
            let _ = writeln!(text, "  told: {}", look::line(superseded));
        }
        for trace in &item.traces {
            let _ = writeln!(text, "  {}", look.dim(&look::line(trace)));
        }
        if let Some(replacement) = &item.replacement {
            let _ = writeln!(text, "{}", look::harmless(replacement));
        }
    }
    text
}
