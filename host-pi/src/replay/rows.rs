//! The rows of a run: what a pass judged, and what became of it.

use super::look::{self, Look};
use super::record::{Kind, Outcome};
use super::report::{HeldBack, Item, Kinds, Pass, Report, Run, Turn};
use std::fmt::Write;

/// Width of the names on the left.
pub(super) const NAME: usize = 10;

/// Turns of a run within which no checkpoint is to be expected: by the fallback prices none pays, unless the cache is
/// cold.
const SHORT_RUN: usize = 12;

const OUTCOME: usize = 9;
const KIND: usize = 8;
/// Least width of a label: a tool and the end of a file's name.
const LABEL: usize = 12;
/// Parts of an output can be judged for several reasons; `--run` shows them all.
const WHY: usize = 24;

/// Widths of the columns, the same for all runs.
pub(super) struct Columns {
    label: usize,
    before: usize,
    /// None where nothing was decided, so that there is neither an outcome nor a length after it.
    after: Option<usize>,
    why: usize,
}

impl Columns {
    pub(super) fn of(report: &Report, look: Look) -> Self {
        let items = || report.runs.iter().flat_map(Run::passes).flat_map(|pass| &pass.items);
        let widest = |text: &dyn Fn(&Item) -> String| {
            items().map(|item| console::measure_text_width(&text(item))).max().unwrap_or(0)
        };
        let decided = report.judge.is_some();
        let before = widest(&|item| look::count(item.before_chars));
        let after = decided.then(|| widest(&after));
        // Between two columns are two blanks, between the lengths an arrow.
        let lengths = before + after.map_or(0, |after| " → ".chars().count() + after);
        let outcome = if decided { OUTCOME + 2 } else { 0 };
        let taken = 2 + outcome + KIND + 2 + 2 + lengths.max(LENGTHS.len()) + 2;
        let room = look.width.saturating_sub(taken);
        let why = widest(&why).clamp(WHY_NAME.len(), WHY).min(room.saturating_sub(LABEL));
        let label = (room - why).min(widest(&name)).max(LABEL);
        Self { label, before, after, why }
    }

    fn lengths(&self) -> usize {
        (self.before + self.after.map_or(0, |after| 3 + after)).max(LENGTHS.len())
    }

    fn heading(&self, look: Look) -> String {
        let outcome = if self.after.is_some() { " ".repeat(OUTCOME + 2) } else { String::new() };
        let [kind, label] = [look::left("kind", KIND), look::left("what", self.label)];
        let lengths = look::right(LENGTHS, self.lengths());
        let why = if self.after.is_some() { WHY_NAME } else { "" };
        let line = format!("  {outcome}{kind}  {label}  {lengths}  {why}");
        look.dim(line.trim_end())
    }

    fn row(&self, item: &Item, look: Look) -> String {
        let outcome = match item.outcome {
            Some(Outcome::Distilled) => look.good(&look::left("distilled", OUTCOME)) + "  ",
            Some(Outcome::Removed) => look.good(&look::left("removed", OUTCOME)) + "  ",
            Some(Outcome::Kept) => look::left("kept", OUTCOME) + "  ",
            None => String::new(),
        };
        let kind = look::left(kind(item.kind), KIND);
        let name = name(item);
        let label = match item.kind {
            Kind::Exchange => look::cut(&name, self.label),
            _ => look::label(&name, self.label),
        };
        let label = look::left(&label, self.label);
        let mut lengths = look::right(&look::count(item.before_chars), self.before);
        if let Some(width) = self.after {
            let after = after(item);
            lengths += if after.is_empty() { "   " } else { " → " };
            lengths += &look::right(&after, width);
        }
        let lengths = look::right(&lengths, self.lengths());
        let why = look.dim(&look::cut(&why(item), self.why));
        let row = format!("  {outcome}{kind}  {label}  {lengths}  {why}");
        row.trim_end().to_owned()
    }
}

const LENGTHS: &str = "characters";
const WHY_NAME: &str = "why";

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Large => "large",
        Kind::Small => "small",
        Kind::Exchange => "exchange",
        Kind::Image => "image",
        Kind::Other => "",
    }
}

