//! The JSON Schema of a settings file, for editors.

use serde_json::{Map, Value, json};

use super::Settings;
use super::keys::{KEYS, Key, Shape};

/// Returns the JSON Schema (draft 2020-12) of a settings file.
pub fn schema() -> Value {
    let mut defaults = Settings::default();
    let mut properties = Map::new();
    properties.insert("$schema".into(), json!({ "type": "string" }));
    for key in KEYS {
        let mut property = Map::new();
        property.insert("description".into(), key.meaning.into());
        property.extend(constraints(key));
        property.insert("default".into(), key.get(&mut defaults));
        properties.insert(key.name.into(), Value::Object(property));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of the context guard",
        "description": "Every key is optional. A wrong value takes its default and gives a warning.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn constraints(key: &Key) -> Map<String, Value> {
    let constraints = match &key.shape {
        Shape::Switch(_) => json!({ "type": "boolean" }),
        Shape::Size(range, _) | Shape::Count(range, _) => {
            json!({ "type": "integer", "minimum": range.start(), "maximum": range.end() })
        }
        Shape::Share(_) => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Shape::Model => json!({ "type": "string", "pattern": r"^\s*[^\s/][^/]*/" }),
        Shape::Tools => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Network => {
            let origins = json!({ "type": "array", "items": { "type": "string", "pattern": r"^https?://[^/?#@\s]+$" } });
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": { "allow": origins, "deny": origins },
            })
        }
    };
    match constraints {
        Value::Object(constraints) => constraints,
        _ => Map::new(),
    }
}
