//! A replay for people: what became of each output, and what that came to.

use super::look::{self, Look};
use super::record::Outcome;
use super::report::{Item, Pass, Report, Run, Totals};
use super::runs::Ending;
use std::fmt::Write;

/// Lines of the largest saving's replacement that are shown: enough for some kept ones and some notes.
const EXCERPT: usize = 22;
/// Width of the names on the left.
const NAME: usize = 10;

/// Returns the whole table.
pub(super) fn table(report: &Report, look: Look) -> String {
    let mut text = head(report, look);
    let columns = Columns::of(report, look);
    for run in &report.runs {
        if let Some(pass) = &run.pass {
            let _ = write!(text, "\n{}", run_rows(run, pass, &columns, look));
        }
    }
    let quiet = quiet_runs(report, look);
    if !quiet.is_empty() {
        let _ = write!(text, "\n{quiet}");
    }
    if report.totals.judged_runs > 0 {
        let _ = write!(text, "{}\n{}", largest(report, look), sums(report, look));
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
    let session_line = format!("{}, {runs}; the long outputs of a run are judged at its end", session.file);
    add("session", &look::line(&session_line));
    match &report.judge.base_url {
        None => add(
            "judge",
            "builtin: a heuristic that compares words; a classifier may decide otherwise (--judge URL)",
        ),
        Some(url) => add("judge", &format!("{} at {url}", report.judge.model)),
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

/// Widths of the columns, the same for all runs.
pub(super) struct Columns {
    label: usize,
    before: usize,
    after: usize,
    lines: usize,
}

const OUTCOME: usize = 9;
const LINES: &str = "lines kept";
/// Least width of a label: a tool and the end of a file's name.
const LABEL: usize = 12;
/// Parts of an output can be judged for several reasons; `--run` shows them all.
const REASON: usize = 20;

impl Columns {
    pub(super) fn of(report: &Report, look: Look) -> Self {
        let items = || report.runs.iter().filter_map(|run| run.pass.as_ref()).flat_map(|pass| &pass.items);
        let widest = |text: &dyn Fn(&Item) -> String| items().map(|item| text(item).len()).max().unwrap_or(0);
        let before = widest(&|item| look::count(item.before_chars));
        let after = widest(&after);
        let lines = widest(&lines).max(LINES.len());
        let reason = widest(&|item| reason(&item.reason));
        // Between two columns are two blanks, between the lengths an arrow.
        let taken = 2 + OUTCOME + 2 + 2 + before + 3 + after + 2 + lines + 2 + reason;
        let longest =
            items().map(|item| console::measure_text_width(&look::line(&item.label))).max().unwrap_or(0);
        let label = look.width.saturating_sub(taken).min(longest).max(LABEL);
        Self { label, before, after, lines }
    }

    fn heading(&self, look: Look) -> String {
        let [outcome, label] = [look::left("", OUTCOME), look::left("output", self.label)];
        let lengths = look::right("characters", self.before + 3 + self.after);
        let lines = look::right(LINES, self.lines);
        look.dim(&format!("  {outcome}  {label}  {lengths}  {lines}  why"))
    }

    fn row(&self, item: &Item, look: Look) -> String {
        let outcome = match item.outcome {
            Outcome::Distilled => look.good(&look::left("distilled", OUTCOME)),
            Outcome::Removed => look.good(&look::left("removed", OUTCOME)),
            Outcome::Kept => look::left("kept", OUTCOME),
        };
        let label = look::left(&look::label(&look::line(&item.label), self.label), self.label);
        let before = look::right(&look::count(item.before_chars), self.before);
        let after = after(item);
        let arrow = if after.is_empty() { "   " } else { " → " };
        let after = look::right(&after, self.after);
        let lines = look::right(&lines(item), self.lines);
        let reason = look.dim(&reason(&item.reason));
        format!("  {outcome}  {label}  {before}{arrow}{after}  {lines}  {reason}")
    }
}

fn after(item: &Item) -> String {
    match item.outcome {
        Outcome::Kept => String::new(),
        _ => look::count(item.after_chars),
    }
}

fn lines(item: &Item) -> String {
    let total = look::count(item.lines as u64);
    match item.outcome {
        Outcome::Kept => format!("all {total}"),
        _ => format!("{} of {total}", look::count(item.kept_lines as u64)),
    }
}

/// Says in a few words what the guard's reasons mean. Unknown ones stand for themselves.
fn reason(words: &str) -> String {
    let meaning = |word| match word {
        "chunks" => "parts needed",
        "none-needed" => "not needed",
        "whole-needed" => "all of it needed",
        "whole-chosen" => "mostly needed",
        "no-answer" => "no clear answer",
        "error" => "failed",
        "timeout" => "late",
        "oversize" => "too long to ask",
        "all-chunks" => "all parts needed",
        "not-worth" => "little to gain",
        other => other,
    };
    look::cut(&look::line(&words.split(',').map(meaning).collect::<Vec<_>>().join(", ")), REASON)
}

/// Returns one run's heading and rows.
pub(super) fn run_rows(run: &Run, pass: &Pass, columns: &Columns, look: Look) -> String {
    let number = format!("run {}", run.number);
    let question = look::cut(&look::line(&run.question), look.width.saturating_sub(NAME + 2));
    let mut text = format!("{}“{question}”\n", look.bold(&look::left(&number, NAME)));
    if !pass.items.is_empty() {
        let _ = writeln!(text, "{}", columns.heading(look));
    }
    for item in &pass.items {
        let _ = writeln!(text, "{}", columns.row(item, look));
    }
    if pass.items.is_empty() && pass.failure.is_none() {
        let _ = writeln!(text, "  {}", look.bad("no question could be asked, so that nothing was judged"));
    }
    for trouble in pass.failure.iter().chain(&pass.warnings) {
        let _ = writeln!(text, "{}", look.wrapped("  ", &look.bad(&look::line(trouble))));
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
                "{}: too few large outputs. By default a pass needs 8,000 characters in outputs of 4,000 or more \
                 (minRunChars and minResultChars in the settings)",
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
    let outputs = totals.distilled + totals.removed + totals.kept;
    let share = (saved_chars * 100).checked_div(before_chars).unwrap_or(0);
    let cost = match &report.judge.base_url {
        Some(_) if totals.cost_usd == 0.0 => "cost unknown (--input-price)".into(),
        _ => look::dollars(totals.cost_usd),
    };
    let judged = format!(
        "{}: {} distilled, {} removed, {} kept",
        look::plural(outputs, "output"),
        totals.distilled,
        totals.removed,
        totals.kept
    );
    let effort = format!("{}, {}, {cost}", look::plural(requests as usize, "request"), look::duration(ms));
    let saved =
        format!("{} of {} characters ({share} %)", look::count(saved_chars), look::count(before_chars));
    let saved = format!(
        "{}: about {} tokens less in every later request (an estimate: a quarter of the characters)",
        if saved_chars > 0 { look.good(&saved) } else { saved },
        look::short(totals.saved_tokens_estimate)
    );
    let rows = [("judged", judged), ("effort", effort), ("saved", saved)];
    rows.map(|(name, words)| look.wrapped(&look::left(name, NAME), &words) + "\n").concat()
}

/// Shows the replacement that saves most.
fn largest(report: &Report, look: Look) -> String {
    let passes = report.runs.iter().filter_map(|run| Some((run.number, run.pass.as_ref()?)));
    let items = passes.flat_map(|(number, pass)| pass.items.iter().map(move |item| (number, item)));
    let shown = items.filter_map(|(number, item)| Some((number, item, item.replacement.as_ref()?)));
    let Some((number, item, replacement)) = shown.max_by_key(|(_, item, _)| item.saved_chars()) else {
        return String::new();
    };
    let title = look::cut(&format!("instead of {}", look::line(&item.label)), look.width);
    let mut text = format!("\n{}\n", look.bold(&title));
    let total = replacement.lines().count();
    let mut lines = replacement.lines().take(EXCERPT);
    if let Some(note) = lines.next() {
        let _ = writeln!(text, "{}", look.wrapped("  ", &look::line(note)));
    }
    for line in lines {
        let line = look::cut(&format!("  {}", look::line(line)), look.width);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if total > EXCERPT {
        let rest =
            format!("  … {} more lines; --run {number} shows all", look::count((total - EXCERPT) as u64));
        let _ = writeln!(text, "{}", look.dim(&rest));
    }
    text
}
