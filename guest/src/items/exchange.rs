//! Earlier exchanges: a prompt and everything up to the next one, omitted together or not at all.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Judgement;
use super::batch::{Missing, Whole, trace};
use super::question::Subject;
use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Block, ToolCall};
use crate::label::label_of_other;
use crate::outputs::recall;
use crate::secrets::Masks;
use crate::session::{Extent, ItemKind, ItemOutcome, ItemResult, Kind, Mirror, Projection, Shown, untitled};
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

/// From this length of an id on, a stub can be longer than [`LEAST`].
const LONG_ID: usize = 200;

/// An earlier prompt with all that was done for it. No text is read before it is asked about.
#[derive(Clone, Debug)]
pub struct OldExchange<'a> {
    /// Id of the prompt's entry.
    pub prompt_id: &'a str,
    /// Its entries, the prompt first.
    items: Projection<'a>,
    /// Size of all that would go, the prompt included.
    chars: usize,
    /// Visible messages, those included that stay.
    messages: usize,
    settings: &'a Settings,
}

/// Finds the exchanges before the run that starts at that index of the projection, all but the last few, as far as
/// they can be omitted and brought back.
///
/// None are found where the settings say that exchanges are not judged. `judged` tells by the position of a prompt on the
/// branch whether its exchange was judged already: in a long session most were.
///
/// An exchange stays if it did not finish, if it is small, if somebody else changed something in it (`recall` could
/// not bring that back), or if a call or a result in it belongs to one outside.
pub fn old_exchanges<'a>(
    mirror: &'a Mirror,
    run_start: usize,
    judged: impl Fn(usize) -> bool,
    settings: &'a Settings,
) -> Vec<OldExchange<'a>> {
    if !settings.judges_exchanges() {
        return vec![];
    }
    let exchanges = mirror.outline().exchanges();
    let earlier = exchanges.partition_point(|exchange| exchange.start < run_start);
    let old = earlier.saturating_sub(settings.keep_recent_exchanges);
    let end = |at: usize| exchanges.get(at + 1).map_or(run_start, |next| next.start.min(run_start));
    let eligible = |at: usize| {
        let extent = exchanges.get(at).filter(|extent| !judged(extent.position))?;
        OldExchange::of(mirror, extent, end(at), settings)
    };
    (0..old).filter_map(eligible).collect()
}

impl<'a> OldExchange<'a> {
    fn of(mirror: &'a Mirror, extent: &Extent, end: usize, settings: &'a Settings) -> Option<Self> {
        if extent.is_torn() || !extent.finished || extent.chars < LEAST {
            return None;
        }
        let range = extent.start..end;
        let projection = mirror.projection();
        let prompt = projection.get(extent.start)?;
        let mut altered = mirror.outline().altered(&range).iter().filter_map(|&index| projection.get(index));
        if prompt.ours() || altered.any(|item| item.foreign()) {
            return None;
        }
        let exchange = OldExchange {
            prompt_id: prompt.id(),
            items: projection.within(range),
            chars: extent.chars,
            messages: extent.messages,
            settings,
        };
        let shorter = prompt.id().len() < LONG_ID || exchange.chars > units(&exchange.stub());
        shorter.then_some(exchange)
    }

    /// Walks its messages, without those that stay.
    fn going(&self) -> impl DoubleEndedIterator<Item = (&'a str, Shown<'a>)> + use<'a> {
        let shown = self.items.iter().filter_map(|item| Some((item.id(), item.shown()?)));
        shown.filter(|(_, shown)| !matches!(shown.kind, Kind::Summary(_) | Kind::Fixed(_)))
    }

    /// Walks the ids of the entries that go with the prompt, in order.
    pub fn omitted(&self) -> impl DoubleEndedIterator<Item = &'a str> + use<'a> {
        let prompt = self.prompt_id;
        self.going().map(|(id, _)| id).filter(move |id| *id != prompt)
    }

    fn prompt(&self) -> Cow<'a, str> {
        self.going().next().map(|(_, prompt)| prompt.text()).unwrap_or_default()
    }

    /// Returns the last thing that the model said, untrimmed; empty if it said nothing.
    fn answer(&self) -> Cow<'a, str> {
        let replies = self.going().filter(|(_, shown)| shown.assistant().is_some());
        let mut said = replies.rev().map(|(_, shown)| shown.text());
        said.find(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    fn calls(&self) -> impl Iterator<Item = &'a ToolCall> + use<'a> {
        let replies = self.going().filter(|(_, shown)| shown.assistant().is_some());
        replies.flat_map(|(_, shown)| calls(shown.blocks))
    }

    /// Returns the size of all that would go, in characters.
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Returns the id of the last entry that would change.
    pub fn last_id(&self) -> &'a str {
        self.omitted().next_back().unwrap_or(self.prompt_id)
    }

    fn stub(&self) -> String {
        format!(
            "{MARKER} Omitted an earlier exchange judged unrelated to the current work: \"{}\" ({} messages, ~{} \
             tokens). Full exchange: {}.",
            ellipsis(&squeeze(untitled(&self.prompt())), QUOTED),
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

impl Whole for OldExchange<'_> {
    const SUBJECT: Subject = Subject::Exchange;

    fn cost(&self) -> usize {
        let answer = units(self.answer().trim()).min(ANSWER);
        units(&self.prompt()).min(PROMPT) + answer + CALL * self.calls().count() + FRAME
    }

    fn told(&self, masks: &Masks) -> Value {
        let name =
            |call: &ToolCall| label_of_other(&call.name, Some(&call.arguments), self.settings, masks).into();
        let mut calls: Vec<Value> = self.calls().take(CALLS).map(name).collect();
        if let Some(more) = self.calls().count().checked_sub(CALLS).filter(|more| *more > 0) {
            calls.push(format!("[… {more} more …]").into());
        }
        let size = format!("{} messages, about {} tokens", self.messages, short(tokens(self.chars)));
        let told: Map<String, Value> = [
            ("user_prompt", clip(&masks.text(untitled(&self.prompt())), PROMPT).into()),
            ("final_answer", clip(&masks.text(self.answer().trim()), ANSWER).into()),
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
            label: format!("\"{}\"", prefix(&squeeze(untitled(&self.prompt())), NAMED)),
            before_chars: self.chars as u64,
            after_chars: self.chars as u64,
            jev: vec![trace(needed)],
            ..ItemResult::default()
        };
        let edits = match needed {
            Ok(p) if p < settings.exchange_omit_threshold => {
                result.outcome = ItemOutcome::Removed;
                result.reason = "unrelated".into();
                let stub = self.stub();
                result.after_chars = units(&stub) as u64;
                result.omitted = self.omitted().map(str::to_owned).collect();
                let stub =
                    Edit { target: self.prompt_id.to_owned(), replacement: Some(vec![Part::Text(stub)]) };
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
