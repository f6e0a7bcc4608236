//! What the model is shown instead: of each kind the replacement that saves most.

use super::look::{self, Look};
use super::record::Kind;
use super::report::{Item, Report};
use std::fmt::Write;

/// Lines that are shown from the start and from the end of a replacement: what failed stands at the end.
const START: usize = 5;
const END: usize = 11;

/// Shows the replacements that save most, a large output's last since it is the longest.
pub(super) fn notes(report: &Report, look: Look) -> String {
    let mut text = String::new();
    for kind in [Kind::Small, Kind::Exchange, Kind::Image, Kind::Large] {
        let passes = report.runs.iter().flat_map(|run| run.passes().map(|pass| (run.number, pass)));
        let items = passes.flat_map(|(number, pass)| pass.items.iter().map(move |item| (number, item)));
        let shown = items.filter(|(_, item)| item.kind == kind);
        let shown = shown.filter_map(|(number, item)| Some((number, item, item.replacement.as_ref()?)));
        if let Some((number, item, replacement)) = shown.max_by_key(|(_, item, _)| item.saved_chars()) {
            let _ = write!(text, "\n{}", note(number, item, replacement, look));
        }
    }
    text
}

fn note(number: usize, item: &Item, replacement: &str, look: Look) -> String {
    let of = if item.kind == Kind::Exchange { "exchange " } else { "" };
    let title = look::cut(&format!("instead of {of}{}", look::line(&item.label)), look.width);
    let mut text = format!("{}\n", look.bold(&title));
    // Blank lines say nothing in an excerpt.
    let lines: Vec<&str> = replacement.lines().filter(|line| !line.trim().is_empty()).collect();
    let left_out = lines.len().saturating_sub(START + END);
    for (at, line) in lines.into_iter().enumerate() {
        let line = look::line(line);
        let _ = match at {
            0 => writeln!(text, "{}", look.wrapped("  ", &line)),
            START if left_out > 0 => {
                let rest = format!("  … {}; --run {number} shows all", look::plural(left_out, "more line"));
                writeln!(text, "{}", look.dim(&rest))
            }
            at if (START..START + left_out).contains(&at) => Ok(()),
            _ => writeln!(text, "{}", look::cut(&format!("  {line}"), look.width).trim_end()),
        };
    }
    text
}
