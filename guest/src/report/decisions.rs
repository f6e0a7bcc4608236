//! What passes decided, item by item.

use crate::session::{Expected, ItemKind, ItemOutcome, ItemResult, Mirror, Phase, Record};
use crate::text::{decimal, plural, short};

/// Passes that an explanation goes back.
const PASSES: usize = 5;

/// Explains the last decisions, newest pass first, with reasons in words.
pub(super) fn explanation(mirror: &Mirror) -> String {
    let passes: Vec<String> =
        mirror.records().iter().rev().take(PASSES).map(|(_, record)| explain(record)).collect();
    if passes.is_empty() {
        return "Nothing was judged on this branch so far.".into();
    }
    passes.join("\n\n")
}

fn explain(record: &Record) -> String {
    let mut lines = beginning(record);
    for result in &record.results {
        lines.push(headline(result));
        if !result.reason.is_empty() {
            lines.push(format!("    {}", in_words(&result.reason)));
        }
        lines.extend(traces(result));
    }
    lines.join("\n")
}

/// Writes a pass in short: its heading, and each item with its reason as recorded.
pub(super) fn pass(record: &Record) -> String {
    let mut lines = beginning(record);
    for result in &record.results {
        let reason = if result.reason.is_empty() { String::new() } else { format!(" ({})", result.reason) };
        lines.push(headline(result) + &reason);
        lines.extend(traces(result));
    }
    lines.join("\n")
}

fn beginning(record: &Record) -> Vec<String> {
    std::iter::once(heading(record)).chain(record.expected.as_ref().map(forecast)).collect()
}

/// Writes what a pass was expected to save and cost. The unit is what one character costs that is read from the cache.
pub(super) fn forecast(expected: &Expected) -> String {
    let each = match expected.saved_chars {
        saved if saved < 0 => format!("{} more", size(saved.unsigned_abs())),
        saved => format!("{} less", size(saved.unsigned_abs())),
    };
    let thinking = match expected.lost_thinking_chars {
        0 => String::new(),
        lost => format!(", {} of thinking dropped", size(lost)),
    };
    let sign = if expected.net_chars < 0 { "−" } else { "" };
    format!(
        "  expected: {each} in each request, {} written anew{thinking}; over {} worth {sign}{} characters read from \
         the cache",
        size(expected.rewritten_chars),
        plural(usize::try_from(expected.requests).unwrap_or(usize::MAX), "request"),
        size(expected.net_chars.unsigned_abs()),
    )
}

pub(super) fn size(chars: u64) -> String {
    short(usize::try_from(chars).unwrap_or(usize::MAX))
}

/// Names the moment of a pass.
pub(super) fn phase(record: &Record) -> &'static str {
    match record.phase {
        Phase::RunEnd => "run end",
        Phase::MidRun => "checkpoint",
    }
}

fn heading(record: &Record) -> String {
    let phase = phase(record);
    let seconds = decimal(record.ms as f64 / 1e3, 1);
    let late = if record.timed_out { ", timed out" } else { "" };
    let kinds = [
        (ItemKind::Large, "large output"),
        (ItemKind::Small, "small output"),
        (ItemKind::Exchange, "exchange"),
        (ItemKind::Image, "image result"),
    ];
    let counts: Vec<String> = kinds
        .into_iter()
        .filter_map(|(kind, noun)| {
            let count = record.results.iter().filter(|result| result.kind == kind).count();
            (count > 0).then(|| plural(count, noun))
        })
        .collect();
    let items = if counts.is_empty() { "no items".into() } else { counts.join(", ") };
    format!("{phase}, {seconds} s{late}: {items}.")
}

fn headline(result: &ItemResult) -> String {
    let outcome = match result.outcome {
        ItemOutcome::Distilled => "distilled",
        ItemOutcome::Removed => "removed",
        ItemOutcome::Kept => "kept",
    };
    let kind = match result.kind {
        ItemKind::Large => "large",
        ItemKind::Small => "small",
        ItemKind::Exchange => "exchange",
        ItemKind::Image => "image",
    };
    let before = size(result.before_chars);
    let sizes = match result.outcome {
        ItemOutcome::Kept => before,
        ItemOutcome::Distilled | ItemOutcome::Removed => format!("{before} → {}", size(result.after_chars)),
    };
    format!("  {outcome} {kind} {sizes} {}", result.label)
}

fn traces(result: &ItemResult) -> impl Iterator<Item = String> {
    result.jev.iter().map(|trace| format!("    {trace}"))
}

/// Puts the words of a reason into sentences; words of another version stay as they are.
fn in_words(reason: &str) -> String {
    reason.split(',').map(|word| sentence(word.trim())).collect::<Vec<_>>().join("; ")
}

fn sentence(reason: &str) -> &str {
    match reason {
        "chunks" => "only the parts that the work still needs stay",
        "none-needed" => "no part of it is needed any more",
        "whole-needed" => "all of it is needed",
        "whole-chosen" => "most of it is needed",
        "all-chunks" => "every part was found to be needed",
        "not-worth" => "too little would have gone",
        "oversize" => "a part is too big for one question",
        "needed" => "it is still needed",
        "not-needed" => "it is not needed any more",
        "relevant" => "it still bears on the current work",
        "unrelated" => "it has nothing to do with the current work",
        "deferred" => "the edit would not pay off yet",
        "recalled" => "the model asked for it twice, so its original is back",
        "no-answer" => "the classifier gave no usable answer",
        "error" => "the request failed",
        "timeout" => "the time was up",
        other => other,
    }
}
