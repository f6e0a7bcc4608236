//! Earlier exchanges: a prompt and everything up to the next one, omitted together or not at all.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Judgement;
use super::batch::{Missing, Whole, trace};
use super::question::Subject;
use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Block, ToolCall};
use crate::label::label_of_other;
use crate::outputs::recall;
use crate::secrets::Masks;
use crate::session::{
    ItemKind, ItemOutcome, ItemResult, Kind, Projected, Projection, message_size, prompts_of, untitled,
};
use crate::settings::Settings;
use crate::text::{MARKER, clip, ellipsis, prefix, short, squeeze, tokens, units};

/// Least size of an exchange that is worth a question.
const LEAST: usize = 2_000;

/// Most characters of the prompt and of the answer that leave with a question.
const PROMPT: usize = 600;
const ANSWER: usize = 800;

/// Calls that a question names; of more, it tells the number.
const CALLS: usize = 20;

/// What an exchange takes of a request besides its texts, in all and per call.
const FRAME: usize = 200;
const CALL: usize = 60;

/// Most characters of the prompt in the stub and in the record.
const QUOTED: usize = 120;
const NAMED: usize = 60;

/// An earlier prompt with all that was done for it.
#[derive(Clone, Debug, PartialEq)]
pub struct OldExchange<'a> {
    /// Id of the prompt's entry.
    pub prompt_id: &'a str,
    /// Ids of the other entries that go with it, in order.
    pub omitted: Vec<&'a str>,
    prompt: Cow<'a, str>,
    answer: String,
    calls: Vec<&'a ToolCall>,
    /// Size of all that would go, the prompt included.
    chars: usize,
    /// Visible messages, those included that stay.
    messages: usize,
    stub: String,
    settings: &'a Settings,
}

/// Finds the exchanges before the run that starts at that index of the projection, all but the last few, as far as
/// they can be omitted and brought back.
///
/// None are found where the settings say that exchanges are not judged.
///
/// An exchange stays if it did not finish, if it is small, if somebody else changed something in it (`recall` could
/// not bring that back), or if a call or a result in it belongs to one outside.
pub fn old_exchanges<'a>(
    projection: Projection<'a>,
    run_start: usize,
    settings: &'a Settings,
) -> Vec<OldExchange<'a>> {
    if !settings.judges_exchanges() {
        return vec![];
    }
    let mut starts = prompts_of(projection.before(run_start));
    let judged = starts.len().saturating_sub(settings.keep_recent_exchanges);
    if judged == 0 {
        return vec![];
    }
    starts.push(run_start);
    let torn = torn(projection, &starts);
    let eligible = |at: usize| {
        let items: Vec<_> = (starts[at]..starts[at + 1]).filter_map(|index| projection.get(index)).collect();
        OldExchange::of(&items, settings)
    };
    (0..judged).filter(|&at| !torn[at]).filter_map(eligible).collect()
}

impl<'a> OldExchange<'a> {
    /// Reads an exchange, whose first item is the prompt.
    fn of(items: &[Projected<'a>], settings: &'a Settings) -> Option<Self> {
        let prompt = items.first()?;
        if prompt.ours() || items.iter().any(Projected::foreign) {
            return None;
        }
        let mut exchange = OldExchange {
            prompt_id: prompt.id(),
            omitted: vec![],
            prompt: prompt.shown()?.text(),
            answer: String::new(),
            calls: vec![],
            chars: 0,
            messages: 0,
            stub: String::new(),
            settings,
        };
        let mut finished = false;
        for (item, shown) in items.iter().filter_map(|item| Some((item, item.shown()?))) {
            exchange.messages += 1;
            if matches!(shown.kind, Kind::Summary(_) | Kind::Fixed(_)) {
                continue;
            }
            exchange.chars = exchange.chars.saturating_add(message_size(&shown));
            if item.id() != prompt.id() {
                exchange.omitted.push(item.id());
            }
            if shown.assistant().is_some() {
                finished = calls(shown.blocks).next().is_none();
                exchange.calls.extend(calls(shown.blocks));
                let text = shown.text();
                if !text.trim().is_empty() {
                    exchange.answer = text.trim().to_owned();
                }
            }
        }
        exchange.stub = exchange.stub();
        let worth = exchange.chars >= LEAST && exchange.chars > units(&exchange.stub);
        (finished && worth).then_some(exchange)
    }

    /// Returns the size of all that would go, in characters.
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Returns the id of the last entry that would change.
    pub fn last_id(&self) -> &'a str {
        self.omitted.last().unwrap_or(&self.prompt_id)
    }

