//! Anthropic's cache breakpoints: which blocks of a request the guard marks, and which marks of the host make room.

mod anchors;
mod marks;
#[cfg(test)]
mod tests;

use super::CacheLog;
use crate::contract::sessions::{Breakpoint, RequestBlock, RequestShape};
use crate::contract::types::{Model, Timestamp};
use crate::session::Mirror;
use anchors::Anchors;
use marks::{Marks, Place, Purpose, call_id};

/// Breakpoints that Anthropic takes in one request.
const MOST: usize = 4;

/// Marks of the host that the guard took away to make room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Room {
    /// That of the first block of the system prompt, where a later one is marked as well.
    first_system: bool,
    /// That of the last marked tool.
    tools: bool,
}

/// Where the guard's breakpoints go in one session.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    /// What the last request that was no replay went out without, and its model.
    last: (String, Room),
}

impl Breakpoints {
    /// Returns what to set and remove in a request that leaves now, and has `log` take note of what it marks.
    /// Empty where no breakpoint of the guard's comes of it: the request then stays as it is.
    ///
    /// The last user message before the end is marked in every request, so that an edit of the outputs behind it
    /// leaves the cache up to there readable. While an edit is pending, the anchors join it.
    ///
    /// Where that makes more than four, marks of the host before the messages go: those behind them cover the same
    /// blocks. Pi continues a request as a thread, which sends the new messages alone, only while the marks of `system`
    /// and `tools` stay what they were; an edit ends the thread anyway. So with an edit pending what has to go is
    /// found anew, and until the next one every request goes without the same marks, whether or not that is needed.
    pub fn request(
        &mut self,
        mirror: &Mirror,
        log: &mut CacheLog,
        model: &Model,
        shape: &RequestShape,
        now: Timestamp,
    ) -> Vec<Breakpoint> {
        let anchors = Anchors::of(mirror, log, model, now);
        let kept = if anchors.is_none() && self.last.0 == model.name { self.last.1 } else { Room::default() };
        let received = Marks::of(shape);
        let rolling = received.rolling();
        let made = rolling.and_then(|rolling| {
            let (marks, room) = placed(&received, shape, anchors.unwrap_or_default(), kept)?;
            Some((marks.changes(rolling.place)?, marks, room))
        });
        let (changes, marks, room) = made.unwrap_or_else(|| (vec![], received, Room::default()));
        if !shape.replay {
            self.last = (model.name.clone(), room);
        }
        // With more marks than that the provider refuses the request, and nothing is written.
        let marked = if marks.len() <= MOST { marks.marked_results() } else { vec![] };
        log.sent(mirror, model, &marked, shape.replay, now);
        changes
    }
}

/// Returns the marks as they go out, with the guard's among them; none where there is none of the guard's.
fn placed<'a>(
    received: &Marks<'a>,
    shape: &RequestShape,
    anchors: Anchors<'_>,
    kept: Room,
) -> Option<(Marks<'a>, Room)> {
    let mut marks = received.clone();
    let rolling = received.rolling()?;
    // Pi sets the effort of adaptive thinking by a system message behind the conversation.
    let last =
        shape.messages.iter().rposition(|message| message.role != "system").filter(|&last| last > 0)?;
    if let Some(question) = question(shape, last) {
        marks.set(Purpose::Question, question, rolling.ttl);
    }
    for (purpose, call) in [(Purpose::Read, anchors.read), (Purpose::Write, anchors.write)] {
        if let Some(place) = call.and_then(|call| result(shape, last, call)) {
            marks.set(purpose, place, rolling.ttl);
        }
    }
    let room = fit(&mut marks, shape, kept);
    let ours = marks.iter().any(|mark| mark.purpose.is_some());
    (ours && marks.len() <= MOST).then_some((marks, room))
}

/// Returns the last non-blank text of the nearest user message before `last` that has one. Messages of tool results
/// alone have none.
fn question(shape: &RequestShape, last: usize) -> Option<Place> {
    let spoken = |block: &RequestBlock| block.kind == "text" && block.has_text;
    let earlier = shape.messages.iter().enumerate().take(last).rev();
    let mut users = earlier.filter(|(_, message)| message.role == "user");
    users.find_map(|(at, message)| Some(Place::Message(at, message.blocks.iter().rposition(spoken)?)))
}

/// Returns the result of that call, if it stands before the message `last`.
fn result(shape: &RequestShape, last: usize, call: &str) -> Option<Place> {
    let answers = |block: &RequestBlock| call_id(block).is_some_and(|id| super::is_call_id(id, call));
    let mut earlier = shape.messages.iter().enumerate().take(last).rev();
    earlier.find_map(|(at, message)| Some(Place::Message(at, message.blocks.iter().rposition(answers)?)))
}

/// Makes room for the guard's marks, or gives up the least important ones. Marks in `kept` go in any case, if others
/// cover them.
fn fit(marks: &mut Marks<'_>, shape: &RequestShape, kept: Room) -> Room {
    let anchored = marks.has(Purpose::Read) || marks.has(Purpose::Write);
    let mut room = Room::default();

    let first = Place::System(0);
    let is_marked = marks.iter().any(|mark| mark.place == first);
    let covered = marks.iter().any(|mark| matches!(mark.place, Place::System(at) if at > 0));
    // Without anchors, the question itself is marked and covers the whole system prompt.
    let may_go = is_marked && shape.system.len() > 1 && (covered || !anchored);
    if may_go && (marks.len() > MOST || kept.first_system) {
        marks.remove(first);
        room.first_system = true;
    }

    let tool = marks.iter().rev().find(|mark| matches!(mark.place, Place::Tool(_))).map(|mark| mark.place);
    let covered = marks.iter().any(|mark| matches!(mark.place, Place::System(_)));
    if let Some(tool) = tool.filter(|_| covered && ((anchored && marks.len() > MOST) || kept.tools)) {
        marks.remove(tool);
        room.tools = true;
    }

    for purpose in [Purpose::Write, Purpose::Read, Purpose::Question] {
        if marks.len() > MOST {
            marks.drop(purpose);
        }
    }
    room
}
