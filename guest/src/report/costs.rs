//! What the edits cost and saved, by the provider's numbers; what would have been without them is an estimate.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::decisions::{forecast, phase, size};
use crate::cache::{Observation, Seen, Unseen, observe};
use crate::contract::types::{Model, Usage};
use crate::session::Mirror;
use crate::text::{cost, plural, short};

/// Passes that the ledger goes back.
const PASSES: usize = 10;

/// Writes the net of all passes with edits; nothing where there are none. `classifier_usd` is what all passes cost.
pub(super) fn net(mirror: &Mirror, model: Option<&Model>, classifier_usd: f64) -> Vec<String> {
    let observations = observe(mirror, model);
    let seen: Vec<&Seen> = observations.iter().filter_map(|one| one.outcome.as_ref().ok()).collect();
    let rest = match unseen(&observations) {
        passes if passes.is_empty() => passes,
        passes => format!(" Not counted: {passes}."),
    };
    if seen.is_empty() {
        return if rest.is_empty() { vec![] } else { vec![format!("Net so far: not known.{rest}")] };
    }
    let tokens = seen.iter().map(|seen| seen.net).sum();
    let usd = seen.iter().map(|seen| seen.net_usd).sum::<Option<f64>>();
    let sum = |count: fn(Usage) -> u64, usage: fn(&Seen) -> Usage| {
        size(seen.iter().map(|seen| count(usage(seen))).fold(0, u64::saturating_add))
    };
    let classifier = if classifier_usd > 0.0 {
        format!(", before the classifier's {}", cost(classifier_usd))
    } else {
        String::new()
    };
    let read = |usage: Usage| usage.cache_read;
    vec![
        format!("Net so far (estimate): {}{classifier}.", worth(tokens, usd)),
        format!(
            "  By the provider, requests just before {} read {} tokens from the cache and {} afresh, those just after \
             {} and {}.{rest}",
            plural(seen.len(), "edit"),
            sum(read, |seen| seen.before),
            sum(not_read, |seen| seen.before),
            sum(read, |seen| seen.after),
            sum(not_read, |seen| seen.after),
        ),
    ]
}

/// Names the passes that nothing can be said of, by reason.
fn unseen(observations: &[Observation<'_>]) -> String {
    let mut counts: BTreeMap<Unseen, usize> = BTreeMap::new();
    for observation in observations {
        if let Err(unseen) = observation.outcome {
            *counts.entry(unseen).or_default() += observation.passes.len();
        }
    }
    let one = |(unseen, count): (Unseen, usize)| {
        let passes = if count == 1 { "1 pass".into() } else { format!("{count} passes") };
        format!("{passes} ({})", why(unseen))
    };
    counts.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

fn why(unseen: Unseen) -> &'static str {
    match unseen {
        Unseen::Unreported => "the provider reports no cache numbers",
        Unseen::NoneSince => "no request since",
        Unseen::NoneBefore => "no request before",
        Unseen::OtherModel => "the model changed",
        Unseen::OtherContext => "the context was summarized at the same time",
    }
}

/// Writes for the last passes with edits what was expected and what was seen, newest first; none where there are none.
pub(super) fn by_pass(mirror: &Mirror, model: Option<&Model>) -> Option<String> {
    let observations = observe(mirror, model);
    let shown = observations.iter().rev().take(PASSES).flat_map(lines);
    let text = shown.collect::<Vec<_>>().join("\n");
    let heading = match observations.len() {
        0 => return None,
        count if count > PASSES => format!("The last {PASSES} of {count} edits, newest first:"),
        _ => "Edits, newest first:".into(),
    };
    Some(format!("{heading}\n{text}"))
}

fn lines(observation: &Observation<'_>) -> Vec<String> {
    let mut lines = vec![];
    for record in &observation.passes {
        lines.push(phase(record).to_owned());
        lines.push(record.expected.as_ref().map_or_else(|| "  expected: not on record".into(), forecast));
    }
    match &observation.outcome {
        Ok(seen) => lines.extend(sight(seen)),
        Err(unseen) => lines.push(format!("  seen: cannot be compared, {}", why(*unseen))),
    }
    lines
}

fn sight(seen: &Seen) -> [String; 2] {
    let extra = if seen.expired {
        "nothing written because of it, since the cache had expired".into()
    } else if seen.extra < 0.0 {
        format!("~{} less written", rounded(seen.extra))
    } else {
        format!("~{} more written", rounded(seen.extra))
    };
    let each = if seen.saved < 0.0 { "more" } else { "less" };
    let requests = match seen.requests {
        1 => "1 request".into(),
        count => format!("each of {count} requests"),
    };
    [
        format!("  seen: last request before {}; first after {}", prompt(seen.before), prompt(seen.after)),
        format!(
            "  estimate: ~{} tokens {each} in {requests} so far, {extra}; net {}",
            rounded(seen.saved),
            worth(seen.net, seen.net_usd),
        ),
    ]
}

fn prompt(usage: Usage) -> String {
    format!(
        "{} tokens read, {} written, {} neither",
        size(usage.cache_read),
        size(usage.cache_write),
        size(usage.input)
    )
}

/// Writes a net: in US dollars where the prices are known, and in tokens read from the cache, the unit of estimates.
fn worth(tokens: f64, usd: Option<f64>) -> String {
    let saved = if tokens < 0.0 { "lost" } else { "saved" };
    let tokens = rounded(tokens);
    match usd {
        Some(usd) => {
            format!("{} {saved} (as much as {tokens} tokens read from the cache cost)", cost(usd.abs()))
        }
        None => format!("as much {saved} as {tokens} tokens read from the cache cost"),
    }
}

/// Writes an amount without its sign.
fn rounded(tokens: f64) -> String {
    // A cast from a float saturates.
    short(tokens.abs().round() as usize)
}

fn not_read(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.cache_write)
}
