//! A probe for people.

use super::report::{Counts, Item, Measured, Report};
use crate::replay::look::{self, Look};
use std::fmt::Write;

/// Width of the names on the left.
const NAME: usize = 8;

/// Returns the whole page.
pub(super) fn table(report: &Report, look: Look) -> String {
    let mut text = head(report, look);
    for measured in &report.kinds {
        let _ = write!(text, "\n{}", kind(measured, look));
    }
    text
}

fn head(report: &Report, look: Look) -> String {
    let mut text = String::new();
    let mut add = |name: &str, words: &str| {
        let _ = writeln!(text, "{}", look.wrapped(&look::left(name, NAME), words));
    };
    match &report.judge.base_url {
        None => add("judge", "builtin: a heuristic that compares words; it tells nothing about a classifier"),
        Some(url) => add("judge", &format!("{} at {url}", report.judge.model)),
    }
    add(
        "set",
        &format!(
            "{}, small and labelled by the makers of this program",
            look::plural(report.situations, "situation")
        ),
    );
    let silent = report.silent.len();
    if silent > 0 {
        add(
            "silent",
            &format!(
                "the guard asks nothing in {}: {}",
                look::plural(silent, "situation"),
                report.silent.join(", ")
            ),
        );
    }
    let spent = &report.spent;
    add(
        "asked",
        &format!(
            "{}, {} bytes sent, {} input tokens, {}, {}",
            look::plural(spent.requests, "request"),
            look::count(spent.sent_bytes),
            look::count(spent.input_tokens),
            look::dollars(spent.cost_usd),
            look::duration(spent.ms),
        ),
    );
    if spent.failed > 0 {
        add("failed", &format!("{}; their items are left out", look::plural(spent.failed, "request")));
    }
    text
}

fn kind(measured: &Measured, look: Look) -> String {
    let Measured { kind, threshold, items, counts } = measured;
    let needed = items.iter().filter(|item| item.needed).count();
    let mut text = format!(
        "{}\n",
        look.bold(&format!(
            "{kind}: {}, {needed} to be kept ({})",
            look::plural(items.len(), "answer"),
            threshold.setting
        ))
    );
    let heading =
        ["at", "kept rightly", "dropped rightly", "kept wrongly", "dropped wrongly", "accuracy", ""];
    let _ = writeln!(text, "{}", look.dim(&cells(heading)));
    for counts in counts {
        let _ = writeln!(text, "{}", row(counts, threshold.default));
    }
    let unanswered = items.iter().filter(|item| item.probability.is_none()).count();
    if unanswered > 0 {
        let _ = writeln!(text, "  without a usable answer, and so kept: {unanswered}");
    }
    for item in items.iter().filter(|item| item.probability.is_some() && item.kept != item.needed) {
        let _ = writeln!(text, "{}", wrong(item, look));
    }
    text
}

fn row(counts: &Counts, default: f64) -> String {
    let Counts { threshold, kept_rightly, dropped_rightly, kept_wrongly, dropped_wrongly, accuracy } = counts;
    let marked = if *threshold == default { "default" } else { "" };
    cells([
        &format!("{threshold:.2}"),
        &kept_rightly.to_string(),
        &dropped_rightly.to_string(),
        &kept_wrongly.to_string(),
        &dropped_wrongly.to_string(),
        &format!("{:.0} %", accuracy * 100.0),
        marked,
    ])
}

fn cells([at, kept, dropped, kept_wrongly, dropped_wrongly, accuracy, mark]: [&str; 7]) -> String {
    let line = format!(
        "  {at:>4}  {kept:>12}  {dropped:>15}  {kept_wrongly:>12}  {dropped_wrongly:>15}  {accuracy:>8}  {mark}"
    );
    line.trim_end().to_owned()
}

fn wrong(item: &Item, look: Look) -> String {
    let did = if item.kept { "wrongly kept" } else { "wrongly dropped" };
    let probability = item.probability.unwrap_or_default();
    let line = format!("  {did:15}  {probability:.3}  {}", item.name);
    look::cut(&line, look.width)
}
