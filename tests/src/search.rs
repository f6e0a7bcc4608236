//! The run that most tests judge: a search with hundreds of hits, of which one file matters.

use anyhow::Result;
use serde_json::{Value, json};

use crate::lab::{Lab, Plan};

/// Stands in the one file that matters.
pub const NEEDED: &str = "retry_backoff_needed";
/// Stands in every other file.
pub const NOISE: &str = "retry_counter_noise";

/// Finds the entry's id in a note of the guard's.
pub const NOTE: &str = r#""entryId":"(\w+)""#;

/// What the model calls.
pub const COMMAND: &str = "grep -rn retry_ src | sort";

/// Returns a plan whose first prompt runs the search, and whose classifier wants only what names [`NEEDED`].
pub fn plan(later_turns: &[Value]) -> Plan {
    let mut turns = vec![
        json!({ "text": "Let me search.", "tools": [{ "name": "bash", "input": { "command": COMMAND } }] }),
        json!({ "text": "The backoff is set in src/needed.rs." }),
    ];
    turns.extend_from_slice(later_turns);
    Plan {
        turns: json!(turns),
        rules: json!([
            { "question": "^keep_whole$", "p": 0.1 },
            { "question": "^focus$", "chunk": NEEDED, "confidence": 0.9 },
            { "question": "^focus$", "choice": "none", "confidence": 0.9 },
            { "question": "^chunk_", "chunk": NEEDED, "p": 0.95 },
            { "question": "^chunk_", "p": 0.05 },
        ]),
        granted: true,
        ..Plan::default()
    }
}

/// Sets up a laboratory with the files that the search finds.
///
/// # Errors
///
/// As [`Lab::new`].
pub fn lab(plan: Plan) -> Result<Lab> {
    let lab = Lab::new(plan)?;
    let lines = |what: &str| {
        (0..60).map(|n| format!("    let {what}_{n} = self.{what} + {n};\n")).collect::<String>()
    };
    for name in ["admission", "batch", "cluster", "driver", "election"] {
        lab.write(&format!("src/{name}.rs"), &lines(NOISE))?;
    }
    lab.write("src/needed.rs", &lines(NEEDED))?;
    Ok(lab)
}

/// The text of the search's result in a request to the model.
pub fn result_in(request: &Value) -> Option<String> {
    request["messages"]
        .as_array()?
        .iter()
        .flat_map(|message| message["content"].as_array())
        .flatten()
        .find_map(|block| {
            let is_search = block["type"] == "tool_result" && block["tool_use_id"] == "toolu_fake_1_0";
            is_search.then(|| text_of(&block["content"]))
        })
}

/// The text of a message's content, which is a string or blocks.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}