/// Names an item; the kind has a column of its own.
fn name(item: &Item) -> String {
    let label = look::line(&item.label);
    match item.kind {
        Kind::Exchange => format!("“{}”", label.trim_matches('"')),
        Kind::Image => label.strip_suffix(" (1 image)").unwrap_or(&label).to_owned(),
        _ => label,
    }
}

fn after(item: &Item) -> String {
    match item.outcome {
        Some(Outcome::Distilled | Outcome::Removed) => look::count(item.after_chars),
        Some(Outcome::Kept) | None => String::new(),
    }
}

/// Says in a few words what the guard's reasons mean. Unknown ones stand for themselves.
fn why(item: &Item) -> String {
    if let (None | Some(Outcome::Removed), Some(superseded)) = (item.outcome, &item.superseded) {
        // By which call, and how much later, `--run` tells.
        let end = [" by ", " ("].into_iter().filter_map(|rest| superseded.find(rest)).min();
        return look::line(superseded.get(..end.unwrap_or(superseded.len())).unwrap_or_default());
    }
    let stay = || match item.kind {
        Kind::Large => format!("{} of {} lines stay", look::count(item.kept_lines as u64), lines(item)),
        _ => "what failed stays".into(),
    };
    let meaning = |word: &str| match word {
        "chunks" if item.outcome == Some(Outcome::Distilled) => stay(),
        "not-needed" if item.outcome == Some(Outcome::Distilled) => stay(),
        "chunks" => "parts needed".into(),
        "none-needed" | "not-needed" => "not needed".into(),
        "needed" => "still needed".into(),
        "relevant" => "related to the work".into(),
        "unrelated" => "unrelated to the work".into(),
        "deferred" => "would not pay yet".into(),
        "recalled" => "recalled, so put back".into(),
        "whole-needed" => "all of it needed".into(),
        "whole-chosen" => "mostly needed".into(),
        "no-answer" => "no clear answer".into(),
        "error" => "failed".into(),
        "timeout" => "late".into(),
        "oversize" => "too long to ask".into(),
        "all-chunks" => "all parts needed".into(),
        "not-worth" => "little to gain".into(),
        other => look::line(other),
    };
    item.reason.split(',').map(meaning).collect::<Vec<_>>().join(", ")
}

fn lines(item: &Item) -> String {
    look::count(item.lines as u64)
}

/// Returns one run's heading and the rows of its passes; none where it has no pass.
pub(super) fn run_rows(run: &Run, columns: &Columns, look: Look) -> Option<String> {
    run.passes().next()?;
    let mut text = heading(run, look);
    if run.passes().flat_map(|pass| &pass.items).any(|item| !is_known(item)) {
        let _ = writeln!(text, "{}", columns.heading(look));
    }
    let mut within = false;
    for turn in &run.turns {
        let Some(pass) = &turn.checkpoint else { continue };
        within = true;
        let decided = columns.after.is_some();
        let _ = writeln!(text, "{}", look.wrapped("  ", &checkpoint(turn, pass, decided)));
        text += &pass_rows(pass, columns, look);
    }
    if let Some(pass) = &run.pass {
        if within {
            text += "  at its end\n";
        }
        text += &pass_rows(pass, columns, look);
    }
    Some(text)
}

pub(super) fn heading(run: &Run, look: Look) -> String {
    let number = format!("run {}", run.number);
    let question = look::cut(&look::line(&run.question), look.width.saturating_sub(NAME + 2));
    format!("{}“{question}”\n", look.bold(&look::left(&number, NAME)))
}

/// Says of all turns together why they had no checkpoint; none where no turn left anything to judge, and where the run
/// was too short for a checkpoint and had at no turn enough to judge.
pub(super) fn held_back(run: &Run, look: Look) -> Option<String> {
    let waiting: Vec<&Turn> = run.turns.iter().filter(|turn| turn.held_back.is_some()).collect();
    let had_enough = run.turns.iter().any(|turn| turn.held_back != Some(HeldBack::Batch));
    if !had_enough && waiting.iter().all(|turn| turn.number <= SHORT_RUN) {
        return None;
    }
    let turns = match waiting.as_slice() {
        [] => return None,
        [turn] => format!("turn {}", turn.number),
        [first, .., last] => format!("turns {} to {}", first.number, last.number),
    };
    let held = |why| waiting.iter().filter(move |turn| turn.held_back == Some(why));
    let mut reasons = Vec::new();
    if let Some(most) = held(HeldBack::Batch).max_by_key(|turn| turn.eligible_chars) {
        let number = look::count(held(HeldBack::Batch).count() as u64);
        reasons.push(format!("{number} with too little to judge, at most {}", too_little(most)));
    }
    if let dear @ 1.. = held(HeldBack::Price).count() {
        reasons.push(format!("{} with enough, but judging would not have paid", look::count(dear as u64)));
    }
    let words = format!("no checkpoint in {turns}: {}", reasons.join("; "));
    Some(look.wrapped("  ", &look.dim(&words)) + "\n")
}

