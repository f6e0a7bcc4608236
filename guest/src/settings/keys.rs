//! The table of keys that a settings file can have.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::Settings;

/// One key of the file.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// For people who edit the file.
    pub(super) meaning: &'static str,
    pub(super) shape: Shape,
    /// A project's own file may set it, as far as that lessens what the guard does or sends.
    pub(super) project: bool,
}

/// What a key takes, and where it goes. Ranges are inclusive.
pub(super) enum Shape {
    /// `true` or `false`.
    Switch(fn(&mut Settings) -> &mut bool),
    /// A number without fraction.
    Size(RangeInclusive<u32>, fn(&mut Settings) -> &mut usize),
    /// A number without fraction.
    Count(RangeInclusive<u32>, fn(&mut Settings) -> &mut u32),
    /// A number from 0 to 1.
    Share(fn(&mut Settings) -> &mut f64),
    /// `provider/id`.
    Model,
    /// A list of tool names.
    Tools,
    /// Origins that the user allowed or denied. Only the host acts on it: what the guest says must not widen
    /// what the guest may reach.
    Network,
}

/// Why a value was not taken, or not as a whole.
pub(super) enum Trouble {
    /// The value has the wrong type or range; holds what the key takes.
    Value(String),
    /// A part of the value was left out; says which.
    Part(&'static str),
}

impl Key {
    /// Puts a value into the settings. One of the wrong type or range changes nothing.
    pub(super) fn set(&self, settings: &mut Settings, value: &Value) -> Result<(), Trouble> {
        let wrong = || Trouble::Value(self.shape.expectation());
        match &self.shape {
            Shape::Switch(field) => *field(settings) = value.as_bool().ok_or_else(wrong)?,
            Shape::Size(range, field) => {
                *field(settings) = whole(value, range).and_then(|n| n.try_into().ok()).ok_or_else(wrong)?;
            }
            Shape::Count(range, field) => *field(settings) = whole(value, range).ok_or_else(wrong)?,
            Shape::Share(field) => {
                let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
                *field(settings) = share.ok_or_else(wrong)?;
            }
            Shape::Model => {
                let model =
                    value.as_str().map(str::trim).filter(|model| model.find('/').is_some_and(|at| at > 0));
                settings.model = model.ok_or_else(wrong)?.to_owned();
            }
            Shape::Tools => {
                let list = value.as_array().ok_or_else(wrong)?;
                settings.exclude_tools = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                if settings.exclude_tools.len() < list.len() {
                    return Err(Trouble::Part("only texts name tools, the rest is left out"));
                }
            }
            Shape::Network if !is_permission(value) => {
                return Err(Trouble::Part(
                    "only lists of texts under `allow` and `deny` count, the rest is left out",
                ));
            }
            Shape::Network => {}
        }
        Ok(())
    }

    /// Returns the value in `settings` as JSON.
    pub(super) fn get(&self, settings: &mut Settings) -> Value {
        match &self.shape {
            Shape::Switch(field) => Value::from(*field(settings)),
            Shape::Size(_, field) => Value::from(*field(settings)),
            Shape::Count(_, field) => Value::from(*field(settings)),
            Shape::Share(field) => Value::from(*field(settings)),
            Shape::Model => Value::from(settings.model.as_str()),
            Shape::Tools => Value::from(settings.exclude_tools.as_slice()),
            Shape::Network => serde_json::json!({}),
        }
    }
}

impl Shape {
    /// Says what the key takes.
    fn expectation(&self) -> String {
        match self {
            Shape::Switch(_) => "true or false".into(),
            Shape::Size(range, _) | Shape::Count(range, _) => {
                format!("a whole number from {} to {}", range.start(), range.end())
            }
            Shape::Share(_) => "a number from 0 to 1".into(),
            Shape::Model => "a text of the form `provider/id`".into(),
            Shape::Tools => "a list of tool names".into(),
            Shape::Network => "an object".into(),
        }
    }
}

fn whole(value: &Value, range: &RangeInclusive<u32>) -> Option<u32> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    // No number of the range is lost by the cast.
    (f64::from(*range.start())..=f64::from(*range.end())).contains(&number).then_some(number as u32)
}

fn is_permission(value: &Value) -> bool {
    let sound = |(name, list): (&String, &Value)| {
        matches!(name.as_str(), "allow" | "deny")
            && list.as_array().is_some_and(|list| list.iter().all(Value::is_string))
    };
    value.as_object().is_some_and(|lists| lists.iter().all(sound))
}

const fn key(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key { name, meaning, shape, project: false }
}

const fn project_key(name: &'static str, shape: Shape, meaning: &'static str) -> Key {
    Key { name, meaning, shape, project: true }
}

/// Most characters that a length can be set to.
const LONGEST: u32 = 10_000_000;

