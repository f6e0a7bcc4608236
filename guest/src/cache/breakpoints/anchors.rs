//! Anchors: breakpoints around an edit that the model has not seen yet, so that what stands before it is read from
//! the cache and the next edit finds more of it there.

use crate::cache::CacheLog;
use crate::contract::types::{Entry, EntryBody, Message, Model, StopReason, Timestamp};
use crate::session::Mirror;

/// The call ids of the tool results to mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Anchors<'a> {
    /// Where the cache is known to hold everything up to the edit.
    pub(super) read: Option<&'a str>,
    /// The end of what was edited: the next checkpoint, which edits what came later, can read up to there.
    pub(super) write: Option<&'a str>,
}

impl<'a> Anchors<'a> {
    /// Returns the anchors for a request that leaves now; none where no edit is pending.
    pub(super) fn of(
        mirror: &'a Mirror,
        log: &CacheLog,
        model: &Model,
        now: Timestamp,
    ) -> Option<Anchors<'a>> {
        let pending = pending(mirror);
        let first = *pending.iter().min()?;
        let read = log.read_point(mirror, &model.name, first, now);
        let read = read.and_then(|at| call_id(mirror.branch().get(at)?));
        // An edit that begins with a prompt omits the exchange, and with it what could be marked.
        let is_result = |at: &usize| mirror.branch().get(*at).and_then(call_id).is_some();
        let last = pending.into_iter().filter(|_| is_result(&first)).filter(is_result).max();
        Some(Anchors { read, write: last.and_then(|last| batch_end(mirror.branch().get(last..)?)) })
    }
}

/// Returns the positions of the entries that an edit changed since the model last answered, whoever made the edit. A
/// reply that failed or was aborted is no answer: the next request repeats what it was asked.
fn pending(mirror: &Mirror) -> Vec<usize> {
    let answered = |entry: &Entry| {
        let EntryBody::Message(Message::Assistant(reply)) = &entry.body else { return false };
        !matches!(reply.stop_reason, StopReason::Error | StopReason::Aborted)
    };
    let since = mirror.branch().iter().rev().take_while(|entry| !answered(entry));
    let targets = since.filter_map(|entry| match &entry.body {
        EntryBody::Edit(target) => mirror.position(target),
        _ => None,
    });
    targets.collect()
}

/// Returns the call id of the last tool result of the batch that these entries begin with: parallel results are
/// one message of the request. None where they do not begin with a result.
fn batch_end(entries: &[Entry]) -> Option<&str> {
    call_id(entries.first()?)?;
    let batch = entries
        .iter()
        .take_while(|entry| call_id(entry).is_some() || !matches!(entry.body, EntryBody::Message(_)));
    batch.filter_map(call_id).last()
}

fn call_id(entry: &Entry) -> Option<&str> {
    match &entry.body {
        EntryBody::Message(Message::ToolResult(result)) => Some(&result.call_id),
        _ => None,
    }
}