/// `9,000 of 60,000 characters`
pub(super) fn too_little(turn: &Turn) -> String {
    format!("{} of {} characters", look::count(turn.eligible_chars), look::count(turn.least_chars))
}

/// Says what a checkpoint had before it, and what the gates made of it.
fn checkpoint(turn: &Turn, pass: &Pass, decided: bool) -> String {
    let name = format!("checkpoint after turn {}", turn.number);
    let Some(chars) = turn.batch_chars else { return name };
    let judged = pass.items.iter().filter(|item| item.reason != "recalled").map(|item| item.kind);
    let judged = Kinds::of(judged);
    let mut batch = format!(
        "{name}: {}, {} characters to judge ({} are enough",
        counts(|kind| judged.get(kind)),
        look::count(chars),
        look::count(turn.least_chars)
    );
    batch += if turn.pays == Some(true) { ", and judging pays)" } else { ")" };
    let left_out = turn.eligible_chars.saturating_sub(chars);
    if left_out > 0 {
        let _ = write!(batch, ", {} more would not pay", look::count(left_out));
    }
    if !decided {
        return batch;
    }
    let (applied, deferred) = (pass.applied(), pass.deferred());
    let _ = write!(batch, "; {} made", look::plural(applied, "edit"));
    if deferred > 0 {
        let _ = write!(batch, ", {} deferred", look::count(deferred as u64));
    }
    let Some(expected) = pass.expected else { return format!("{batch}; nothing goes") };
    let thinking = match expected.lost_thinking_chars {
        0 => String::new(),
        lost => format!(", {} of thinking are lost", look::count(lost)),
    };
    format!(
        "{batch}; {} go from each later request, {} are written anew once{thinking}",
        look::count(expected.saved_chars.max(0).unsigned_abs()),
        look::count(expected.rewritten_chars),
    )
}

/// Returns the rows of one pass.
fn pass_rows(pass: &Pass, columns: &Columns, look: Look) -> String {
    let mut text = String::new();
    let (known, shown): (Vec<&Item>, Vec<&Item>) = pass.items.iter().partition(|item| is_known(item));
    for item in shown {
        let _ = writeln!(text, "{}", columns.row(item, look));
    }
    if !known.is_empty() {
        let words =
            format!("and again {}", counts(|kind| known.iter().filter(|item| item.kind == kind).count()));
        let _ = writeln!(text, "  {}", look.dim(&words));
    }
    if pass.items.is_empty() && pass.failure.is_none() {
        let _ = writeln!(text, "  {}", look.bad("no question could be asked, so that nothing was judged"));
    }
    for trouble in pass.failure.iter().chain(&pass.warnings) {
        let _ = writeln!(text, "{}", look.wrapped("  ", &look.bad(&look::line(trouble))));
    }
    text
}

/// A candidate stays one until it is judged, so that it is shown once.
fn is_known(item: &Item) -> bool {
    item.again && item.outcome.is_none()
}

/// Counts the items of each kind that there is: `2 large outputs, 1 exchange`.
pub(super) fn counts(count: impl Fn(Kind) -> usize) -> String {
    let kinds = [
        (Kind::Large, "large output"),
        (Kind::Small, "small output"),
        (Kind::Exchange, "exchange"),
        (Kind::Image, "output with images"),
    ];
    let counted = kinds.map(|(kind, noun)| (count(kind), noun));
    let named =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| match (count, noun) {
            (2.., "output with images") => format!("{} outputs with images", look::count(count as u64)),
            _ => look::plural(count, noun),
        });
    named.collect::<Vec<_>>().join(", ")
}
