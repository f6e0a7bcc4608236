//! One run of a replay in full: every judgement with its traces, and every replacement.

use super::look::{self, Look};
use super::report::{HeldBack, Report, Run};
use super::rows::{self, Columns};
use super::table;
use std::fmt::Write;

/// Returns everything about one run.
pub(super) fn detail(report: &Report, run: &Run, look: Look) -> String {
    let mut text = table::head(report, look);
    let Some(rows) = rows::run_rows(run, &Columns::of(report, look), look) else {
        let question = look::cut(&look::line(&run.question), look.width.saturating_sub(20));
        let _ = writeln!(text, "\nrun {} “{question}”: no pass was due", run.number);
        return text + &without_checkpoint(run, look);
    };
    let _ = write!(text, "\n{rows}");
    text += &without_checkpoint(run, look);
    for item in run.passes().flat_map(|pass| &pass.items) {
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

/// Tells of each turn that left something to judge and had no checkpoint.
fn without_checkpoint(run: &Run, look: Look) -> String {
    let mut text = String::new();
    for turn in &run.turns {
        let Some(held_back) = turn.held_back else { continue };
        let why = match held_back {
            HeldBack::Batch => format!("{}, too little for a checkpoint", rows::too_little(turn)),
            HeldBack::Price => format!(
                "{} characters, enough for a checkpoint, but judging would not have paid",
                look::count(turn.eligible_chars)
            ),
        };
        let kinds = rows::counts(|kind| turn.eligible.get(kind));
        let line = format!("turn {}: {kinds}, {why}", turn.number);
        let _ = writeln!(text, "{}", look.wrapped("  ", &line));
    }
    text
}
