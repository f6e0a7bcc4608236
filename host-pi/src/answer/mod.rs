//! Answers of the guest are checked before anything is applied: a guest gone wrong must not break a session.

mod breakpoints;
mod mirror;

pub(crate) use breakpoints::checked as checked_breakpoints;
pub(crate) use mirror::Mirror;

use crate::contract::sessions::{Edit, Outcome, Part};
use mirror::{Context, Facts};
use std::collections::{HashMap, HashSet};

/// What is wrong with an answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("it edits {0:?}, which is not on the branch")]
    NotOnBranch(String),
    #[error("it edits {0:?}, which no edit can reach")]
    NotEditable(String),
    #[error("it points to block {block} of {id:?}, which has {blocks}")]
    NoBlock { id: String, block: u32, blocks: usize },
    #[error("it puts text into {0:?}, an answer of the model")]
    TextInAnswer(String),
    #[error("it replaces {0:?} by nothing")]
    Nothing(String),
    #[error("it repeats a tool call of {0:?}")]
    RepeatedCall(String),
    #[error("it leaves a tool call of {0:?} without its result")]
    CallAlone(String),
    #[error("it leaves the tool result {0:?} without its call")]
    ResultAlone(String),
    #[error("it makes {0} edits, and {1} are the most")]
    TooMany(usize, usize),
}

/// Returns the outcome if it can be applied, and else one without edits that says why. `most` is how many edits one
/// pass may make.
pub(crate) fn checked(mirror: &Mirror, outcome: Outcome, most: usize) -> Outcome {
    let count = outcome.edits.len();
    let sound = if count > most { Err(Fault::TooMany(count, most)) } else { check(mirror, &outcome.edits) };
    match sound {
        Ok(()) => outcome,
        // The record goes too: it tells of edits that will not be.
        Err(fault) => Outcome {
            edits: Vec::new(),
            guard_record: None,
            warnings: vec![format!("nothing was changed, since the guard's answer was wrong: {fault}")],
        },
    }
}

fn check(mirror: &Mirror, edits: &[Edit]) -> Result<(), Fault> {
    for edit in edits {
        check_edit(mirror, edit)?;
    }
    // Of several edits of one entry the last is in force.
    let edits: HashMap<&str, Option<&[Part]>> =
        edits.iter().map(|edit| (edit.target.as_str(), edit.replacement.as_deref())).collect();
    check_calls(mirror, &edits)
}

fn check_edit(mirror: &Mirror, Edit { target, replacement }: &Edit) -> Result<(), Fault> {
    let facts = mirror.facts(target).ok_or_else(|| Fault::NotOnBranch(target.clone()))?;
    let blocks = facts.blocks().ok_or_else(|| Fault::NotEditable(target.clone()))?;
    let Some(parts) = replacement else { return Ok(()) };
    if parts.is_empty() {
        return Err(Fault::Nothing(target.clone()));
    }
    let mut calls = HashSet::new();
    for part in parts {
        match (part, facts) {
            (Part::Text(_), Facts::Assistant { .. }) => return Err(Fault::TextInAnswer(target.clone())),
            (Part::Recorded(block), _) if *block as usize >= blocks => {
                return Err(Fault::NoBlock { id: target.clone(), block: *block, blocks });
            }
            (Part::Recorded(block), _) => {
                if facts.call(*block).is_some_and(|call| !calls.insert(call)) {
                    return Err(Fault::RepeatedCall(target.clone()));
                }
            }
            (Part::Text(_), _) => {}
        }
    }
    Ok(())
}

/// A call with the results that belong to it, as they are in the context now and as they would be.
struct Call<'a> {
    entry: &'a str,
    call: Visibility,
    /// The last one that was recorded, if any.
    result_entry: Option<&'a str>,
    result: Visibility,
}

#[derive(Clone, Copy, Default)]
struct Visibility {
    now: bool,
    then: bool,
}

impl Call<'_> {
    fn fault(&self) -> Option<Fault> {
        let result_entry = self.result_entry?;
        let (call, result) = (self.call, self.result);
        // Who stands alone already is left alone.
        let (lone_call, lone_result) = (call.now && !result.now, result.now && !call.now);
        if call.then && !result.then && !lone_call {
            return Some(Fault::CallAlone(self.entry.into()));
        }
        let alone = result.then && !call.then && !lone_result;
        alone.then(|| Fault::ResultAlone(result_entry.into()))
    }
}

/// A call and its result stay together, go together and come back together.
fn check_calls(mirror: &Mirror, edits: &HashMap<&str, Option<&[Part]>>) -> Result<(), Fault> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    // Some providers use the same IDs in every answer: a result belongs to the latest call of that ID.
    let mut latest: HashMap<&str, usize> = HashMap::new();
    for Context { id, view } in mirror.context() {
        let edit = edits.get(id.as_str()).copied();
        match mirror.facts(id) {
            Some(facts @ Facts::Assistant { .. }) => {
                for call in facts.calls() {
                    let holds = |part: &Part| matches!(part, Part::Recorded(block) if facts.call(*block) == Some(call));
                    let now = view.shows(call);
                    let then = edit.map_or(now, |parts| parts.is_some_and(|parts| parts.iter().any(holds)));
                    latest.insert(call, calls.len());
                    let call = Visibility { now, then };
                    calls.push(Call { entry: id, call, result_entry: None, result: Visibility::default() });
                }
            }
            Some(Facts::ToolResult { call, .. }) => {
                if let Some(call) = latest.get(call.as_str()).and_then(|place| calls.get_mut(*place)) {
                    let now = !view.is_omitted();
                    call.result_entry = Some(id);
                    call.result.now |= now;
                    call.result.then |= edit.map_or(now, |parts| parts.is_some());
                }
            }
            _ => {}
        }
    }
    calls.iter().find_map(Call::fault).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
