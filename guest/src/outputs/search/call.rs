//! Tells from a call whether it searches files.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::pattern;

/// A call that searches files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct SearchCall {
    /// It asks for the file's name on a line of its own, above the matches.
    pub(in super::super) headings: bool,
}

/// Tools that do nothing but search.
const TOOLS: [&str; 4] = ["grep", "rg", "ripgrep", "ag"];

/// A search program where a shell command can begin, or behind `xargs` or `find -exec`.
///
/// Behind a pipe it reads another program's output, in which there are no files to name.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        (?: (?:^|[\n;({&] | \|\| | \bdo\s | \bthen\s) \s* (?:(?:sudo|time|command|env|[A-Za-z_]\w*=\S*)\s+)*
          | \bxargs\s[^|;&\n]*? | \s-exec\s+ )
        (?:[^\s'\x22]*/)? (?: rg | [ef]?grep | zgrep | ag | ack | git\s(?:[^|;&\n]*?\s)?grep ) (?:\s|$)",
    )
});

/// The options of these programs that put a file's name above its matches.
static HEADINGS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\s--(?:heading|group|pretty)\b|\brg\s(?:[^|;&\n]*\s)?-[A-Za-z]*p\b"));

impl SearchCall {
    /// Reads a call; none for one that is no search as far as can be seen.
    pub(in super::super) fn read(tool: &str, arguments: &Map<String, Value>) -> Option<Self> {
        let command = ["command", "cmd"].iter().find_map(|key| arguments.get(*key)?.as_str());
        let Some(command) = command else {
            let searches = TOOLS.iter().any(|name| tool.eq_ignore_ascii_case(name));
            return searches.then_some(SearchCall { headings: false });
        };
        PROGRAM.is_match(command).then(|| SearchCall { headings: HEADINGS.is_match(command) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bash(command: &str) -> Option<SearchCall> {
        SearchCall::read("bash", json!({ "command": command }).as_object().unwrap())
    }

    #[test]
    fn b3_searches_are_recognised_by_their_call() {
        for command in [
            "rg foo",
            "rg -n foo src | head -50",
            "grep -rn 'a -- b' .",
            "cd src && git grep -n foo",
            "git --no-pager grep foo -- '*.rs'",
            "FOO=1 sudo /usr/bin/grep foo a b",
            "find . -name '*.rs' | xargs -0 grep foo",
            r"find . -exec grep -H foo {} \;",
            "ls; ag foo",
            "for d in a b; do rg foo $d; done",
        ] {
            assert!(bash(command).is_some(), "{command}");
        }
        assert!(SearchCall::read("Grep", json!({ "pattern": "x" }).as_object().unwrap()).is_some());
    }

    #[test]
    fn b3_other_calls_are_no_searches() {
        for command in [
            "cargo test 2>&1 | grep FAILED",
            "cat rg",
            "journalctl | rg foo",
            "git log --grep=x",
            "pgrep foo",
            "ls",
        ] {
            assert!(bash(command).is_none(), "{command}");
        }
        assert!(SearchCall::read("read", json!({ "path": "grep" }).as_object().unwrap()).is_none());
    }

    #[test]
    fn b3_headings_are_asked_for() {
        for command in
            ["rg --heading foo", "rg -p foo", "rg -np foo src", "git grep --heading foo", "ag --group x"]
        {
            assert_eq!(bash(command), Some(SearchCall { headings: true }), "{command}");
        }
        for command in ["rg foo", "rg --type-add p foo", "grep -rp foo", "git grep -p foo"] {
            assert_eq!(bash(command), Some(SearchCall { headings: false }), "{command}");
        }
    }
}
