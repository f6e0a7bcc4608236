//! What `/guard` shows: the switch, the savings, the work done, the net so far and the last pass.

use super::statistics::Statistics;
use super::{costs, decisions};
use crate::contract::sessions::Circumstances;
use crate::contract::types::Model;
use crate::session::Mirror;
use crate::settings::Settings;
use crate::text::{cost, plural, short, short_whole};

/// Why nothing happens while the model cannot call `recall`, and what to do about it.
pub(super) const RECALL_INACTIVE: &str =
    "Nothing is replaced: the tool `recall` is not active, so the model could not get it back.";
const RECALL_REMEDY: &str = "In Pi, name it in `--tools` and not in `--exclude-tools`; an extension that chooses the \
                             tools has to leave it in.";

/// Writes the overview, one line for each subject.
pub(super) fn overview(
    mirror: &Mirror,
    settings: &Settings,
    circumstances: &Circumstances,
    model: Option<&Model>,
) -> String {
    let statistics = Statistics::of(mirror);
    let mut lines = vec![switch(settings, circumstances)];
    if settings.enabled && !circumstances.recall_active {
        lines.push(format!("{RECALL_INACTIVE} {RECALL_REMEDY}"));
    }
    lines.push(savings(&statistics));
    if statistics.compacted {
        let lifetime = short_whole(statistics.lifetime_tokens());
        lines.push(format!("Since the start: ~{lifetime} tokens; a compaction dropped earlier edits."));
    }
    lines.push(work(&statistics));
    lines.extend(costs::net(mirror, model, statistics.cost_usd));
    lines.push(rules(settings));
    match mirror.records().last() {
        Some((_, record)) => lines.push(format!("Last pass: {}", decisions::pass(record))),
        None => lines.push("Last pass: none on this branch.".into()),
    }
    lines.join("\n")
}

fn switch(settings: &Settings, circumstances: &Circumstances) -> String {
    let problem = match (&circumstances.problem, settings.enabled) {
        (Some(problem), true) => format!(" ({problem})"),
        _ => String::new(),
    };
    let heuristic = if settings.model.starts_with("builtin/") {
        " (built in: a heuristic that compares words, no model)"
    } else {
        ""
    };
    let state = if settings.enabled { "on" } else { "off" };
    format!("Context guard {state}{problem}, classifier {}{heuristic}.", settings.model)
}

fn savings(statistics: &Statistics) -> String {
    format!(
        "Saved now: ~{} tokens ({} characters) by {}, {} and {}.",
        short(statistics.saved_tokens()),
        short(statistics.saved_chars),
        plural(statistics.distilled_outputs, "distilled output"),
        plural(statistics.image_results, "image result"),
        plural(statistics.omitted_exchanges, "omitted exchange"),
    )
}

fn work(statistics: &Statistics) -> String {
    let passes = match statistics.run_ends {
        1 => "1 run-end pass".into(),
        count => format!("{count} run-end passes"),
    };
    format!(
        "On this branch: {passes}, {}, {}, {}.",
        plural(statistics.checkpoints, "checkpoint"),
        plural(usize::try_from(statistics.requests).unwrap_or(usize::MAX), "request"),
        cost(statistics.cost_usd),
    )
}

fn rules(settings: &Settings) -> String {
    let exchanges = match (settings.judges_exchanges(), settings.keep_recent_exchanges) {
        (false, _) => "kept".into(),
        (true, 0) => "judged".into(),
        (true, recent) => format!("judged, all but the last {recent}"),
    };
    let images = match settings.image_keep_turns {
        0 => "kept".into(),
        turns => format!("removed after {}", plural(turns as usize, "turn")),
    };
    format!("{}; exchanges {exchanges}; images {images}.", checkpoints(settings))
}

fn checkpoints(settings: &Settings) -> String {
    if !settings.mid_run {
        return "No checkpoints".into();
    }
    let (batch, codex) = (settings.mid_run_batch_chars, settings.mid_run_batch_chars_openai);
    let codex = if codex == batch { String::new() } else { format!(" ({} on Codex)", short(codex)) };
    format!(
        "Checkpoints from {} characters{codex} of outputs that are {} old",
        short(batch),
        plural(settings.mid_run_min_age_turns as usize, "turn"),
    )
}
