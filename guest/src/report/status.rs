//! The status bar.

use super::statistics::Statistics;
use crate::contract::sessions::{Circumstances, Span, Tone};
use crate::session::Mirror;
use crate::settings::Settings;
use crate::text::{short, short_whole};

/// What a problem is called that the status bar has no words for.
const UNKNOWN_PROBLEM: &str = "guard unavailable";

/// Returns the pieces of the status bar; `judging` says that a pass is under way.
pub fn status(
    mirror: &Mirror,
    settings: &Settings,
    circumstances: &Circumstances,
    judging: bool,
) -> Vec<Span> {
    if !settings.enabled {
        return vec![span("🛡 guard off", Tone::Dim)];
    }
    if judging {
        return vec![span("🛡 distilling…", Tone::Accent)];
    }
    if let Some(problem) = &circumstances.problem {
        return vec![span(format!("🛡 {}", known(problem)), Tone::Warning)];
    }
    if !circumstances.recall_active {
        return vec![span("🛡 recall inactive", Tone::Warning)];
    }
    saved(&Statistics::of(mirror))
}

fn span(text: impl Into<String>, tone: Tone) -> Span {
    Span { text: text.into(), tone }
}

/// Returns the problem where it is one that users can do something about, and a name for all others.
fn known(problem: &str) -> &str {
    let no_key = problem.strip_prefix("no ").and_then(|rest| rest.strip_suffix(" key"));
    let known = matches!(problem, "Jev model not found" | "network not allowed")
        || no_key.is_some_and(|provider| !provider.is_empty());
    if known { problem } else { UNKNOWN_PROBLEM }
}

fn saved(statistics: &Statistics) -> Vec<Span> {
    let (now, lifetime) = (statistics.saved_tokens(), statistics.lifetime_tokens());
    let total = if statistics.compacted && lifetime > now {
        format!(" · Σ−{}", short_whole(lifetime))
    } else {
        String::new()
    };
    if now > 0 {
        let rest = format!(" · {}{total}", statistics.count());
        return vec![span(format!("🛡 −{}", short(now)), Tone::Success), span(rest, Tone::Dim)];
    }
    let text = if total.is_empty() { "🛡 0 saved".into() } else { format!("🛡 0{total}") };
    vec![span(text, Tone::Dim)]
}
