//! What the user asks and what the model does: three runs about one small matter, the cutting of text.
//!
//! The tools really run. So the answers were written after their outputs, and quote them.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::lab::Session;

/// Arguments of the cargo that the model runs.
pub(super) const TEST: [&str; 3] = ["test", "-p", "context-guard"];

/// The file that the runs are about.
const TEXT: &str = "guest/src/text.rs";

pub(super) const PROMPTS: [&str; 3] = [
    "Where do we cut text, and can a cut split a character?",
    "Make sure that a flag emoji is never cut: add a test for it.",
    "How long may the question and the answer be that go to the classifier, and is that tested?",
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

const WHERE: &str = r#"Everything that the model or the classifier gets to read is cut in one file, `guest/src/text.rs`, and those cuts never split a character.

`prefix` and `suffix` count UTF-16 units up to the limit, and then step back to a boundary between two characters as a reader sees them:

```rust
            return &text[..boundary(text, at, Side::Before)];
            return &text[boundary(text, at + c.len_utf8(), Side::After)..];
```

`boundary` asks the Unicode tables, with the whole text at hand:

```rust
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
```

All other cuts stand on these two: `clip`, `clip_tail` and `ellipsis` in the same file, and through them the questions (`guest/src/outputs/question/mod.rs`), the earlier conversation (`guest/src/session/history.rs`) and the labels (`guest/src/label.rs`).

Two cuts outside of it work on their own, and neither is shown to a model:

```text
host-pi/src/replay/mapping.rs:188:            head.truncate(head.floor_char_boundary(IMAGE_HEAD));
host-pi/extension/runner.ts:69:      this.lastWords = (this.lastWords + text).slice(-LAST_WORDS);
```

The first cuts base64, which is ASCII. The second can halve a surrogate pair, in the runner's last words on stderr.

One gap: the test `b5_no_combining_sequence_is_cut` has an accent and a family, but no flag, which is two code points in one character."#;

const FLAGS: &str = r#"Done: `b5_no_flag_is_cut` in `guest/src/text.rs` tests both ends, and no code had to change.

Its first version failed, and the mistake was in the test:

```text
assertion `left == right` failed
  left: "🇰🇷"
 right: "🇰🇷🇯🇵"
```

I had counted a flag as two units. It is two code points, but each of them lies outside the BMP and counts two, so a flag is four units, and a limit of 5 leaves room for one. The test now asks with limits of 7 and 9, which both fall inside a flag:

```text
test text::tests::b5_no_flag_is_cut ... ok
```

All other tests of the guest passed in that first run already."#;

const LIMITS: &str = r#"The limits are constants in `guest/src/outputs/question/mod.rs`, in UTF-16 units:

```rust
const QUESTION: usize = 4_000;
const ANSWER: usize = 6_000;
const NOTES: usize = 2_000;
```

Each is applied with `clip`, which keeps seven tenths from the start and the rest from the end:

```rust
    tell("user_question", clip(scene.question, QUESTION).into());
            tell("final_answer", clip(answer, ANSWER).into());
```

Yes, it is tested, by `long_texts_are_clipped` in `guest/src/outputs/question/tests.rs`, with texts of 7,000 characters:

```rust
        [4_000, 6_000, 2_000]
```

Earlier exchanges are shorter still, see `guest/src/session/history.rs`:

```rust
const PROMPT: usize = 800;
const REPLY: usize = 1_200;
```"#;

/// Returns the model's turns.
pub(super) fn turns() -> Value {
    let test = format!("cargo {}", TEST.join(" "));
    json!([
        { "text": "I'll search for everything that shortens text.", "tools": [bash(SEARCH)] },
        {
            "text": "Most of it comes down to text.rs. I'll read that, and what the extension does with text.",
            "tools": [read(TEXT), read("host-pi/extension/text.ts")],
        },
        { "text": WHERE },
        {
            "text": "I'll add the test next to the one for combining sequences.",
            "tools": [edit(BEFORE, &format!("{BEFORE}{WRONG_TEST}"))],
        },
        { "tools": [bash(&test)] },
        {
            "text": "The limit is in UTF-16 units, so a flag takes four of them, not two. My expectation was wrong.",
            "tools": [edit(WRONG_LINES, RIGHT_LINES)],
        },
        { "tools": [bash(&format!("{test} text::"))] },
        { "text": FLAGS },
        {
            "text": "I'll read where the questions are written, and their tests.",
            "tools": [
                read("guest/src/outputs/question/mod.rs"),
                read("guest/src/outputs/question/tests.rs"),
                read("guest/src/session/history.rs"),
            ],
        },
        { "text": LIMITS },
    ])
}

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "input": { "command": command } })
}

fn read(path: &str) -> Value {
    json!({ "name": "read", "input": { "path": path } })
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "name": "edit", "input": { "path": TEXT, "edits": [{ "oldText": old, "newText": new }] } })
}

/// Makes sure that every step went as the later ones presume.
pub(super) fn check(session: &Session) -> Result<()> {
    let failed = |result: &&Value| result["message"]["isError"] == true;
    for tool in ["read", "edit"] {
        ensure!(!session.tool_results(tool).iter().any(failed), "a call of {tool} failed");
    }
    let commands: Vec<bool> = session.tool_results("bash").iter().map(failed).collect();
    ensure!(
        commands == [false, true, false],
        "of the commands only the first test run is to fail: {commands:?}"
    );
    for answer in [WHERE, FLAGS, LIMITS] {
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
