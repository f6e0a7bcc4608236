//! A replay for people: what became of each item, and what that came to.

use super::look::{self, Look};
use super::notes;
use super::record::Kind;
use super::report::{Report, Run, Totals};
use super::rows::{self, Columns, NAME};
use super::runs::Ending;
use std::fmt::Write;

/// Returns the whole table.
pub(super) fn table(report: &Report, look: Look) -> String {
    let mut text = head(report, look);
    let columns = Columns::of(report, look);
    for run in &report.runs {
        let rows = rows::run_rows(run, &columns, look);
        let held_back = rows::held_back(run, look);
        if rows.is_some() || held_back.is_some() {
            let rows = rows.unwrap_or_else(|| rows::heading(run, look));
            let _ = write!(text, "\n{rows}{}", held_back.unwrap_or_default());
        }
    }
    let quiet = quiet_runs(report, look);
    if !quiet.is_empty() {
        let _ = write!(text, "\n{quiet}");
    }
    if report.totals.judged_runs > 0 || report.totals.checkpoints > 0 {
        let _ = write!(text, "{}\n{}", notes::notes(report, look), sums(report, look));
    }
    text
}

/// Says what is replayed, and on what terms.
pub(super) fn head(report: &Report, look: Look) -> String {
    let session = &report.session;
    let mut text = String::new();
    let mut add = |name: &str, words: &str| {
        let _ = writeln!(text, "{}", look.wrapped(&look::left(name, NAME), words));
    };
    let runs = look::plural(report.runs.len(), "run");
    let checkpoints = report.runs.iter().map(Run::checkpoints).sum();
    let checkpoints = match checkpoints {
        0 => String::new(),
        number => format!(", {}", look::plural(number, "checkpoint")),
    };
    let session_line = format!("{}, {runs}{checkpoints}", session.file);
    add("session", &look::line(&session_line));
    match &report.judge {
        None => add(
            "judge",
            "none: nothing is asked or decided; what there is to judge at checkpoints and at the end of a run is shown, an \
             item once",
        ),
        Some(judge) => match &judge.base_url {
            None => add(
                "judge",
                "builtin: a heuristic that compares words; a classifier may decide otherwise (--judge URL)",
            ),
            Some(url) => add("judge", &format!("{} at {url}", judge.model)),
        },
    }
    if report.judge.is_some() {
        add(
            "when",
            "at the end of each run: its outputs, and exchanges and images from before; in long runs at checkpoints, too",
        );
    }
    add("settings", report.settings.as_deref().unwrap_or("defaults"));
    let left_out = session.left_out;
    if left_out.records > 0 {
        add(
            "left out",
            &format!(
                "what a guard did while the session was recorded: {}, {}; the replies are the recorded ones",
                look::plural(left_out.edits, "edit"),
                look::plural(left_out.records, "record")
            ),
        );
    }
    for warning in &report.warnings {
        add("warning", &look::line(warning));
    }
    text
}

/// Says what happened in the runs that have no rows.
fn quiet_runs(report: &Report, look: Look) -> String {
    let count = |wanted: &dyn Fn(&Run) -> bool| report.runs.iter().filter(|run| wanted(run)).count();
    let not_due = count(&|run| run.ending == Ending::Completed && run.pass.is_none());
    let mut text = String::new();
    let mut add = |name: &str, words: String| {
        let _ = writeln!(text, "{}", look.wrapped(&look::left(name, NAME), &words));
    };
    if report.runs.is_empty() {
        add("nothing", "to judge: no prompt of the user is on the session's active branch".into());
    } else if not_due > 0 {
        add(
            "not due",
            format!(
                "{}: nothing to judge. By default outputs of 400 characters or more are, those of 4,000 or more if \
                 the run has 8,000 of these together, exchanges older than the last two, and images three replies \
                 later (smallResultMinChars, minResultChars, minRunChars, keepRecentExchanges and imageKeepTurns in \
                 the settings)",
                look::plural(not_due, "completed run")
            ),
        );
    }
    let endings = [
        (Ending::Aborted, "stopped by the user"),
        (Ending::Failed, "ended by an error"),
        (Ending::Open, "without a last reply"),
    ];
    let counted = endings.map(|(ending, words)| (count(&|run| run.ending == ending), words));
    let named = counted.iter().filter(|(number, _)| *number > 0);
    let named: Vec<_> = named.map(|(number, words)| format!("{number} {words}")).collect();
    if !named.is_empty() {
        let number = counted.iter().map(|(number, _)| number).sum();
        add("no pass", format!("{}: {}", look::plural(number, "run"), named.join(", ")));
    }
    text
}

/// Says what it came to. The sum of what was saved comes last, where the eye stays.
fn sums(report: &Report, look: Look) -> String {
    let Totals { before_chars, saved_chars, requests, ms, .. } = report.totals;
    let totals = &report.totals;
    let kinds = rows::counts(|kind| match kind {
        Kind::Large => totals.large,
        Kind::Small => totals.small,
        Kind::Exchange => totals.exchanges,
        Kind::Image => totals.images,
        Kind::Other => 0,
    });
    let print = |rows: &[(&str, String)]| -> String {
        let line = |(name, words): &(&str, String)| look.wrapped(&look::left(name, NAME), words) + "\n";
        rows.iter().map(line).collect()
    };
    let Some(judge) = &report.judge else {
        let to_judge = format!("{kinds}: {} characters{}", look::count(before_chars), passes(totals));
        return print(&[("to judge", to_judge)]);
    };
    let share = (saved_chars * 100).checked_div(before_chars).unwrap_or(0);
    let cost = match &judge.base_url {
        Some(_) if totals.cost_usd == 0.0 => "cost unknown (--input-price)".into(),
        _ => look::dollars(totals.cost_usd),
    };
    let judged =
        format!("{kinds}: {} distilled, {} removed, {} kept", totals.distilled, totals.removed, totals.kept)
            + &passes(totals);
    let effort = format!("{}, {}, {cost}", look::plural(requests as usize, "request"), look::duration(ms));
    let saved =
        format!("{} of {} characters ({share} %)", look::count(saved_chars), look::count(before_chars));
    let saved = format!(
        "{}: about {} tokens less in every later request (an estimate: a quarter of the characters)",
        if saved_chars > 0 { look.good(&saved) } else { saved },
        look::short(totals.saved_tokens_estimate)
    );
    print(&[("judged", judged), ("effort", effort), ("saved", saved)])
}

/// Says how many passes there were, where some of them were checkpoints.
fn passes(totals: &Totals) -> String {
    match totals.checkpoints {
        0 => String::new(),
        number => format!(
            "; {}, {}",
            look::plural(number, "checkpoint"),
            match totals.judged_runs {
                1 => "1 pass at the end of a run".to_owned(),
                passes => format!("{} passes at the ends of runs", look::count(passes as u64)),
            }
        ),
    }
}
