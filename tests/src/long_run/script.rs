//! What the user asks and what the model does. The tools really run, so the script knows the bugs but no output.

use serde_json::{Value, json};

use super::bugs::{BUGS, Bug};

/// The command that runs the suite. One process for all files is quicker, and prints the same. Durations are evened out:
/// a busy machine prints longer ones, and two runs could not be compared to the token.
pub(super) const SUITE: &str = "set -o pipefail; node --test --test-isolation=none | \
     sed -E 's/[0-9.]+ms\\)$/1.000000ms)/; s/^(ℹ duration_ms) .*/\\1 100.000000/'";

/// Returns the prompt for a run that mends the first `bugs` bugs.
pub(super) fn prompt(bugs: usize) -> String {
    let which = match bugs {
        all if all == BUGS.len() => "all of them".to_owned(),
        first => format!("the first {first} modules of its report"),
    };
    format!(
        "Since the last refactoring the suite fails in ten modules. Mend {which}, one after the other in the order \
         of the report, and run the whole suite after every fix. The tests are right, docs/rules.md says why."
    )
}

/// Returns the model's turns for a run that mends the first `bugs` bugs: three to look around, four or five for each,
/// and the answer. With `thinking` it thinks before it acts.
pub(super) fn turns(bugs: usize, thinking: bool) -> Vec<Value> {
    let mut turns = acting(bugs);
    if thinking {
        for turn in &mut turns {
            turn["thinking"] = json!(thought(turn));
        }
    }
    turns
}

fn acting(bugs: usize) -> Vec<Value> {
    let mut turns = vec![
        json!({
            "text": "I'll look at the project first.",
            "tools": [bash("ls -la . src tests && cat package.json tests/support.mjs")],
        }),
        json!({
            "text": "The rules come first, since the tests follow them, and what all modules stand on.",
            "tools": [read("docs/rules.md"), read("src/money.mjs"), read("src/log.mjs")],
        }),
        json!({ "text": "Now the suite as it stands.", "tools": [bash(SUITE)] }),
    ];
    let mended = &BUGS[..bugs];
    for (index, bug) in mended.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| mended.get(before));
        turns.extend(mending(bug, before));
    }
    turns.push(json!({ "text": answer(mended) }));
    turns
}

fn mending(bug: &Bug, before: Option<&Bug>) -> Vec<Value> {
    let Bug { module, symptom, search, cause, wrong, right, .. } = bug;
    let (source, tests) = (source(bug), format!("tests/{module}.test.mjs"));
    let opening = match before {
        Some(before) => format!("{} Next: `{tests}`. {symptom}", report(before)),
        None => format!("First: `{tests}`. {symptom}"),
    };
    let mut turns = vec![
        json!({ "text": opening, "tools": [read(&tests)] }),
        json!({ "text": format!("That is for `{source}`."), "tools": [read(&source)] }),
    ];
    if let Some(search) = search {
        turns.push(json!({
            "text": "Who else relies on it?",
            "tools": [bash(&format!("grep -rn '{search}' src tests docs"))],
        }));
    }
    turns.push(json!({
        "text": cause,
        "tools": [json!({
            "name": "edit",
            "input": { "path": source, "edits": [{ "oldText": wrong, "newText": right }] },
        })],
    }));
    turns.push(json!({ "text": "The suite again.", "tools": [bash(SUITE)] }));
    turns
}

/// What the model thinks before a turn. It is of the length that thinking often has before a small step.
fn thought(turn: &Value) -> String {
    format!(
        "Where am I? The suite has told which modules fail, and I go through them in its order. {} \
         I should look at what the test expects and at the rule behind it before I touch the code, change as little \
         as possible, and then let the whole suite tell whether something else broke. Nothing so far speaks against that.",
        turn["text"].as_str().unwrap_or_default()
    )
}

/// What the model says of a bug that is mended: its classifier has nothing else to go by.
fn report(bug: &Bug) -> String {
    format!("Fixed {} in `{}`, and its tests pass now.", bug.matter, source(bug))
}

fn answer(mended: &[Bug]) -> String {
    let lines: Vec<String> =
        mended.iter().map(|bug| format!("- `{}`: {}. {}", source(bug), bug.matter, bug.cause)).collect();
    format!("Done. What was wrong:\n\n{}", lines.join("\n"))
}

fn source(bug: &Bug) -> String {
    format!("src/{}.mjs", bug.module)
}

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "input": { "command": command } })
}

fn read(path: &str) -> Value {
    json!({ "name": "read", "input": { "path": path } })
}
