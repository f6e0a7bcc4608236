//! What the guard knows to be in Anthropic's cache: the tool results whose end a request marked.

use crate::contract::types::{Entry, EntryBody, Message, Model, Timestamp, Usage};
use crate::session::{Mirror, message_size};

#[cfg(test)]
mod tests;

/// Most entries of the log; the newest stay.
const MOST: usize = 200;

/// A cached prefix that ends with a tool result.
#[derive(Clone, Debug, PartialEq)]
struct Written {
    /// The tool result.
    entry: String,
    /// `provider/model`.
    model: String,
    /// When it was last written or read.
    time: Timestamp,
    /// How long the breakpoint that wrote it has it live unused, in milliseconds.
    lifetime: u64,
    /// The last entry of the branch when it was written.
    leaf: String,
}

impl Written {
    fn lives(&self, now: Timestamp, warm: u64) -> bool {
        now.saturating_sub(self.time) <= self.lifetime.max(warm)
    }
}

/// The last request that waits for its response.
#[derive(Clone, Debug, PartialEq)]
struct Sent {
    model: String,
    time: Timestamp,
}

/// Which prefixes of the session requests have put into the cache, and until when they are there.
///
/// It lives in memory alone: after a restart nothing is known until a request was sent.
#[derive(Clone, Debug, Default)]
pub struct CacheLog {
    written: Vec<Written>,
    sent: Option<Sent>,
    /// How long the host keeps what is unused, in milliseconds, as the last request told.
    warm: u64,
}

impl CacheLog {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = CacheLog::default();
    }

    /// Takes note of a request that leaves now. `marked` are the call ids of the tool results that carry a
    /// breakpoint in it, each with the lifetime of that breakpoint in milliseconds.
    ///
    /// An entry of the cache lives as long as the breakpoint that wrote it says, or as long as the host keeps it warm,
    /// which `model` tells. A replay renews what it marks, but no response to it will be told.
    pub fn sent(
        &mut self,
        mirror: &Mirror,
        model: &Model,
        marked: &[(&str, u64)],
        replay: bool,
        now: Timestamp,
    ) {
        if !replay {
            self.sent = Some(Sent { model: model.name.clone(), time: now });
        }
        self.warm = u64::from(model.cache_lifetime) * 1_000;
        self.written.retain(|written| written.lives(now, self.warm));
        let Some(leaf) = mirror.branch().last() else { return };
        for (entry, lifetime) in results(mirror, marked) {
            self.written.retain(|written| written.entry != entry.id || written.model != model.name);
            self.written.push(Written {
                entry: entry.id.clone(),
                model: model.name.clone(),
                time: now,
                lifetime,
                leaf: leaf.id.clone(),
            });
        }
        let surplus = self.written.len().saturating_sub(MOST);
        self.written.drain(..surplus);
    }

    /// Returns the position on the branch of the last tool result before `before` up to which `model` is known to
    /// have the context in its cache, as the next request will send it.
    ///
    /// Known is what was written or read within its lifetime, on this branch, if nothing at or before it changed since:
    /// no summary replaced it, and no edit reached back that far.
    pub fn read_point(&self, mirror: &Mirror, model: &str, before: usize, now: Timestamp) -> Option<usize> {
        self.intact(mirror, model)
            .into_iter()
            .filter(|&(at, position)| position < before && self.written[at].lives(now, self.warm))
            .map(|(_, position)| position)
            .max()
    }

    /// Takes note of what the response to the last request read from the cache: reading a prefix renews the entries
    /// of all shorter ones.
    ///
    /// How many tokens a prefix has is not told, so it is taken from the response to the run's first request, which
    /// ended with the prompt, and the characters since then. 1.5 characters for a token are fewer than code (about 2.3)
    /// or prose (about 4) has, so that the needed count errs upwards and an entry is rather forgotten than trusted.
    pub fn responded(&mut self, mirror: &Mirror, model: &str, usage: Usage) {
        let Some(sent) = self.sent.take().filter(|sent| sent.model == model) else { return };
        if self.written.is_empty() {
            return;
        }
        let Some(baseline) = baseline(mirror).filter(|&baseline| baseline > 0) else { return };
        let Some(beyond) = usage.cache_read.checked_sub(baseline).filter(|&beyond| beyond > 0) else {
            return;
        };
        let projection = mirror.projection();
        let Some(user) = projection.last_user() else { return };

        // By index after the user message: the characters up to there.
        let mut sizes = vec![];
        let mut size = 0u64;
        for item in projection.after(user).iter() {
            size = size.saturating_add(item.shown().map_or(0, |shown| message_size(&shown) as u64));
            sizes.push(size);
        }
        for (at, _) in self.intact(mirror, model) {
            let written = &mut self.written[at];
            let place = mirror.index(&written.entry).and_then(|index| index.checked_sub(user + 1));
            let Some(&size) = place.and_then(|place| sizes.get(place)) else { continue };
            // size / 1.5 tokens, without fractions
            if written.time < sent.time && beyond.saturating_mul(3) >= size.saturating_mul(2) {
                written.time = sent.time;
            }
        }
    }

    /// Returns which entries of the log still describe the context, each with its position on the branch.
    ///
    /// One walk over what the branch has gained since the oldest of them serves all.
    fn intact(&self, mirror: &Mirror, model: &str) -> Vec<(usize, usize)> {
        let mut candidates: Vec<(usize, usize, usize)> = vec![];
        for (at, written) in self.written.iter().enumerate().filter(|(_, written)| written.model == model) {
            let (Some(leaf), Some(position)) =
                (mirror.position(&written.leaf), mirror.position(&written.entry))
            else {
                continue;
            };
            candidates.push((leaf, at, position));
        }
        candidates.sort_unstable_by(|one, other| other.cmp(one));

        let mut intact = vec![];
        let mut walked = mirror.branch().len();
        // Everything from here on was changed since the walk's place.
        let mut changed = usize::MAX;
        for (leaf, at, position) in candidates {
            while walked > leaf + 1 {
                walked -= 1;
                changed = changed.min(match &mirror.branch()[walked].body {
                    EntryBody::Compaction(_) | EntryBody::BranchSummary(_) => 0,
                    EntryBody::Edit(target) => mirror.position(target).unwrap_or(0),
                    EntryBody::Message(_) | EntryBody::GuardRecord(_) | EntryBody::Other => usize::MAX,
                });
            }
            if position < changed {
                intact.push((at, position));
            }
        }
        intact
    }
}

/// Finds the tool results with these call ids, the newest of each id, in one walk back from the end.
fn results<'a>(mirror: &'a Mirror, marked: &[(&str, u64)]) -> Vec<(&'a Entry, u64)> {
    let mut wanted = marked.to_vec();
    let mut found = vec![];
    for entry in mirror.branch().iter().rev() {
        if wanted.is_empty() {
            break;
        }
        let EntryBody::Message(Message::ToolResult(result)) = &entry.body else { continue };
        if let Some(at) = wanted.iter().position(|(id, _)| super::is_call_id(id, &result.call_id)) {
            found.push((entry, wanted.swap_remove(at).1));
        }
    }
    found
}

/// Returns the prompt tokens of the first request after the last user message, if it was answered.
fn baseline(mirror: &Mirror) -> Option<u64> {
    let branch = mirror.branch();
    let user = branch.iter().rposition(|entry| matches!(entry.body, EntryBody::Message(Message::User(_))))?;
    let usage = branch[user..].iter().find_map(|entry| match &entry.body {
        EntryBody::Message(Message::Assistant(reply)) => Some(reply.usage),
        _ => None,
    })??;
    Some(usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write))
}
