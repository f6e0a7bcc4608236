//! The user's settings, and how a project narrows them.

mod keys;
mod load;
mod schema;
#[cfg(test)]
mod tests;

pub use schema::schema;

/// The settings in force. Lengths are in characters (UTF-16 units), thresholds are probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Master switch.
    pub enabled: bool,
    /// The classifier as `provider/id`.
    pub model: String,
    /// From this length an output is large.
    pub min_result_chars: usize,
    /// At run end: least total length of large outputs for any of them to be judged.
    pub min_run_chars: usize,
    /// A segment is kept whole from this probability that all of it is needed.
    pub keep_whole_threshold: f64,
    /// A segment is kept whole from this probability that most of it is needed.
    pub focus_whole_threshold: f64,
    /// A chunk is kept from this probability at run end.
    pub chunk_keep_threshold: f64,
    /// A segment is dropped from this probability that nothing of it is needed.
    pub none_threshold: f64,
    /// An output of which more than this share would stay is left as it is.
    pub max_keep_ratio: f64,
    /// Keeps the search hits of files that the answer names.
    pub keep_cited_files: bool,
    /// Budget of one pass, and of each request, in milliseconds.
    pub timeout_ms: u32,
    /// Classifier requests in flight.
    pub concurrency: u32,
    /// Most item characters in one request.
    pub max_segment_chars: usize,
    /// Most chunks or items in one request.
    pub max_chunks_per_segment: usize,
    /// Tools whose text is never judged.
    pub exclude_tools: Vec<String>,
    /// Judges outputs of failed calls as well.
    pub distill_errors: bool,
    /// Earlier exchanges that a question tells of.
    pub history_exchanges: usize,
    /// Sets Anthropic cache breakpoints.
    pub pin_anthropic_cache: bool,
    /// Runs checkpoints.
    pub mid_run: bool,
    /// Least age of an output at a checkpoint, in turns.
    pub mid_run_min_age_turns: u32,
    /// Least batch of a checkpoint.
    pub mid_run_batch_chars: usize,
    /// The same for the provider `openai-codex`.
    pub mid_run_batch_chars_openai: usize,
    /// A chunk is kept from this probability at a checkpoint.
    pub mid_run_chunk_keep_threshold: f64,
    /// Runs a checkpoint only where the cache rewrite pays off.
    pub mid_run_break_even: bool,
    /// From this length a smaller output is judged whole; 0 switches that off.
    pub small_result_min_chars: usize,
    /// A small output is kept from this probability.
    pub small_keep_threshold: f64,
    /// Judges old exchanges.
    pub prune_exchanges: bool,
    /// Last exchanges that are never omitted.
    pub keep_recent_exchanges: usize,
    /// An exchange is omitted below this probability.
    pub exchange_omit_threshold: f64,
    /// Gates exchanges and early images at run end.
    pub exchange_break_even: bool,
    /// Gates the run's own outputs at run end.
    pub run_end_break_even: bool,
    /// Least saving of a gated batch of exchanges.
    pub exchange_min_saving_chars: usize,
    /// Age from which images go, in turns; 0 switches that off.
    pub image_keep_turns: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            enabled: true,
            model: "openrouter/~typesafe/jev-latest".into(),
            min_result_chars: 4_000,
            min_run_chars: 8_000,
            keep_whole_threshold: 0.7,
            focus_whole_threshold: 0.6,
            chunk_keep_threshold: 0.6,
            none_threshold: 0.5,
            max_keep_ratio: 0.6,
            keep_cited_files: false,
            timeout_ms: 8_000,
            concurrency: 6,
            max_segment_chars: 32_000,
            max_chunks_per_segment: 40,
            exclude_tools: vec!["edit".into(), "write".into()],
            distill_errors: true,
            history_exchanges: 3,
            pin_anthropic_cache: true,
            mid_run: true,
            mid_run_min_age_turns: 4,
            mid_run_batch_chars: 60_000,
            mid_run_batch_chars_openai: 60_000,
            mid_run_chunk_keep_threshold: 0.6,
            mid_run_break_even: true,
            small_result_min_chars: 400,
            small_keep_threshold: 0.45,
            prune_exchanges: true,
            keep_recent_exchanges: 2,
            exchange_omit_threshold: 0.2,
            exchange_break_even: true,
            run_end_break_even: false,
            exchange_min_saving_chars: 8_000,
            image_keep_turns: 3,
        }
    }
}

impl Settings {
    /// Returns whether old exchanges are judged.
    ///
    /// Who wants no word of the earlier conversation to leave must not find its exchanges in a question of their own.
    pub fn judges_exchanges(&self) -> bool {
        self.prune_exchanges && self.history_exchanges > 0
    }

    /// Returns the provider of the classifier: what stands before the first slash of `model`.
    pub fn provider(&self) -> &str {
        self.model.split_once('/').map_or("", |(provider, _)| provider)
    }

    /// Returns the classifier's id at its provider: what stands after the first slash of `model`. An empty one
    /// resolves to no model.
    pub fn model_id(&self) -> &str {
        self.model.split_once('/').map_or("", |(_, id)| id)
    }
}
