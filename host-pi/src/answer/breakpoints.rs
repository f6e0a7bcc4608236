//! Breakpoints are checked as well: one that the provider does not take would have it refuse the whole request.

use crate::contract::sessions::{Breakpoint, RequestBlock, RequestShape, Section};
use crate::log;
use serde_json::Value;

/// Breakpoints that Anthropic takes in one request.
const MOST: usize = 4;

/// What is wrong with an answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum Fault {
    #[error("there is no block {block} of message {message} in the {section:?}")]
    NoBlock { section: Section, message: u32, block: u32 },
    #[error("it changes the breakpoint of one block twice")]
    Twice,
    #[error("it marks a block of the kind {0:?} that cannot be marked")]
    Unmarkable(String),
    #[error("it sets something that is no breakpoint")]
    Unknown,
    #[error("it leaves {0} breakpoints of at most {MOST}")]
    TooMany(usize),
    #[error("it leaves a breakpoint of an hour behind one of five minutes")]
    Order,
}

/// Returns the answer if it can be applied to the request, and else none: the request then leaves as it is.
pub(crate) fn checked(shape: &RequestShape, answer: Vec<Breakpoint>) -> Vec<Breakpoint> {
    match check(shape, &answer) {
        Ok(()) => answer,
        Err(fault) => {
            log::line(format_args!("breakpoints dropped: {fault}"));
            Vec::new()
        }
    }
}

fn check(shape: &RequestShape, answer: &[Breakpoint]) -> Result<(), Fault> {
    if answer.is_empty() {
        return Ok(());
    }
    let mut request = Request::of(shape);
    for change in answer {
        let slot = request.slot(change)?;
        if std::mem::replace(&mut slot.changed, true) {
            return Err(Fault::Twice);
        }
        slot.control = change.cache_control.as_deref();
        if let Some(control) = slot.control {
            check_mark(slot.block, control)?;
        }
    }
    let hours: Vec<bool> = request
        .slots
        .iter()
        .filter_map(|slot| slot.control)
        .map(|control| is_hour(&parse(control)))
        .collect();
    if hours.len() > MOST {
        return Err(Fault::TooMany(hours.len()));
    }
    if hours.is_sorted_by(|one, next| one >= next) { Ok(()) } else { Err(Fault::Order) }
}

/// Anthropic takes no breakpoint on empty text and on thinking.
fn check_mark(block: &RequestBlock, control: &str) -> Result<(), Fault> {
    let markable = match block.kind.as_str() {
        "text" => block.has_text,
        "thinking" | "redacted_thinking" => false,
        _ => true,
    };
    if !markable {
        return Err(Fault::Unmarkable(block.kind.clone()));
    }
    let value = parse(control);
    let known_lifetime = value["ttl"].is_null() || value["ttl"] == "5m" || is_hour(&value);
    if value["type"] == "ephemeral" && known_lifetime { Ok(()) } else { Err(Fault::Unknown) }
}

fn parse(control: &str) -> Value {
    serde_json::from_str(control).unwrap_or_default()
}

fn is_hour(control: &Value) -> bool {
    control["ttl"] == "1h"
}

/// The blocks of a request in the order in which the provider reads them.
struct Request<'a> {
    slots: Vec<Slot<'a>>,
    /// Where the tools end, the system prompt, and each message.
    ends: Vec<usize>,
}

struct Slot<'a> {
    block: &'a RequestBlock,
    control: Option<&'a str>,
    changed: bool,
}

impl<'a> Request<'a> {
    fn of(shape: &'a RequestShape) -> Self {
        let mut request = Self { slots: Vec::new(), ends: Vec::new() };
        let messages = shape.messages.iter().map(|message| &message.blocks);
        for part in [&shape.tools, &shape.system].into_iter().chain(messages) {
            let slot = |block: &'a RequestBlock| {
                let control = block.cache_control.as_deref();
                Slot { block, control, changed: false }
            };
            request.slots.extend(part.iter().map(slot));
            request.ends.push(request.slots.len());
        }
        request
    }

    fn slot(&mut self, change: &Breakpoint) -> Result<&mut Slot<'a>, Fault> {
        let Breakpoint { section, message, block, .. } = *change;
        let none = Fault::NoBlock { section, message, block };
        let part = match section {
            Section::Messages => (message as usize).checked_add(2),
            Section::Tools => (message == 0).then_some(0),
            Section::System => (message == 0).then_some(1),
        };
        let Some(part) = part else { return Err(none) };
        let start = part.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let place = start.checked_add(block as usize);
        let end = self.ends.get(part).copied().unwrap_or(0);
        place.filter(|place| *place < end).and_then(|place| self.slots.get_mut(place)).ok_or(none)
    }
}

#[cfg(test)]
mod tests;
