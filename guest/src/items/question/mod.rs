//! What the classifier is asked about the items of one batch.

#[cfg(test)]
mod tests;
mod wording;

use serde_json::{Map, Value};

use crate::jev::question::Request;
use crate::outputs::{ANSWER, NOTES, Phase, QUESTION, Scene, conversation};
use crate::text::{blank, clip};

/// A kind of item that questions are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A small output.
    Output,
    /// An earlier exchange.
    Exchange,
}

impl Subject {
    /// Returns the name of an item by its place in the batch, which is also the id of its question.
    pub(super) fn label(self, place: usize) -> String {
        match self {
            Subject::Output => format!("item_{}", place + 1),
            Subject::Exchange => format!("exchange_{}", place + 1),
        }
    }

    fn field(self) -> &'static str {
        match self {
            Subject::Output => "items",
            Subject::Exchange => "exchanges",
        }
    }
}

/// Asks about a batch. The order of fields and questions is the order of reading.
///
/// Of a checkpoint's scene only the notes count: what else it tells is about one output.
pub(super) fn request(subject: Subject, items: impl Iterator<Item = Value>, scene: &Scene<'_>) -> Request {
    let items: Map<String, Value> =
        items.enumerate().map(|(place, item)| (subject.label(place), item)).collect();
    let questions = items
        .keys()
        .map(|label| {
            let question = wording::question(subject, scene.phase, label);
            // Strings under string keys always have a JSON form.
            (label.clone(), serde_json::to_value(question).unwrap_or_default())
        })
        .collect();
    Request { state: state(subject, items, scene), questions }
}

fn state(subject: Subject, items: Map<String, Value>, scene: &Scene<'_>) -> Map<String, Value> {
    let mut state = Map::new();
    let mut tell = |field: &str, value: Value| {
        state.insert(field.into(), value);
    };
    tell("situation", wording::situation(subject, scene.phase).into());
    if !scene.history.is_empty() {
        tell("earlier_conversation", conversation(scene.history));
    }
    tell("user_question", clip(scene.question, QUESTION).into());
    match scene.phase {
        Phase::RunEnd { answer, .. } => tell("final_answer", clip(answer, ANSWER).into()),
        Phase::Checkpoint { latest_note, earlier_notes, .. } => {
            let notes = [("latest_note", latest_note), ("earlier_notes", earlier_notes)];
            let progress: Map<String, Value> = notes
                .into_iter()
                .filter(|(_, note)| !blank(note))
                .map(|(name, note)| (name.to_owned(), clip(note, NOTES).into()))
                .collect();
            if !progress.is_empty() {
                tell("agent_progress", progress.into());
            }
        }
    }
    tell(subject.field(), items.into());
    state
}
