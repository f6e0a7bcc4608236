//! Which tools an output's text came from: what `recall` gave back is still the text of the tool that made it.

use std::collections::BTreeSet;

use crate::contract::types::{Entry, EntryBody, Message, ToolCall, ToolResult};
use crate::label;
use crate::session::{Projection, call_of, prompts_on_branch};
use crate::settings::Settings;

/// Name of the tool that gives originals back.
pub(super) const RECALL: &str = "recall";

/// Returns whether the result of `recall` at that position of the branch holds text of an excluded tool: an output,
/// or an exchange with such an output in it.
///
/// Where its call is gone it can hold anything, so that counts as well.
pub(super) fn is_excluded(projection: Projection<'_>, position: usize, settings: &Settings) -> bool {
    let excluded = |tool: &str| settings.exclude_tools.iter().any(|excluded| excluded == tool);
    // What is given back stands before its result, so that each is looked at once.
    let mut unseen = BTreeSet::from([position]);
    while let Some(position) = unseen.pop_last() {
        let before = projection.branch().get(..position).unwrap_or_default();
        let Some(result) = projection.branch().get(position).and_then(as_result) else { continue };
        let call = call_of(before, result);
        let tool = result.tool_name.as_deref().or(call.map(|call| call.name.as_str())).unwrap_or_default();
        if excluded(tool) {
            return true;
        }
        if tool == RECALL {
            let Some(call) = call else { return true };
            unseen.extend(given_back(projection, call).into_iter().filter(|&given| given < position));
        }
    }
    false
}

/// Returns the positions of what a call of `recall` asked for: an entry, and of a prompt all up to the next one.
fn given_back(projection: Projection<'_>, call: &ToolCall) -> Vec<usize> {
    let arguments = label::object(Some(&call.arguments));
    let id = arguments.get("entryId").and_then(|id| id.as_str()).unwrap_or_default().trim();
    let Some(position) = projection.position(id) else { return vec![] };
    let branch = projection.branch();
    match branch.get(position).map(|entry| &entry.body) {
        Some(EntryBody::Message(Message::User(_))) => {
            let next = prompts_on_branch(branch).into_iter().find(|&prompt| prompt > position);
            (position..next.unwrap_or(branch.len())).collect()
        }
        _ => vec![position],
    }
}

fn as_result(entry: &Entry) -> Option<&ToolResult> {
    match &entry.body {
        EntryBody::Message(Message::ToolResult(result)) => Some(result),
        _ => None,
    }
}
