//! What the user asks and what the model does: seven runs about three matters and some small ones, as on any morning.
//!
//! The tools really run. So the answers were written after their outputs, and quote them.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::answers::{FLAGS, FOOTER, LICENCE, LONGEST, RUST, WHERE, WORDS};
use crate::lab::Session;

/// Arguments of the cargo that the model runs.
pub(super) const TEST: [&str; 3] = ["test", "-p", "context-guard"];

/// The files that are changed.
const TEXT: &str = "guest/src/text.rs";
const STATUS: &str = "guest/src/report/status.rs";
const STATUS_TESTS: &str = "guest/src/report/tests.rs";

/// A screenshot, as if a user had sent it.
const SCREENSHOT: &str = "tests/fixtures/footer.png";

pub(super) const PROMPTS: [&str; 7] = [
    "Which Rust does this project need?",
    "Where do we cut text, and can a cut split a character?",
    "Make sure that a flag emoji is never cut: add a test for it.",
    "tests/fixtures/footer.png is a user's screenshot. What do the figures behind the shield mean?",
    "A footer with \"0 saved\" reads like a failure. Let it say that nothing is saved yet.",
    "Which file of the guest is the longest?",
    "Under which licence is this, and does every package say so?",
];

/// A broad search, as models like to begin with.
const SEARCH: &str = r"grep -rnE 'cut|clip|prefix|suffix|truncat|slice|ellipsis|units\(|chars\(' guest/src host-pi/src host-pi/extension";

/// The end of the test that the new one is put behind.
const BEFORE: &str = r#"        assert_eq!(prefix("a👨‍👩‍👧", 4), "a");
    }
"#;

/// The new test, with the mistake that the model makes first: a flag is two code points, but four units.
const WRONG_TEST: &str = r#"
    #[test]
    fn b5_no_flag_is_cut() {
        let flags = "🇰🇷🇯🇵🇫🇷";
        assert_eq!(prefix(flags, 5), "🇰🇷🇯🇵");
        assert_eq!(suffix(flags, 5), "🇯🇵🇫🇷");
    }
"#;
const WRONG_LINES: &str = r#"        assert_eq!(prefix(flags, 5), "🇰🇷🇯🇵");
        assert_eq!(suffix(flags, 5), "🇯🇵🇫🇷");
"#;
const RIGHT_LINES: &str = r#"        assert_eq!(prefix(flags, 9), "🇰🇷🇯🇵");
        assert_eq!(prefix(flags, 7), "🇰🇷");
        assert_eq!(suffix(flags, 9), "🇯🇵🇫🇷");
        assert_eq!(suffix(flags, 7), "🇫🇷");
"#;

/// The words in the footer, old and new.
const OLD_WORDS: &str = r#""🛡 0 saved""#;
const NEW_WORDS: &str = r#""🛡 nothing saved yet""#;

/// Returns the model's turns.
pub(super) fn turns() -> Value {
    let test = format!("cargo {}", TEST.join(" "));
    let reports = format!("{test} report::");
    json!([
        { "tools": [bash("grep -h rust-version Cargo.toml")] },
        { "text": RUST },
        { "text": "I'll search for everything that shortens text.", "tools": [bash(SEARCH)] },
        {
            "text": "Most of it comes down to text.rs. I'll read that, and what the extension does with text.",
            "tools": [read(TEXT), read("host-pi/extension/text.ts")],
        },
        { "text": WHERE },
        {
            "text": "I'll add the test next to the one for combining sequences.",
            "tools": [edit(TEXT, BEFORE, &format!("{BEFORE}{WRONG_TEST}"))],
        },
        { "tools": [bash(&test)] },
        {
            "text": "The limit is in UTF-16 units, so a flag takes four of them, not two. My expectation was wrong.",
            "tools": [edit(TEXT, WRONG_LINES, RIGHT_LINES)],
        },
        { "tools": [bash(&format!("{test} text::"))] },
        { "text": FLAGS },
        { "text": "I'll look at it.", "tools": [read(SCREENSHOT)] },
        {
            "text": "The last line of the screen is the guard's: `🛡 −10.2k · 2`. I'll see where that is written.",
            "tools": [bash("grep -rn '🛡 −' guest/src docs README.md")],
        },
        { "tools": [read(STATUS)] },
        { "text": "And what the numbers count.", "tools": [bash("grep -n -B1 -A4 'pub fn' guest/src/report/statistics.rs")] },
        { "text": FOOTER },
        { "tools": [read(STATUS), bash("grep -rn '0 saved' guest/src host-pi/extension docs README.md")] },
        { "tools": [edit(STATUS, OLD_WORDS, NEW_WORDS)] },
        { "tools": [bash(&reports)] },
        { "text": "That test fixes the words.", "tools": [edit(STATUS_TESTS, OLD_WORDS, NEW_WORDS)] },
        { "tools": [bash(&reports)] },
        { "text": WORDS },
        { "tools": [bash("find guest/src -name '*.rs' -exec wc -l {} + | sort -n | grep -v total | tail -12")] },
        { "text": LONGEST },
        { "tools": [bash("head -1 LICENSE; grep -h license Cargo.toml */Cargo.toml host-pi/package.json")] },
        { "text": LICENCE },
    ])
}

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "input": { "command": command } })
}

fn read(path: &str) -> Value {
    json!({ "name": "read", "input": { "path": path } })
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "name": "edit", "input": { "path": path, "edits": [{ "oldText": old, "newText": new }] } })
}

/// Makes sure that every step went as the later ones presume.
pub(super) fn check(session: &Session) -> Result<()> {
    let failed = |result: &&Value| result["message"]["isError"] == true;
    for tool in ["read", "edit"] {
        ensure!(!session.tool_results(tool).iter().any(failed), "a call of {tool} failed");
    }
    let commands: Vec<bool> = session.tool_results("bash").iter().map(failed).collect();
    ensure!(
        commands.iter().filter(|failed| **failed).count() == 2,
        "of the commands only the first test run for each change is to fail: {commands:?}"
    );
    for answer in [RUST, WHERE, FLAGS, FOOTER, WORDS, LONGEST, LICENCE] {
        let quoted = answer.split("```").skip(1).step_by(2).flat_map(|block| block.lines().skip(1));
        for line in quoted {
            let found = session
                .of_type("message")
                .iter()
                .any(|entry| entry["message"]["role"] == "toolResult" && has_line(&entry["message"], line));
            ensure!(found, "no output has the line that an answer quotes: {line:?}");
        }
    }
    session.of_type("message").last().context("the session is empty").map(drop)
}

fn has_line(message: &Value, line: &str) -> bool {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).any(|text| text.lines().any(|other| other == line))
}