    fn stub(&self) -> String {
        format!(
            "{MARKER} Omitted an earlier exchange judged unrelated to the current work: \"{}\" ({} messages, ~{} \
             tokens). Full exchange: {}.",
            ellipsis(&squeeze(untitled(&self.prompt)), QUOTED),
            self.messages,
            short(tokens(self.chars)),
            recall(self.prompt_id)
        )
    }
}

fn calls(blocks: &[Block]) -> impl Iterator<Item = &ToolCall> {
    blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// Finds, among the exchanges that start at these indices, those in which a call has its result outside, or a result its
/// call.
///
/// Ids are not unique in every provider's sessions, so a result answers the nearest call before it.
fn torn(projection: Projection<'_>, starts: &[usize]) -> Vec<bool> {
    let mut torn = vec![false; starts.len()];
    // By id of a call: the exchange that it was made in; none before the first one.
    let mut made: HashMap<&str, Option<usize>> = HashMap::new();
    let mut exchange = None;
    for (index, item) in projection.iter().enumerate() {
        let next = exchange.map_or(0, |at| at + 1);
        if starts.get(next) == Some(&index) {
            exchange = Some(next);
        }
        let Some(shown) = item.shown() else { continue };
        match shown.kind {
            Kind::Assistant(_) => {
                made.extend(calls(shown.blocks).map(|call| (call.id.as_str(), exchange)));
            }
            Kind::ToolResult(result) => {
                let call = made.get(result.call_id.as_str()).copied();
                if call != Some(exchange) {
                    for at in [call.flatten(), exchange].into_iter().flatten() {
                        torn[at] = true;
                    }
                }
            }
            _ => {}
        }
    }
    torn
}

impl Whole for OldExchange<'_> {
    const SUBJECT: Subject = Subject::Exchange;

    fn cost(&self) -> usize {
        units(&self.prompt).min(PROMPT) + units(&self.answer).min(ANSWER) + CALL * self.calls.len() + FRAME
    }

    fn told(&self, masks: &Masks) -> Value {
        let name =
            |call: &&ToolCall| label_of_other(&call.name, Some(&call.arguments), self.settings, masks).into();
        let mut calls: Vec<Value> = self.calls.iter().take(CALLS).map(name).collect();
        if let Some(more) = self.calls.len().checked_sub(CALLS).filter(|more| *more > 0) {
            calls.push(format!("[… {more} more …]").into());
        }
        let size = format!("{} messages, about {} tokens", self.messages, short(tokens(self.chars)));
        let told: Map<String, Value> = [
            ("user_prompt", clip(&masks.text(untitled(&self.prompt)), PROMPT).into()),
            ("final_answer", clip(&masks.text(&self.answer), ANSWER).into()),
            ("tool_calls", calls.into()),
            ("size", size.into()),
        ]
        .map(|(field, value): (&str, Value)| (field.to_owned(), value))
        .into_iter()
        .collect();
        told.into()
    }

    fn judge(&self, needed: Result<f64, Missing>, settings: &Settings) -> Judgement {
        let mut result = ItemResult {
            kind: ItemKind::Exchange,
            entry_id: self.prompt_id.to_owned(),
            tool: "exchange".into(),
            label: format!("\"{}\"", prefix(&squeeze(untitled(&self.prompt)), NAMED)),
            before_chars: self.chars as u64,
            after_chars: self.chars as u64,
            jev: vec![trace(needed)],
            ..ItemResult::default()
        };
        let edits = match needed {
            Ok(p) if p < settings.exchange_omit_threshold => {
                result.outcome = ItemOutcome::Removed;
                result.reason = "unrelated".into();
                result.after_chars = units(&self.stub) as u64;
                result.omitted = self.omitted.iter().map(|id| (*id).to_owned()).collect();
                let stub = Edit {
                    target: self.prompt_id.to_owned(),
                    replacement: Some(vec![Part::Text(self.stub.clone())]),
                };
                let omit = |id: &String| Edit { target: id.clone(), replacement: None };
                std::iter::once(stub).chain(result.omitted.iter().map(omit)).collect()
            }
            Ok(_) => {
                result.reason = "relevant".into();
                vec![]
            }
            Err(missing) => {
                result.reason = missing.as_str().into();
                vec![]
            }
        };
        Judgement { edits, result }
    }
}
