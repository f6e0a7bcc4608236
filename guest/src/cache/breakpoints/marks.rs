//! The cache breakpoints of one request, in the order in which the provider reads its parts.

use serde_json::{Map, Value};

use crate::contract::sessions::{Breakpoint, RequestBlock, RequestShape, Section};

/// How long an entry of the cache lives unused. Longer ones must come before shorter ones in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ttl {
    FiveMinutes,
    Hour,
}

impl Ttl {
    const ALL: [Ttl; 2] = [Ttl::FiveMinutes, Ttl::Hour];
    const KEY: &str = "ttl";
    const HOUR: &str = "1h";

    /// Reads the lifetime that a breakpoint asks for; five minutes is what counts without one.
    fn of(cache_control: &str) -> Ttl {
        let value: Value = serde_json::from_str(cache_control).unwrap_or_default();
        if value[Self::KEY] == Self::HOUR { Ttl::Hour } else { Ttl::FiveMinutes }
    }

    pub(super) fn milliseconds(self) -> u64 {
        match self {
            Ttl::FiveMinutes => 5 * 60_000,
            Ttl::Hour => 60 * 60_000,
        }
    }
}

/// Where a block stands; the order is the provider's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Tool(usize),
    System(usize),
    /// Indices of the message and of the block in it.
    Message(usize, usize),
}

/// What a breakpoint of the guard is for, the least important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// The next edit can read up to here.
    Write,
    /// What stands before the edit is read from the cache.
    Read,
    /// What stands before the run's outputs stays readable when these are edited.
    Question,
}

/// One breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) place: Place,
    pub(super) ttl: Ttl,
    /// None for one that the request came with.
    pub(super) purpose: Option<Purpose>,
}

/// All breakpoints of a request.
#[derive(Clone, Debug)]
pub(super) struct Marks<'a> {
    shape: &'a RequestShape,
    /// In the order of their places.
    marks: Vec<Mark>,
    removed: Vec<Place>,
}

impl<'a> Marks<'a> {
    /// Reads the breakpoints that a request comes with.
    pub(super) fn of(shape: &'a RequestShape) -> Self {
        let mut marks = vec![];
        let mut read = |place: Place, block: &RequestBlock| {
            let Some(control) = &block.cache_control else { return };
            marks.push(Mark { place, ttl: Ttl::of(control), purpose: None });
        };
        shape.tools.iter().enumerate().for_each(|(at, block)| read(Place::Tool(at), block));
        shape.system.iter().enumerate().for_each(|(at, block)| read(Place::System(at), block));
        for (message, blocks) in shape.messages.iter().map(|message| &message.blocks).enumerate() {
            blocks.iter().enumerate().for_each(|(at, block)| read(Place::Message(message, at), block));
        }
        Marks { shape, marks, removed: vec![] }
    }

    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Mark> {
        self.marks.iter()
    }

    /// Returns the host's last breakpoint among the messages: the one that moves along with the conversation.
    pub(super) fn rolling(&self) -> Option<Mark> {
        self.marks.last().copied().filter(|mark| matches!(mark.place, Place::Message(..)))
    }

    /// Returns whether the guard has set this one.
    pub(super) fn has(&self, purpose: Purpose) -> bool {
        self.marks.iter().any(|mark| mark.purpose == Some(purpose))
    }

    /// Marks a block with the first of these lifetimes that keeps longer ones before shorter ones. Nothing happens
    /// where neither does, and where the block is marked already.
    pub(super) fn set(&mut self, purpose: Purpose, place: Place, wanted: Ttl) {
        let at = self.marks.partition_point(|mark| mark.place < place);
        let (before, after) = self.marks.split_at(at);
        if after.first().is_some_and(|mark| mark.place == place) {
            return;
        }
        let fits = |ttl: &Ttl| {
            before.iter().all(|mark| mark.ttl >= *ttl) && after.iter().all(|mark| mark.ttl <= *ttl)
        };
        let others = Ttl::ALL.into_iter().filter(|ttl| *ttl != wanted);
        if let Some(ttl) = [wanted].into_iter().chain(others).find(fits) {
            self.marks.insert(at, Mark { place, ttl, purpose: Some(purpose) });
        }
    }

    /// Removes one of the host's.
    pub(super) fn remove(&mut self, place: Place) {
        self.marks.retain(|mark| mark.place != place);
        self.removed.push(place);
    }

    /// Takes back one of the guard's.
    pub(super) fn drop(&mut self, purpose: Purpose) {
        self.marks.retain(|mark| mark.purpose != Some(purpose));
    }

    /// Returns the call ids of the marked tool results with the lifetimes of their breakpoints in milliseconds.
    pub(super) fn marked_results(&self) -> Vec<(&'a str, u64)> {
        let result = |mark: &Mark| Some((call_id(self.block(mark.place)?)?, mark.ttl.milliseconds()));
        let spoken = self.marks.iter().filter(|mark| matches!(mark.place, Place::Message(..)));
        spoken.filter_map(result).collect()
    }

    fn block(&self, place: Place) -> Option<&'a RequestBlock> {
        match place {
            Place::Tool(at) => self.shape.tools.get(at),
            Place::System(at) => self.shape.system.get(at),
            Place::Message(message, at) => self.shape.messages.get(message)?.blocks.get(at),
        }
    }

    /// Returns what a host has to change: the guard's breakpoints are copies of the rolling one, but for the lifetime.
    /// None where that one is nothing to copy.
    pub(super) fn changes(&self, rolling: Place) -> Option<Vec<Breakpoint>> {
        let control = self.block(rolling)?.cache_control.as_deref()?;
        let control: Map<String, Value> = serde_json::from_str(control).ok()?;
        let written = |ttl: Ttl| {
            let mut control = control.clone();
            match ttl {
                Ttl::Hour => drop(control.insert(Ttl::KEY.into(), Ttl::HOUR.into())),
                Ttl::FiveMinutes => drop(control.remove(Ttl::KEY)),
            }
            Value::Object(control).to_string()
        };
        let removed = self.removed.iter().map(|place| breakpoint(*place, None));
        let own = self.marks.iter().filter(|mark| mark.purpose.is_some());
        Some(removed.chain(own.map(|mark| breakpoint(mark.place, Some(written(mark.ttl))))).collect())
    }
}

/// Returns the id of the call that a tool result answers.
pub(super) fn call_id(block: &RequestBlock) -> Option<&str> {
    block.tool_use_id.as_deref().filter(|_| block.kind == "tool_result")
}

fn breakpoint(place: Place, cache_control: Option<String>) -> Breakpoint {
    let (section, message, block) = match place {
        Place::Tool(at) => (Section::Tools, 0, at),
        Place::System(at) => (Section::System, 0, at),
        Place::Message(message, at) => (Section::Messages, message, at),
    };
    // Indices of a list that came over the border, where lengths have 32 bits.
    let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Breakpoint { section, message: index(message), block: index(block), cache_control }
}
