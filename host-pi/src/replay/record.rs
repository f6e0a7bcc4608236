//! The guard's record of a pass, as far as a replay shows it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a pass decided. What is missing counts as nothing: a session can hold records of any version.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Record {
    pub(super) requests: u64,
    pub(super) input_tokens: u64,
    pub(super) cost_usd: f64,
    pub(super) timed_out: bool,
    pub(super) sent_bytes: u64,
    pub(super) expected: Option<Expected>,
    pub(super) results: Vec<Judged>,
}

/// What the edits of a pass are expected to save and cost, in characters.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "camelCase"), default)]
pub(super) struct Expected {
    /// In every later request.
    pub(super) saved_chars: i64,
    /// What the next request writes anew.
    pub(super) rewritten_chars: u64,
    /// Thinking that the provider drops.
    pub(super) lost_thinking_chars: u64,
    /// The later requests that are counted on.
    pub(super) requests: u64,
    /// The gain less the cost, both at the price of reading.
    pub(super) net_chars: i64,
}

/// What became of one output.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Judged {
    pub(super) kind: Kind,
    pub(super) entry_id: String,
    pub(super) omitted: Vec<String>,
    pub(super) label: String,
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) before_chars: u64,
    pub(super) after_chars: u64,
    pub(super) jev: Vec<String>,
}

/// What was judged.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    #[default]
    Large,
    Small,
    Exchange,
    Image,
    #[serde(other)]
    Other,
}

/// What was done with it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Distilled,
    Removed,
    #[default]
    #[serde(other)]
    Kept,
}

impl Record {
    /// Reads a record; none where the text is of another shape.
    pub(super) fn parse(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// Returns a record as if a classifier had answered that everything is needed; none where the text is of another
/// shape. Images go without being asked about, so that they stay out of it.
pub(super) fn all_kept(json: &str) -> Option<String> {
    let mut record: Value = serde_json::from_str(json).ok()?;
    let fields = record.as_object_mut()?;
    fields.remove("expected");
    fields.insert("savedChars".into(), 0.into());
    let results = fields.get_mut("results")?.as_array_mut()?;
    results.retain(|result| result["kind"] != "image");
    for result in results.iter_mut().filter_map(Value::as_object_mut) {
        let before = result.get("beforeChars").cloned().unwrap_or_default();
        result.insert("outcome".into(), "kept".into());
        result.insert("reason".into(), "needed".into());
        result.insert("afterChars".into(), before);
    }
    Some(record.to_string())
}
