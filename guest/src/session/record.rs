//! The record that every pass appends to the session: what it decided, and what that took.
//!
//! Records are read back for the memos, the statistics and `recall`, so they outlive the version that wrote
//! them: what is missing is filled in, what is unknown is skipped, and no field changes its meaning.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::contract::sessions;

/// The version of the format that this file describes.
const VERSION: u64 = 1;

/// What one pass decided. Fields are written in the order in which they stand here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    #[serde(rename = "v", deserialize_with = "count")]
    /// The version of the format.
    pub version: u64,
    /// When the pass ran; run end where an old record has none.
    pub phase: Phase,
    /// The configured classifier as `provider/id`.
    pub model: String,
    /// Characters before minus after, over all edits; negative where originals came back.
    #[serde(deserialize_with = "whole")]
    pub saved_chars: i64,
    /// Classifier requests.
    #[serde(deserialize_with = "count")]
    pub requests: u64,
    /// Tokens that the classifier counted.
    #[serde(deserialize_with = "count")]
    pub input_tokens: u64,
    /// What the classifier cost, in US dollars.
    #[serde(deserialize_with = "number")]
    pub cost_usd: f64,
    /// Wall time of the pass, in milliseconds.
    #[serde(deserialize_with = "count")]
    pub ms: u64,
    /// The budget ran out before all answers were in.
    pub timed_out: bool,
    /// Where the questions went; none where nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Body bytes that left, retries included; none where nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<u64>,
    /// What the pass was expected to save and cost; none where it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "readable_or_none")]
    pub expected: Option<Expected>,
    /// One per judged item, in the order of the record's kinds and, within a kind, of the session.
    #[serde(deserialize_with = "readable")]
    pub results: Vec<ItemResult>,
}

/// What a pass was expected to save and cost, in characters. It is an estimate: nobody knows how long the work lasts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Expected {
    /// By how much each later request is smaller; negative where originals came back.
    #[serde(deserialize_with = "whole")]
    pub saved_chars: i64,
    /// What the next request writes into the provider's cache anew because of the edits, with them in place.
    #[serde(deserialize_with = "count")]
    pub rewritten_chars: u64,
    /// Thinking still in use that the provider drops because of the edits.
    #[serde(skip_serializing_if = "is_zero", deserialize_with = "count")]
    pub lost_thinking_chars: u64,
    /// Requests over which the saving counts: as many as there were before.
    #[serde(deserialize_with = "count")]
    pub requests: u64,
    /// The saving of all these requests less the cost, where a character that is read from the cache counts 1.
    #[serde(deserialize_with = "whole")]
    pub net_chars: i64,
}

/// What became of one item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ItemResult {
    /// What was judged; a large output where an old record does not say.
    pub kind: ItemKind,
    /// Of an omitted exchange: the entries that went with its prompt, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// The entry that was judged; of an exchange, its prompt.
    pub entry_id: String,
    /// The tool's name, or `exchange`.
    pub tool: String,
    /// The call as a reader knows it, or the quoted prompt.
    pub label: String,
    /// What was done.
    pub outcome: ItemOutcome,
    /// Why, in the words of the kind; several joined by commas.
    pub reason: String,
    /// Length before the pass.
    #[serde(deserialize_with = "count")]
    pub before_chars: u64,
    /// Length after it; the same where the item was kept.
    #[serde(deserialize_with = "count")]
    pub after_chars: u64,
    /// The classifier's answers in short, one per request about the item.
    pub jev: Vec<String>,
}

/// When a pass ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// At a checkpoint.
    MidRun,
    /// After the run's last reply.
    #[default]
    RunEnd,
}

impl From<sessions::Phase> for Phase {
    fn from(phase: sessions::Phase) -> Self {
        match phase {
            sessions::Phase::MidRun => Phase::MidRun,
            sessions::Phase::RunEnd => Phase::RunEnd,
        }
    }
}

/// What was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemKind {
    /// A large output, chunk by chunk.
    #[default]
    Large,
    /// A smaller output, as a whole.
    Small,
    /// An earlier exchange, as a whole.
    Exchange,
    /// The images of an old output, by age.
    Image,
}

/// What was done with an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemOutcome {
    /// A part of it stays.
    Distilled,
    /// None of it stays.
    Removed,
    /// All of it stays, or is back.
    #[default]
    Kept,
}

impl Default for Record {
    fn default() -> Self {
        Record {
            version: VERSION,
            phase: Phase::default(),
            model: String::new(),
            saved_chars: 0,
            requests: 0,
            input_tokens: 0,
            cost_usd: 0.0,
            ms: 0,
            timed_out: false,
            origin: None,
            sent_bytes: None,
            expected: None,
            results: vec![],
        }
    }
}

impl Record {
    /// Reads a record; none where the text is no record of this version.
    pub fn parse(json: &str) -> Option<Record> {
        let value: Value = serde_json::from_str(json).ok()?;
        // Checked here, since a missing version would otherwise be filled in like any other field.
        if value.get("v")?.as_f64()? != VERSION as f64 {
            return None;
        }
        serde_json::from_value(value).ok()
    }

