//! From the text of the settings files to the settings in force.

use serde_json::{Map, Value};

use super::Settings;
use super::keys::{KEYS, Key, Shape, Trouble};
use crate::text::{blank, ellipsis};

/// Editors look it up in the file itself; it sets nothing.
const SCHEMA_KEY: &str = "$schema";

/// Most characters of an unknown key that a warning repeats.
const SHOWN_KEY: usize = 60;

impl Settings {
    /// Reads the user's settings, narrows them by a project's own, and says in `warnings` what was not taken.
    ///
    /// Neither text can make this fail: a wrong value takes its default without touching the others, and what is
    /// no JSON object sets nothing. A blank text is as good as no file. Warnings never repeat a text from the
    /// file, which could hold a secret.
    pub fn load(user: &str, project: Option<&str>) -> (Settings, Vec<String>) {
        let mut settings = Settings::default();
        let mut warnings = Warnings { file: "settings", texts: vec![] };
        for (name, value) in warnings.object(user) {
            let Some(key) = warnings.known(&name) else { continue };
            match key.set(&mut settings, &value) {
                Ok(()) => {}
                Err(Trouble::Value(expected)) => {
                    let default = key.get(&mut settings);
                    warnings.push(&format!(
                        "`{name}` must be {expected}, not {}; the default {default} is used",
                        describe(&value)
                    ));
                }
                Err(Trouble::Part(part)) => warnings.push(&format!("`{name}`: {part}")),
            }
        }

        warnings.file = "project settings";
        for (name, value) in warnings.object(project.unwrap_or_default()) {
            let Some(key) = warnings.known(&name) else { continue };
            if let Err(reason) = settings.narrow(key, &value) {
                warnings.push(&format!("`{name}` {reason}"));
            }
        }
        (settings, warnings.texts)
    }

    /// Takes a project's value as far as it lessens what the guard does or sends; else says why not.
    fn narrow(&mut self, key: &Key, value: &Value) -> Result<(), String> {
        if !key.project {
            return Err("cannot be set by a project and is ignored; move it to your own settings".into());
        }
        let mut wish = Settings::default();
        let taken = key.set(&mut wish, value);
        if let Err(Trouble::Value(expected)) = taken {
            return Err(format!("must be {expected}, not {}, and is ignored", describe(value)));
        }
        let widens = match &key.shape {
            Shape::Switch(field) => {
                let (own, wish) = (field(self), *field(&mut wish));
                let widens = wish && !*own;
                *own &= wish;
                widens
            }
            Shape::Size(_, field) => {
                let (own, wish) = (field(self), *field(&mut wish));
                let widens = wish > *own;
                *own = wish.min(*own);
                widens
            }
            Shape::Tools => {
                for tool in wish.exclude_tools {
                    if !self.exclude_tools.contains(&tool) {
                        self.exclude_tools.push(tool);
                    }
                }
                false
            }
            Shape::Count(..) | Shape::Share(_) | Shape::Model | Shape::Network => true,
        };
        match taken {
            _ if widens => Err("is ignored: a project can only narrow your own settings".into()),
            Err(Trouble::Part(part)) => Err(format!("was taken in part: {part}")),
            _ => Ok(()),
        }
    }
}

/// What was not taken, by file.
struct Warnings {
    file: &'static str,
    texts: Vec<String>,
}

impl Warnings {
    fn push(&mut self, text: &str) {
        self.texts.push(format!("{}: {text}", self.file));
    }

    /// Returns the object that the file holds; an empty one where it holds none.
    fn object(&mut self, text: &str) -> Map<String, Value> {
        if blank(text) {
            return Map::new();
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => return object,
            Ok(other) => self.push(&format!(
                "the file must hold an object, not {}; all of it is ignored",
                describe(&other)
            )),
            Err(error) => self.push(&format!("the file is not valid JSON and is ignored: {error}")),
        }
        Map::new()
    }

    /// Returns the key of that name, if it is one.
    fn known(&mut self, name: &str) -> Option<&'static Key> {
        let found = KEYS.iter().find(|key| key.name == name);
        if found.is_none() && name != SCHEMA_KEY {
            let name = ellipsis(name, SHOWN_KEY);
            let nearest = nearest(&name);
            self.push(&format!("unknown key `{name}` is ignored; the nearest known one is `{nearest}`"));
        }
        found
    }
}

/// Returns the known key that is spelled most like `name`.
fn nearest(name: &str) -> &'static str {
    let name = name.to_lowercase();
    let likeness = |key: &Key| strsim::jaro_winkler(&key.name.to_lowercase(), &name);
    let best = KEYS.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.map_or("", |key| key.name)
}

/// Tells a wrong value without repeating texts.
fn describe(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "the given text".into(),
        Value::Array(_) => "the given list".into(),
        Value::Object(_) => "the given object".into(),
    }
}
