//! What the classifier is asked about one segment.

#[cfg(test)]
mod tests;
mod wording;

use serde_json::{Map, Value, json};

use self::wording::Wording;
use super::chunk::{self, Chunk};
use super::lines::Lines;
use super::segment::Segment;
use super::{Candidate, Phase, Scene};
use crate::jev::question::{Question, Request};
use crate::secrets::Masks;
use crate::session::History;
use crate::text::{blank, clip, clip_tail, plural, prefix};

/// Most characters of the question, the answer and the notes that leave with a request. With a full segment
/// and history they stay within the 32,000 tokens that the smallest classifier reads.
pub(crate) const QUESTION: usize = 4_000;
pub(crate) const ANSWER: usize = 6_000;
pub(crate) const NOTES: usize = 2_000;

/// Most characters of a call's arguments.
const ARGUMENTS: usize = 600;

/// Labels of later calls that are sent from either end of a longer list.
const LABELS: usize = 15;

/// Id of the question whether everything is needed.
pub(super) const KEEP_WHOLE: &str = "keep_whole";
/// Id of the question how much is needed, and above all what.
pub(super) const FOCUS: &str = "focus";
/// The option of [`FOCUS`] that most is needed.
pub(super) const WHOLE: &str = "whole";
/// The option of [`FOCUS`] that nothing is needed.
pub(super) const NONE: &str = "none";

/// An output as far as a question tells of it.
#[derive(Clone, Copy)]
pub(super) struct Subject<'p> {
    pub(super) candidate: &'p Candidate<'p>,
    /// Its lines, masked.
    pub(super) lines: &'p Lines<'p>,
    pub(super) chunks: &'p [Chunk],
    pub(super) segments: &'p [Segment],
    pub(super) masks: &'p Masks,
}

/// Asks about the segment at that place. The order of fields and questions is the order of reading.
pub(super) fn request(subject: Subject<'_>, at: usize, scene: &Scene<'_>) -> Request {
    let names = subject.segments.get(at).map(|segment| segment.chunks.clone()).unwrap_or_default();
    let wording = Wording::new(scene, subject.segments.len() > 1);
    let names: Vec<String> = names.map(chunk::name).collect();
    Request { state: state(subject, at, scene, &wording), questions: questions(&names, &wording) }
}

fn state(subject: Subject<'_>, at: usize, scene: &Scene<'_>, wording: &Wording) -> Map<String, Value> {
    let Subject { candidate, lines, chunks, segments, masks } = subject;
    let mut state = Map::new();
    let mut tell = |field: &str, value: Value| {
        state.insert(field.into(), value);
    };
    tell("situation", wording.situation().into());
    if !scene.history.is_empty() {
        tell("earlier_conversation", conversation(scene.history));
    }
    tell("user_question", clip(scene.question, QUESTION).into());
    match scene.phase {
        Phase::RunEnd { answer, notes } => {
            tell("final_answer", clip(answer, ANSWER).into());
            if !blank(notes) {
                tell("agent_notes_during_the_run", clip(notes, NOTES).into());
            }
        }
        Phase::Checkpoint { latest_note, earlier_notes, later_calls, superseded } => {
            let mut progress = Map::new();
            if !blank(latest_note) {
                progress.insert("latest_note".into(), clip(latest_note, NOTES).into());
            }
            if !blank(earlier_notes) {
                progress.insert("earlier_notes".into(), clip_tail(earlier_notes, NOTES).into());
            }
            if !progress.is_empty() {
                tell("agent_progress", progress.into());
            }
            tell("later_tool_calls", calls(later_calls));
            if let Some(reason) = superseded {
                tell("superseded", reason.into());
            }
        }
    }
    tell("tool", masks.text(candidate.tool).into());
    if candidate.failed {
        tell("tool_status", wording.failed().into());
    }
    if let Some(arguments) = candidate.arguments {
        tell("tool_arguments", shortened(&masks.text(&compact(arguments, masks))).into());
    }
    let part = if segments.len() > 1 {
        format!("; this is part {} of {}", at + 1, segments.len())
    } else {
        String::new()
    };
    tell("output_size", format!("{} lines{part}", lines.count()).into());
    let chunks =
        segments.get(at).map(|segment| segment.chunks.clone()).into_iter().flatten().filter_map(|at| {
            let chunk = chunks.get(at)?;
            Some((chunk::name(at), lines.slice(chunk.lines.clone()).into()))
        });
    tell("chunks", Value::Object(chunks.collect()));
    state
}

/// Tells what came before the run.
pub(crate) fn conversation(history: &History) -> Value {
    let mut told = Map::new();
    if let Some(summary) = &history.summary {
        told.insert("summary".into(), summary.as_str().into());
    }
    if let Some(request) = &history.first_request {
        told.insert("first_request".into(), request.as_str().into());
    }
    if !history.exchanges.is_empty() {
        let exchanges = history.exchanges.iter().map(|exchange| match &exchange.reply {
            Some(reply) => json!({ "user": exchange.prompt, "assistant": reply }),
            None => json!({ "user": exchange.prompt }),
        });
        told.insert("recent_exchanges".into(), exchanges.collect());
    }
    told.into()
}

fn calls(labels: &[&str]) -> Value {
    if labels.is_empty() {
        return "none so far".into();
    }
    let gap = labels.len().saturating_sub(2 * LABELS);
    if gap == 0 {
        return labels.iter().copied().collect();
    }
    let note = format!("[… {} …]", plural(gap, "more call"));
    let (first, last) = (labels.iter().take(LABELS), labels.iter().skip(LABELS + gap));
    first.copied().chain([note.as_str()]).chain(last.copied()).collect()
}

fn shortened(arguments: &str) -> String {
    let start = prefix(arguments, ARGUMENTS);
    if start.len() == arguments.len() { start.to_owned() } else { format!("{start}…") }
}

/// Writes JSON without spaces, and whole numbers without a fraction, as a JavaScript host would. Secrets are masked
/// in its strings, where nothing is escaped.
fn compact(json: &str, masks: &Masks) -> String {
    fn whole(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(whole),
            Value::Object(fields) => fields.values_mut().for_each(whole),
            Value::Number(number) => {
                // Beyond 2^53 a double is no exact integer any more.
                if let Some(n) =
                    number.as_f64().filter(|n| number.is_f64() && n.fract() == 0.0 && n.abs() < 9e15)
                {
                    *value = (n as i64).into();
                }
            }
            _ => {}
        }
    }
    let Ok(mut value) = serde_json::from_str(json) else { return json.to_owned() };
    whole(&mut value);
    masks.value(&mut value);
    value.to_string()
}

fn questions(names: &[String], wording: &Wording) -> Map<String, Value> {
    let options = [(WHOLE.to_owned(), wording.whole()), (NONE.to_owned(), wording.none())]
        .into_iter()
        .chain(names.iter().map(|name| (name.clone(), wording.above_all(name))));
    let focus = Question::Choice {
        instructions: wording.focus(),
        criteria: options.map(|(key, meaning)| (key, meaning.into())).collect(),
    };
    let mut asked = vec![(KEEP_WHOLE.to_owned(), wording.keep_whole()), (FOCUS.to_owned(), focus)];
    asked.extend(names.iter().map(|name| (name.clone(), wording.chunk(name))));
    // Strings under string keys always have a JSON form.
    asked.into_iter().map(|(id, question)| (id, serde_json::to_value(question).unwrap_or_default())).collect()
}