    /// Writes the record as compact JSON.
    pub fn to_json(&self) -> String {
        // Everything in it has a JSON form; of a number that is not finite, that is null.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the ids of all entries that the pass edited.
    pub fn edited(&self) -> impl Iterator<Item = &str> {
        self.results
            .iter()
            .filter(|result| result.outcome != ItemOutcome::Kept)
            .flat_map(|result| std::iter::once(&result.entry_id).chain(&result.omitted))
            .map(String::as_str)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Takes what cannot be read for nothing.
fn readable_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expected>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// Skips what cannot be read, so that one strange item does not hide the others.
fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ItemResult>, D::Error> {
    let items = Vec::<Value>::deserialize(deserializer)?;
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

/// Reads a number; null, which is how JSON writes one that is not finite, is 0.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(0.0))
}

/// Reads a count that a JavaScript writer may have left with a fraction.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    // A cast from a float saturates, so that no number can fail.
    Ok(number(deserializer)?.round() as u64)
}

/// As [`count`], with a sign.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(number(deserializer)?.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_in_the_order_of_the_format_and_read_back() {
        let record = Record {
            phase: Phase::MidRun,
            model: "openrouter/jev".into(),
            saved_chars: 9_410,
            requests: 1,
            input_tokens: 2_000,
            cost_usd: 0.25,
            ms: 812,
            origin: Some("https://openrouter.ai".into()),
            sent_bytes: Some(5_120),
            expected: Some(Expected {
                saved_chars: 9_410,
                rewritten_chars: 31_000,
                lost_thinking_chars: 202,
                requests: 20,
                net_chars: -178_400,
            }),
            results: vec![ItemResult {
                kind: ItemKind::Exchange,
                omitted: vec!["a1".into()],
                entry_id: "u1".into(),
                tool: "exchange".into(),
                label: "\"rename\"".into(),
                outcome: ItemOutcome::Removed,
                reason: "unrelated".into(),
                before_chars: 9_600,
                after_chars: 190,
                jev: vec!["p.06".into()],
            }],
            ..Record::default()
        };
        insta::assert_snapshot!(record.to_json(), @r#"{"v":1,"phase":"mid-run","model":"openrouter/jev","savedChars":9410,"requests":1,"inputTokens":2000,"costUsd":0.25,"ms":812,"timedOut":false,"origin":"https://openrouter.ai","sentBytes":5120,"expected":{"savedChars":9410,"rewrittenChars":31000,"lostThinkingChars":202,"requests":20,"netChars":-178400},"results":[{"kind":"exchange","omitted":["a1"],"entryId":"u1","tool":"exchange","label":"\"rename\"","outcome":"removed","reason":"unrelated","beforeChars":9600,"afterChars":190,"jev":["p.06"]}]}"#);
        assert_eq!(Record::parse(&record.to_json()), Some(record));
    }

    #[test]
    fn t20_an_old_record_is_a_run_end_and_its_results_are_large() {
        let record =
            Record::parse(r#"{"v":1,"results":[{"entryId":"r1","outcome":"removed","new":[1]}],"later":{}}"#)
                .unwrap();
        assert_eq!(record.phase, Phase::RunEnd);
        assert_eq!(record.results[0].kind, ItemKind::Large);
        assert_eq!(record.edited().collect::<Vec<_>>(), ["r1"]);
    }

    #[test]
    fn t20_another_version_is_ignored() {
        for text in [r#"{"v":2,"results":[]}"#, r#"{"results":[]}"#, r#"{"v":"1"}"#, "[1]", "null", "{ nope"]
        {
            assert_eq!(Record::parse(text), None, "{text}");
        }
    }

    #[test]
    fn one_unreadable_result_does_not_hide_the_others() {
        let text =
            r#"{"v":1,"results":[{"kind":"audio","entryId":"x"},7,{"entryId":"r1","outcome":"distilled"}]}"#;
        let results = Record::parse(text).unwrap().results;
        assert_eq!(results.iter().map(|result| result.entry_id.as_str()).collect::<Vec<_>>(), ["r1"]);
    }

    #[test]
    fn an_expectation_of_another_kind_is_none() {
        for expected in ["null", "7", r#"{"requests":"many"}"#] {
            let text = format!(r#"{{"v":1,"requests":3,"expected":{expected}}}"#);
            let record = Record::parse(&text).unwrap();
            assert_eq!((record.expected, record.requests), (None, 3), "{text}");
        }
        let some = Record::parse(r#"{"v":1,"expected":{"netChars":-1.2,"later":1}}"#).unwrap().expected;
        assert_eq!(some, Some(Expected { net_chars: -1, ..Expected::default() }));
    }

    #[test]
    fn numbers_of_another_writer_are_rounded() {
        let record = Record::parse(r#"{"v":1.0,"savedChars":-12.0,"ms":812.6,"requests":-1}"#).unwrap();
        assert_eq!((record.saved_chars, record.ms, record.requests), (-12, 813, 0));
        let unknown = Record { cost_usd: f64::NAN, ..Record::default() };
        assert_eq!(Record::parse(&unknown.to_json()).unwrap().cost_usd, 0.0);
    }

    #[test]
    fn kept_items_were_not_edited() {
        let record = Record::parse(
            r#"{"v":1,"results":[{"entryId":"a","outcome":"kept","reason":"recalled","omitted":["b"]}]}"#,
        )
        .unwrap();
        assert_eq!(record.edited().count(), 0);
    }
}
