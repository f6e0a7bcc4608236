//! Which tool outputs of a run may be judged.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::origin;
use crate::label;
use crate::session::{Projected, Run, text_of, text_only};
use crate::settings::Settings;
use crate::text::units;

/// A tool output that may be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// Id of its entry, which an edit targets.
    pub entry: &'a str,
    /// Name of the tool, `tool` where nothing tells it.
    pub tool: &'a str,
    /// The call's arguments, a JSON object as text; none where the call is not part of the run.
    pub arguments: Option<&'a str>,
    /// What the model sees of it, which is what the tool returned.
    pub text: Cow<'a, str>,
    /// The call failed.
    pub failed: bool,
    /// The turn that made the call; none where the call is not part of the run.
    pub turn: Option<u32>,
}

impl Candidate<'_> {
    /// Returns the short name of its call.
    pub fn label(&self) -> String {
        label::label(self.tool, self.arguments)
    }

    /// Returns whether it is long enough to be judged piece by piece.
    pub fn is_large(&self, settings: &Settings) -> bool {
        units(&self.text) >= settings.min_result_chars
    }

    /// Returns its arguments; an empty object where they are missing or broken.
    pub(super) fn object(&self) -> Map<String, Value> {
        label::object(self.arguments)
    }
}

/// Returns the outputs of a run that may be judged, of any length, in the order of the results.
///
/// What an excluded tool returned is none, `recall` of it included, nor what the guard replaced already. A text that
/// merely begins with the guard's marker is an output like any other.
pub fn outputs<'a>(run: &Run<'a>, settings: &Settings) -> Vec<Candidate<'a>> {
    let candidate = |entry: &Projected<'a>| {
        let shown = entry.shown()?;
        let result = shown.tool_result()?;
        let call = run.call(&result.call_id);
        let tool = result.tool_name.as_deref().or(call.map(|call| call.name)).unwrap_or("tool");
        if result.is_error && !settings.distill_errors
            || !text_only(shown.blocks)
            || entry.ours()
            || settings.exclude_tools.iter().any(|excluded| excluded == tool)
            || tool == origin::RECALL && origin::is_excluded(run.projection, entry.position, settings)
        {
            return None;
        }
        let text = shown.text();
        // A text that another extension changed is that extension's business.
        (text_of(entry.recorded()?.blocks) == text).then(|| Candidate {
            entry: entry.id(),
            tool,
            arguments: call.map(|call| call.arguments),
            text,
            failed: result.is_error,
            turn: call.map(|call| call.turn),
        })
    };
    run.span.iter().filter_map(candidate).collect()
}

/// Returns whether the large outputs of a finished run are worth a question, by their total length.
pub fn worth_asking(large: &[Candidate<'_>], settings: &Settings) -> bool {
    large.iter().map(|output| units(&output.text)).sum::<usize>() >= settings.min_run_chars
}
