//! Whether a later call made an output stale.
//!
//! Told of it, the classifier lets go of reads of files that were edited since; otherwise it keeps many of them. It
//! is a hint and no verdict, so a later call counts only where it is plain what it did.

mod reading;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::{Map, Value};

use self::reading::{Reading, absolute};
use crate::label::{self, label_of_other};
use crate::outputs::Candidate;
use crate::secrets::Masks;
use crate::session::{Call, Projected, Run};
use crate::settings::Settings;
use crate::text::{plural, squeeze};

/// The calls of a run, with what each of them reads, changes or runs.
#[derive(Clone, Debug)]
pub struct Calls<'a> {
    made: Vec<Made<'a>>,
    directory: &'a str,
    settings: &'a Settings,
    masks: &'a Masks,
}

#[derive(Clone, Debug)]
struct Made<'a> {
    call: Call<'a>,
    deed: Deed,
    outcome: Option<Outcome>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Succeeded,
    Failed,
}

/// What a call does, as far as its arguments tell.
#[derive(Clone, Debug, Default, PartialEq)]
struct Deed {
    /// The part of a file that it shows.
    reads: Option<Reading>,
    /// The file that it changes.
    changes: Option<String>,
    /// The command that it runs, in its plainest form.
    runs: Option<String>,
    /// Of a call that neither reads nor runs anything.
    arguments: Value,
}

impl<'a> Calls<'a> {
    /// Reads the calls of a run. `directory` is the absolute directory that relative paths start from; an empty one
    /// is unknown. What is said of a call is masked.
    pub fn of(run: &Run<'a>, directory: &'a str, settings: &'a Settings, masks: &'a Masks) -> Self {
        let outcome = |item: &Projected<'a>| {
            let result = item.recorded()?.tool_result()?;
            let outcome = if result.is_error { Outcome::Failed } else { Outcome::Succeeded };
            Some((result.call_id.as_str(), outcome))
        };
        let outcomes: HashMap<&str, Outcome> = run.span.iter().filter_map(outcome).collect();
        let made = |call: &Call<'a>| Made {
            deed: Deed::of(call.name, call.arguments, directory),
            outcome: outcomes.get(call.id).copied(),
            call: call.clone(),
        };
        Calls { made: run.calls.iter().map(made).collect(), directory, settings, masks }
    }

    /// Says which later call made an output stale, and how many turns later; none where none did, or where the
    /// output's own call is unknown. Of several, the first one counts.
    pub fn superseding(&self, output: &Candidate<'_>) -> Option<String> {
        let (arguments, turn) = (output.arguments?, output.turn?);
        let own = Deed::of(output.tool, arguments, self.directory);
        let mut later = self.made.iter().filter(|made| made.call.turn > turn);
        later.find_map(|made| {
            let what = self.what(output.tool, &own, made)?;
            Some(format!("{what} ({} on)", plural((made.call.turn - turn) as usize, "turn")))
        })
    }

    /// Says how a later call made an earlier one's output stale.
    fn what(&self, tool: &str, own: &Deed, later: &Made<'_>) -> Option<String> {
        // A call without a result showed and, as far as can be known, changed nothing.
        let succeeded = later.outcome? == Outcome::Succeeded;
        let by = || label_of_other(later.call.name, Some(later.call.arguments), self.settings, self.masks);
        if let Some(reading) = &own.reads {
            if succeeded && later.deed.changes.as_ref() == Some(&reading.path) {
                return Some(format!("file changed later by {}", by()));
            }
            if succeeded && later.deed.reads.as_ref() == Some(reading) {
                return Some(format!("same range read again by {}", by()));
            }
        }
        match &own.runs {
            // A failing command shows how things stand as much as one that succeeds.
            Some(command) if later.deed.runs.as_ref() == Some(command) => {
                Some("same command run again".to_owned())
            }
            None if own.reads.is_none()
                && later.call.name == tool
                && later.deed.arguments == own.arguments =>
            {
                Some(format!("same {tool} call made again"))
            }
            _ => None,
        }
    }
}

impl Deed {
    fn of(tool: &str, arguments: &str, directory: &str) -> Self {
        // What is no JSON can still be the same text. Objects are equal whatever the order of their keys.
        let value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments));
        let nothing = Map::new();
        let object = value.as_object().unwrap_or(&nothing);
        let path = Some(label::path(object)).filter(|path| !path.is_empty());
        let path = path.map(|path| absolute(path, directory));
        let mut deed = Deed::default();
        match (tool, path) {
            ("read", Some(path)) => {
                deed.reads = Some(Reading::new(path, object.get("offset"), object.get("limit")));
            }
            ("edit" | "write", path) => deed.changes = path,
            _ => {}
        }
        let command = label::command(object);
        if deed.reads.is_none() && !command.trim().is_empty() {
            deed.reads = reading::of_command(command, directory);
            let command = squeeze(command);
            deed.runs = Some(command.strip_suffix("2>&1").unwrap_or(&command).trim().to_owned());
        }
        if deed.reads.is_none() && deed.runs.is_none() {
            deed.arguments = value;
        }
        deed
    }
}
