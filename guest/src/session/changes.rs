//! Sessions that change step by step, for properties of what is kept up to date by deltas.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::fixtures::*;
use crate::contract::sessions::Delta;
use crate::contract::types::{Entry, StopReason, View, Visible};

/// Reasons with which an exchange was kept.
const REASONS: [&str; 4] = ["relevant", "deferred", "timeout", "deferred,error"];

pub(super) fn delta(keep_branch: u32, branch: Vec<Entry>, keep_context: u32, context: Vec<Visible>) -> Delta {
    Delta { keep_branch, branch, keep_context, context }
}

pub(super) fn visible(id: &str) -> Visible {
    Visible { id: id.into(), view: View::AsRecorded }
}

pub(super) fn entries(items: impl IntoIterator<Item = Item>) -> Vec<Entry> {
    whole(items).branch
}

/// A session as the host holds it.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) branch: Vec<Entry>,
    pub(super) context: Vec<Visible>,
}

impl State {
    /// What changed between two states, as a host finds it.
    pub(super) fn since(&self, old: &State) -> Delta {
        fn common<T: PartialEq>(old: &[T], new: &[T]) -> usize {
            old.iter().zip(new).take_while(|(old, new)| old == new).count()
        }
        let branch = common(&old.branch, &self.branch);
        let context = common(&old.context, &self.context);
        delta(
            u32::try_from(branch).unwrap(),
            self.branch[branch..].to_vec(),
            u32::try_from(context).unwrap(),
            self.context[context..].to_vec(),
        )
    }
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Say(&'static str),
    /// A reply with a call of one of a few ids, so that some come again; true breaks it off.
    Call(u8, bool),
    /// A result of such a call, where it is one; true shows an image.
    Result(u8, bool),
    Answer,
    Shell,
    Edit(Index, bool),
    Pass(Index),
    /// A record at run end or, where it is true, of a checkpoint that tells of an exchange.
    Judge(Index, bool, &'static str),
    Back(Index),
    Compact(Index),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![Just("hi"), Just("[context-guard] x")].prop_map(Step::Say),
        4 => (0u8..4, prop::bool::weighted(0.1)).prop_map(|(call, broken)| Step::Call(call, broken)),
        4 => (0u8..4, any::<bool>()).prop_map(|(call, image)| Step::Result(call, image)),
        3 => Just(Step::Answer),
        1 => Just(Step::Shell),
        2 => (any::<Index>(), any::<bool>()).prop_map(|(target, omit)| Step::Edit(target, omit)),
        2 => any::<Index>().prop_map(Step::Pass),
        2 => (any::<Index>(), any::<bool>(), prop::sample::select(&REASONS[..]))
            .prop_map(|(target, checkpoint, reason)| Step::Judge(target, checkpoint, reason)),
        1 => any::<Index>().prop_map(Step::Back),
        1 => any::<Index>().prop_map(Step::Compact),
    ]
}

/// Plays the steps and returns the session after each of them.
pub(super) fn play(steps: Vec<Step>) -> Vec<State> {
    let mut states = vec![State::default()];
    for (round, step) in steps.into_iter().enumerate() {
        let mut state = states.last().cloned().unwrap();
        let named = |item: Item, part: usize| entries([item.id(&format!("{round}.{part}"))]).remove(0);
        let edited = |state: &mut State, target: Index, view: View| {
            let at = target.index(state.context.len());
            state.context[at].view = view;
            state.context[at].id.clone()
        };
        match step {
            Step::Say(text) => say(&mut state, named(u(text), 0)),
            Step::Call(call, broken) => {
                let reply = a("Looking.").block(thinking("hm", u32::from(call))).call(
                    &format!("c{call}"),
                    "bash",
                    "{}",
                );
                let reply = if broken { reply.stop(StopReason::Aborted) } else { reply };
                say(&mut state, named(reply, 0));
            }
            Step::Result(call, image) => {
                let result = r(&format!("c{call}"), "output");
                let result = if image { result.block(png(900, 900)) } else { result };
                say(&mut state, named(result, 0));
            }
            Step::Answer => say(&mut state, named(a("Done."), 0)),
            Step::Shell => say(&mut state, named(fixed(30), 0)),
            Step::Edit(target, omit) if !state.context.is_empty() => {
                let view = if omit { View::Omitted } else { View::Replaced(vec![]) };
                let id = edited(&mut state, target, view);
                state.branch.push(named(edit(&id), 0));
            }
            Step::Pass(target) if !state.context.is_empty() => {
                let id = edited(&mut state, target, View::Omitted);
                let pass = guard_pass(&[(&id, "removed")]);
                state.branch.extend(pass.into_iter().enumerate().map(|(part, item)| named(item, part)));
            }
            Step::Judge(target, checkpoint, reason) if !state.context.is_empty() => {
                let id = &state.context[target.index(state.context.len())].id;
                let result =
                    json!({ "kind": "exchange", "entryId": id, "outcome": "kept", "reason": reason });
                let phase = if checkpoint { "mid-run" } else { "run-end" };
                let written = json!({ "v": 1, "phase": phase, "results": [result] });
                state.branch.push(named(record(&written.to_string()), 0));
            }
            Step::Back(to) => {
                state.branch.truncate(to.index(state.branch.len() + 1));
                state.context.retain(|item| state.branch.iter().any(|entry| entry.id == item.id));
            }
            Step::Compact(to) => {
                state.context.drain(..to.index(state.context.len() + 1));
                state.context.insert(0, visible(&format!("{round}.0")));
                state.branch.push(named(compaction("so far"), 0));
            }
            Step::Edit(..) | Step::Pass(_) | Step::Judge(..) => {}
        }
        states.push(state);
    }
    states
}

fn say(state: &mut State, entry: Entry) {
    state.context.push(visible(&entry.id));
    state.branch.push(entry);
}
