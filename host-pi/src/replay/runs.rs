//! Where the runs of a session ended, and how.

use super::mapping::{Recorded, Role};
use crate::contract::types::Assistant;
use crate::contract::types::{Block, EntryBody, Message, StopReason};

/// Characters of a prompt that are kept to name the run by; a table has no room for more.
const QUESTION: usize = 200;

/// A prompt and what it led to.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    /// How the prompt begins.
    pub(super) question: String,
    /// The places on the branch where checkpoints belong: so many entries come before each.
    pub(super) turns: Vec<usize>,
    /// The place on the branch where the run-end pass belongs, likewise.
    pub(super) end: usize,
    pub(super) ending: Ending,
}

/// How a run ended. A pass belongs to the end of a completed one only.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    Completed,
    /// The user stopped its last reply.
    Aborted,
    /// Its last reply came to an error.
    Failed,
    /// There is no last reply, or it calls tools.
    Open,
}

/// Finds the runs of a branch. A user message opens one unless it steers work under way, as the guard sees it: after
/// a tool result, or after a reply whose calls have no result yet.
pub(super) fn runs(branch: &[Recorded]) -> Vec<Run> {
    let prompts = prompts(branch);
    let ends = prompts.iter().skip(1).copied().chain([branch.len()]);
    prompts.iter().zip(ends).map(|(start, end)| run(branch, *start, end)).collect()
}

fn prompts(branch: &[Recorded]) -> Vec<usize> {
    let mut prompts = Vec::new();
    let mut under_way = false;
    for (place, recorded) in branch.iter().enumerate() {
        match &recorded.entry.body {
            EntryBody::Message(Message::User(_)) if !under_way => prompts.push(place),
            EntryBody::Message(Message::ToolResult(_)) => under_way = true,
            EntryBody::Message(Message::Assistant(reply)) => under_way = self::under_way(reply),
            _ => {}
        }
    }
    prompts
}

fn run(branch: &[Recorded], start: usize, end: usize) -> Run {
    let span = branch.get(start..end).unwrap_or_default();
    let last = span.iter().enumerate().rev().find_map(|(place, recorded)| match &recorded.entry.body {
        EntryBody::Message(Message::Assistant(reply)) => Some((place, reply)),
        _ => None,
    });
    let ending = match last {
        None => Ending::Open,
        Some((_, reply)) => match reply.stop_reason {
            StopReason::Aborted => Ending::Aborted,
            StopReason::Error => Ending::Failed,
            _ if calls(&reply.blocks) => Ending::Open,
            _ => Ending::Completed,
        },
    };
    let replied = last.map_or(span.len(), |(place, _)| place + 1);
    let rest = span.get(replied..).unwrap_or_default();
    Run {
        question: question(branch.get(start)),
        turns: turns(span).into_iter().map(|end| start + end).collect(),
        end: start + replied + compacted(rest),
        ending,
    }
}

/// Returns where the turns of a run end that another one follows: behind the last result of a reply's calls.
fn turns(span: &[Recorded]) -> Vec<usize> {
    let calling = span.iter().enumerate().filter_map(|(place, recorded)| match &recorded.entry.body {
        EntryBody::Message(Message::Assistant(reply)) if under_way(reply) => Some((place, reply)),
        _ => None,
    });
    calling.filter_map(|(place, reply)| answered(span, place + 1, reply)).collect()
}

/// Returns the place behind the results of all calls of a reply; none where one is missing.
fn answered(span: &[Recorded], start: usize, reply: &Assistant) -> Option<usize> {
    let is_call = |block: &&Block| matches!(block, Block::ToolCall(_));
    let mut missing = reply.blocks.iter().filter(is_call).count();
    for (place, recorded) in span.iter().enumerate().skip(start) {
        match &recorded.entry.body {
            EntryBody::Message(Message::ToolResult(_)) => missing -= 1,
            EntryBody::Message(Message::Assistant(_) | Message::User(_)) => return None,
            _ => {}
        }
        if missing == 0 {
            return Some(place + 1);
        }
    }
    None
}

fn under_way(reply: &Assistant) -> bool {
    calls(&reply.blocks) && !matches!(reply.stop_reason, StopReason::Aborted | StopReason::Error)
}

/// Pi compacts a context that has become too large before it lets the run settle, so that the pass comes after it. A
/// compaction that the user asked for later cannot be told from that one.
fn compacted(after_reply: &[Recorded]) -> usize {
    let next = after_reply.iter().position(|recorded| recorded.role != Role::Unseen);
    let Some(next) = next else { return 0 };
    let is_compaction =
        after_reply.get(next).is_some_and(|recorded| matches!(recorded.role, Role::Compaction { .. }));
    if is_compaction { next + 1 } else { 0 }
}

fn calls(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
}

fn question(prompt: Option<&Recorded>) -> String {
    let Some(EntryBody::Message(Message::User(blocks))) = prompt.map(|prompt| &prompt.entry.body) else {
        return String::new();
    };
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let words = texts.flat_map(str::split_whitespace).take(QUESTION).collect::<Vec<_>>().join(" ");
    words.chars().take(QUESTION).collect()
}
