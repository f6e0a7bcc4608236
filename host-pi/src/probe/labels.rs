//! What the guard asked about a situation, and what a right answer would be.

use super::kind::{About, Kind};
use super::set::{Call, Material, Needed, Situation};
use serde_json::{Map, Value};

/// One probability that an answer must hold, with its label.
#[derive(Debug, PartialEq)]
pub(super) struct Labelled {
    pub(super) kind: Kind,
    /// Names the item for people.
    pub(super) name: String,
    /// The id of the question within its request.
    pub(super) question: String,
    /// Of a choice, the option whose probability counts.
    pub(super) option: Option<&'static str>,
    /// It should stay.
    pub(super) needed: bool,
}

/// Joins the body of a request with the labels of the situation that it is about. What has no label is left out.
pub(super) fn labelled(situation: &Situation, body: &Value) -> Vec<Labelled> {
    let state = &body["state"];
    if let Some(chunks) = state["chunks"].as_object() {
        return labelled_chunks(situation, state, chunks);
    }
    if let Some(items) = state["items"].as_object() {
        return labelled_items(situation, items);
    }
    state["exchanges"].as_object().map(|told| labelled_exchanges(situation, told)).unwrap_or_default()
}

fn labelled_chunks(situation: &Situation, state: &Value, chunks: &Map<String, Value>) -> Vec<Labelled> {
    let texts: Vec<&str> = chunks.values().filter_map(Value::as_str).collect();
    let cut_from = |call: &&Call| {
        let output = call.text();
        texts.iter().all(|text| output.contains(text))
    };
    let call = situation.calls.iter().find(cut_from);
    let Some(label) = call.and_then(|call| call.needed.as_ref()) else { return Vec::new() };
    let needed: Vec<bool> = texts
        .iter()
        .map(|text| match label {
            Needed::Whole(needed) => *needed,
            Needed::Parts(parts) => parts.iter().any(|part| text.contains(part.as_str())),
        })
        .collect();
    let count = needed.iter().filter(|needed| **needed).count();
    let labelled = |about, question: &str, option, needed| Labelled {
        kind: Kind { phase: situation.phase, about },
        name: match about {
            About::Chunk | About::ChunkWithHistory => format!("{} {question}", situation.name),
            _ => situation.name.clone(),
        },
        question: question.to_owned(),
        option,
        needed,
    };
    let about = if state["earlier_conversation"].is_null() { About::Chunk } else { About::ChunkWithHistory };
    let mut all: Vec<Labelled> =
        chunks.keys().zip(&needed).map(|(name, needed)| labelled(about, name, None, *needed)).collect();
    all.push(labelled(About::KeepWhole, "keep_whole", None, count == needed.len()));
    all.push(labelled(About::MostNeeded, "focus", Some("whole"), 2 * count > needed.len()));
    all.push(labelled(About::NothingNeeded, "focus", Some("none"), count > 0));
    all
}

fn labelled_items(situation: &Situation, items: &Map<String, Value>) -> Vec<Labelled> {
    let about = match situation.kind {
        Material::Superseded => About::Superseded,
        Material::Small | Material::Chunks | Material::Exchanges => About::Small,
    };
    let labelled = |(question, item): (&String, &Value)| {
        let call = situation.calls.iter().find(|call| item["output"] == call.text())?;
        let Some(Needed::Whole(needed)) = call.needed else { return None };
        Some(Labelled {
            kind: Kind { phase: situation.phase, about },
            name: format!("{} {}", situation.name, item["tool"].as_str().unwrap_or_default()),
            question: question.clone(),
            option: None,
            needed,
        })
    };
    items.iter().filter_map(labelled).collect()
}

fn labelled_exchanges(situation: &Situation, exchanges: &Map<String, Value>) -> Vec<Labelled> {
    let labelled = |(question, told): (&String, &Value)| {
        let exchange = situation.history.iter().find(|exchange| told["user_prompt"] == exchange.prompt)?;
        Some(Labelled {
            kind: Kind { phase: situation.phase, about: About::Exchange },
            name: format!("{} “{}”", situation.name, exchange.prompt),
            question: question.clone(),
            option: None,
            needed: exchange.needed?,
        })
    };
    exchanges.iter().filter_map(labelled).collect()
}