/// All keys, in the order in which they are documented.
pub(super) const KEYS: &[Key] = &[
    project_key("enabled", Shape::Switch(|s| &mut s.enabled), "Master switch."),
    key("model", Shape::Model, "The classifier as `provider/id`; `builtin/lexical` judges offline."),
    key(
        "minResultChars",
        Shape::Size(0..=LONGEST, |s| &mut s.min_result_chars),
        "From this many characters an output is large and judged in parts.",
    ),
    key(
        "minRunChars",
        Shape::Size(0..=LONGEST, |s| &mut s.min_run_chars),
        "At run end: least total of large outputs for any of them to be judged.",
    ),
    key(
        "keepWholeThreshold",
        Shape::Share(|s| &mut s.keep_whole_threshold),
        "Keep a segment from this probability that all of it is needed.",
    ),
    key(
        "focusWholeThreshold",
        Shape::Share(|s| &mut s.focus_whole_threshold),
        "Keep a segment from this probability that most of it is needed.",
    ),
    key(
        "chunkKeepThreshold",
        Shape::Share(|s| &mut s.chunk_keep_threshold),
        "Keep a chunk from this probability that it is needed, at run end.",
    ),
    key(
        "noneThreshold",
        Shape::Share(|s| &mut s.none_threshold),
        "Drop a segment from this probability that nothing of it is needed, if no chunk passed.",
    ),
    key(
        "maxKeepRatio",
        Shape::Share(|s| &mut s.max_keep_ratio),
        "Leave an output as it is if more than this share of it would stay.",
    ),
    key(
        "keepCitedFiles",
        Shape::Switch(|s| &mut s.keep_cited_files),
        "Keep the search hits of files that the answer names.",
    ),
    key(
        "timeoutMs",
        Shape::Count(500..=600_000, |s| &mut s.timeout_ms),
        "Budget of one pass, and of each request, in milliseconds.",
    ),
    key("concurrency", Shape::Count(1..=32, |s| &mut s.concurrency), "Classifier requests in flight."),
    key(
        "maxSegmentChars",
        Shape::Size(2_000..=200_000, |s| &mut s.max_segment_chars),
        "Most item characters in one request.",
    ),
    key(
        "maxChunksPerSegment",
        Shape::Size(2..=60, |s| &mut s.max_chunks_per_segment),
        "Most chunks or items in one request.",
    ),
    project_key("excludeTools", Shape::Tools, "Tools whose text is never judged."),
    key("distillErrors", Shape::Switch(|s| &mut s.distill_errors), "Judge outputs of failed calls as well."),
    project_key(
        "historyExchanges",
        Shape::Size(0..=10, |s| &mut s.history_exchanges),
        "Earlier exchanges that a question tells of as background; with 0 nothing of the earlier conversation leaves, and no \
         exchange is judged.",
    ),
    key(
        "pinAnthropicCache",
        Shape::Switch(|s| &mut s.pin_anthropic_cache),
        "Set Anthropic cache breakpoints and keep track of what they cached.",
    ),
    project_key("midRun", Shape::Switch(|s| &mut s.mid_run), "Judge at checkpoints during a run."),
    key(
        "midRunMinAgeTurns",
        Shape::Count(1..=100, |s| &mut s.mid_run_min_age_turns),
        "Least age of an output at a checkpoint, in turns.",
    ),
    key(
        "midRunBatchChars",
        Shape::Size(0..=LONGEST, |s| &mut s.mid_run_batch_chars),
        "Least batch of a checkpoint, in characters.",
    ),
    key(
        "midRunBatchCharsOpenAI",
        Shape::Size(0..=LONGEST, |s| &mut s.mid_run_batch_chars_openai),
        "Least batch of a checkpoint with the provider `openai-codex`.",
    ),
    key(
        "midRunChunkKeepThreshold",
        Shape::Share(|s| &mut s.mid_run_chunk_keep_threshold),
        "Keep a chunk from this probability that it is needed, at a checkpoint.",
    ),
    key(
        "midRunBreakEven",
        Shape::Switch(|s| &mut s.mid_run_break_even),
        "Run a checkpoint, and make its edits, only where the cache rewrite pays off.",
    ),
    key(
        "smallResultMinChars",
        Shape::Size(0..=LONGEST, |s| &mut s.small_result_min_chars),
        "From this many characters a smaller output is judged as a whole; 0 switches that off.",
    ),
    key(
        "smallKeepThreshold",
        Shape::Share(|s| &mut s.small_keep_threshold),
        "Keep a small output from this probability that it is needed.",
    ),
    project_key(
        "pruneExchanges",
        Shape::Switch(|s| &mut s.prune_exchanges),
        "Judge old exchanges, unless `historyExchanges` is 0.",
    ),
    key(
        "keepRecentExchanges",
        Shape::Size(0..=100, |s| &mut s.keep_recent_exchanges),
        "Last exchanges that are never omitted.",
    ),
    key(
        "exchangeOmitThreshold",
        Shape::Share(|s| &mut s.exchange_omit_threshold),
        "Omit an exchange below this probability that it still matters.",
    ),
    key(
        "exchangeBreakEven",
        Shape::Switch(|s| &mut s.exchange_break_even),
        "At run end, edit exchanges and early images only where the cache rewrite pays off.",
    ),
    key(
        "runEndBreakEven",
        Shape::Switch(|s| &mut s.run_end_break_even),
        "At run end, edit the run's own outputs only where the cache rewrite pays off.",
    ),
    key(
        "exchangeMinSavingChars",
        Shape::Size(0..=LONGEST, |s| &mut s.exchange_min_saving_chars),
        "Least saving of a gated batch of exchanges, in characters.",
    ),
    key(
        "imageKeepTurns",
        Shape::Count(0..=1_000, |s| &mut s.image_keep_turns),
        "Age in turns from which images in outputs are removed; 0 switches that off.",
    ),
    key(
        "network",
        Shape::Network,
        "Origins that questions may go to, and those not to ask about again; read by the host only.",
    ),
];
