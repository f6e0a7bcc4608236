//! Small outputs of a run: too short to be judged in parts, long enough to be worth a question.

use serde_json::{Map, Value};

use super::batch::{Missing, Whole, trace};
use super::question::Subject;
use super::{Calls, Judgement};
use crate::contract::sessions::{Edit, Part};
use crate::label::label_told;
use crate::outputs::{Candidate, recall};
use crate::secrets::Masks;
use crate::session::{ItemKind, ItemOutcome, ItemResult, Run};
use crate::settings::Settings;
use crate::text::{MARKER, clip, short, units};

/// Most characters of an output that leave with a question.
const OUTPUT: usize = 4_000;

/// What an item takes of a request besides its output.
const FRAME: usize = 200;

/// An output that is judged as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallOutput<'a> {
    output: Candidate<'a>,
    superseded: Option<String>,
    /// What would take its place, which is shorter.
    stub: String,
    /// Lines of the output stay below the stub's first.
    lines_stay: bool,
    length: usize,
}

/// Picks the small ones among the outputs of a run that may be judged, as far as a stub would be shorter.
///
/// At a checkpoint, only those are to be handed in that are [`due_at_checkpoint`] and were not judged at an
/// earlier one.
pub fn small_outputs<'a>(
    outputs: impl IntoIterator<Item = Candidate<'a>>,
    calls: &Calls<'_>,
    settings: &Settings,
) -> Vec<SmallOutput<'a>> {
    let least = settings.small_result_min_chars;
    if least == 0 {
        return vec![];
    }
    let small = |output: Candidate<'a>| {
        let length = units(&output.text);
        if length < least || length >= settings.min_result_chars {
            return None;
        }
        // A failure that would be out of the model's sight could be met again, so its lines stay.
        let failure = output.failure();
        let lines_stay = !failure.is_empty();
        let stub =
            std::iter::once(stub(&output, length).as_str()).chain(failure).collect::<Vec<_>>().join("\n");
        if units(&stub) >= length {
            return None;
        }
        Some(SmallOutput { superseded: calls.superseding(&output), stub, lines_stay, length, output })
    };
    outputs.into_iter().filter_map(small).collect()
}

/// Returns whether a checkpoint may judge an output: it is old enough, and the model has not just asked for it.
///
/// An output whose call is not part of the run counts as made in its first turn.
pub fn due_at_checkpoint(output: &Candidate<'_>, run: &Run<'_>, settings: &Settings) -> bool {
    let due = output.turn.unwrap_or(0).saturating_add(settings.mid_run_min_age_turns);
    due <= run.current_turn() && output.tool != "recall"
}

fn stub(output: &Candidate<'_>, length: usize) -> String {
    format!(
        "{MARKER} Omitted the output of {} ({} chars): judged no longer needed. Full output: {}.",
        output.label(),
        short(length),
        recall(output.entry)
    )
}

impl<'a> SmallOutput<'a> {
    /// Returns the output that it is about.
    pub fn output(&self) -> &Candidate<'a> {
        &self.output
    }

    /// Returns its length.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl Whole for SmallOutput<'_> {
    const SUBJECT: Subject = Subject::Output;

    fn cost(&self) -> usize {
        self.length.min(OUTPUT) + FRAME
    }

    fn told(&self, masks: &Masks) -> Value {
        let mut told = Map::new();
        let label = label_told(self.output.tool, self.output.arguments, masks);
        told.insert("tool".into(), label.into());
        if self.output.failed {
            told.insert("status".into(), "failed".into());
        }
        if let Some(reason) = &self.superseded {
            told.insert("superseded".into(), reason.as_str().into());
        }
        told.insert("output".into(), clip(&masks.text(&self.output.text), OUTPUT).into());
        told.into()
    }

    fn judge(&self, needed: Result<f64, Missing>, settings: &Settings) -> Judgement {
        let mut result = ItemResult {
            kind: ItemKind::Small,
            entry_id: self.output.entry.to_owned(),
            tool: self.output.tool.to_owned(),
            label: self.output.label(),
            before_chars: self.length as u64,
            after_chars: self.length as u64,
            jev: vec![trace(needed)],
            ..ItemResult::default()
        };
        let edits = match needed {
            Ok(p) if p < settings.small_keep_threshold => {
                result.outcome = if self.lines_stay { ItemOutcome::Distilled } else { ItemOutcome::Removed };
                result.reason = "not-needed".into();
                result.after_chars = units(&self.stub) as u64;
                let replacement = Some(vec![Part::Text(self.stub.clone())]);
                vec![Edit { target: self.output.entry.to_owned(), replacement }]
            }
            Ok(_) => {
                result.reason = "needed".into();
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
