//! The short name of a tool call, as notes and questions give it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::secrets::Masks;
use crate::settings::Settings;
use crate::text;

/// Most characters of an argument in a label.
const WIDTH: usize = 80;

/// Names a call after the argument that says most about it: its command, its path or its pattern.
///
/// `arguments` is a JSON object as text; anything else counts as no arguments. The label is always one line,
/// and a backtick of the command is written as an apostrophe, since a backtick would end the quotation early.
pub fn label(tool: &str, arguments: Option<&str>) -> String {
    shown(tool, arguments, |text| Cow::Borrowed(text))
}

/// Names a call in a question, without its secrets.
pub fn label_told(tool: &str, arguments: Option<&str>, masks: &Masks) -> String {
    shown(tool, arguments, |text| masks.text(text))
}

/// Names a call by an argument as `show` has it, which sees the argument before it is shortened.
fn shown(tool: &str, arguments: Option<&str>, show: impl Fn(&str) -> Cow<'_, str>) -> String {
    let tool = one_line(&show(tool));
    let arguments = object(arguments);
    let command = text::squeeze(&show(command(&arguments)));
    if !command.is_empty() {
        return format!("{tool} {}", quoted(&command));
    }
    let path = path(&arguments);
    if !path.is_empty() {
        return format!("{tool} {}", text::ellipsis(&one_line(&show(path)), WIDTH));
    }
    let pattern = first(&arguments, &["pattern", "query"]);
    if !pattern.is_empty() {
        return format!("{tool} {}", quoted(&one_line(&show(pattern))));
    }
    tool
}

/// Names a call in a question about something else: where the user excluded its tool, by the tool alone.
///
/// `edit` and `write` keep their path even so, since on it rests whether an earlier output is out of date.
pub fn label_of_other(tool: &str, arguments: Option<&str>, settings: &Settings, masks: &Masks) -> String {
    let private = settings.exclude_tools.iter().any(|excluded| excluded == tool);
    label_told(tool, arguments.filter(|_| !private || matches!(tool, "edit" | "write")), masks)
}

/// Returns whether a call runs a command.
pub(crate) fn has_command(arguments: Option<&str>) -> bool {
    !command(&object(arguments)).is_empty()
}

/// Returns the command that a call runs; the empty string where it runs none.
pub(crate) fn command(arguments: &Map<String, Value>) -> &str {
    first(arguments, &["command", "cmd"])
}

/// Returns the file that a call names; the empty string where it names none.
pub(crate) fn path(arguments: &Map<String, Value>) -> &str {
    first(arguments, &["path", "file_path", "file"])
}

/// Reads a call's arguments; an empty object where they are missing or are no JSON object.
pub(crate) fn object(arguments: Option<&str>) -> Map<String, Value> {
    arguments.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// Puts a text on one line by turning every line break into a space.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(is_line_break, " ")
}

/// Returns the first of `keys` that has a string, even an empty one; the empty string where none has.
fn first<'a>(arguments: &'a Map<String, Value>, keys: &[&str]) -> &'a str {
    keys.iter().find_map(|key| arguments.get(*key)?.as_str()).unwrap_or_default()
}

fn quoted(value: &str) -> String {
    format!("`{}`", text::ellipsis(&value.replace('`', "'"), WIDTH))
}

/// The characters that Unicode counts as the end of a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t3_white_space_of_a_command_becomes_single_spaces() {
        assert_eq!(label("bash", Some(r#"{"command":"rg  -n\n foo"}"#)), "bash `rg -n foo`");
    }

    #[test]
    fn t4_a_long_command_is_cut_at_79_characters() {
        let arguments = format!(r#"{{"command":"{}"}}"#, "x".repeat(200));
        assert_eq!(label("bash", Some(&arguments)), format!("bash `{}…`", "x".repeat(79)));
    }

    #[test]
    fn t5_the_first_argument_that_says_something_names_the_call() {
        assert_eq!(label("tool", Some(r#"{"command":"","path":"a.rs"}"#)), "tool a.rs");
        assert_eq!(label("tool", Some(r#"{"query":"q"}"#)), "tool `q`");
        assert_eq!(label("tool", Some(r#"{"n":1}"#)), "tool");
        assert_eq!(label("tool", None), "tool");
        assert_eq!(label("tool", Some("{broken")), "tool");
    }

    #[test]
    fn an_empty_argument_hides_the_others_of_its_row_but_a_number_does_not() {
        assert_eq!(label("tool", Some(r#"{"command":"","cmd":"ls","file":"a.rs"}"#)), "tool a.rs");
        assert_eq!(label("tool", Some(r#"{"command":1,"cmd":"ls"}"#)), "tool `ls`");
    }

    #[test]
    fn b41_a_call_to_an_excluded_tool_is_told_as_its_name_but_edit_and_write_keep_their_path() {
        let exclude_tools = ["edit", "write", "vault"].map(str::to_owned).to_vec();
        let settings = Settings { exclude_tools, ..Settings::default() };
        let told = |tool| label_of_other(tool, Some(r#"{"path":"a.rs"}"#), &settings, &Masks::default());
        assert_eq!(
            ["edit", "write", "vault", "read"].map(told),
            ["edit a.rs", "write a.rs", "vault", "read a.rs"]
        );
    }

    #[test]
    fn b11_line_breaks_become_spaces() {
        let arguments = r#"{"path":"a\r\nb\u2028c"}"#;
        assert_eq!(label("read", Some(arguments)), "read a b c");
        assert_eq!(label("grep", Some(r#"{"pattern":"a\nb"}"#)), "grep `a b`");
    }

    #[test]
    fn b11_a_backtick_cannot_end_the_label() {
        let label = label("bash", Some(r#"{"command":"echo `date`; ls"}"#));
        assert_eq!(label, "bash `echo 'date'; ls`");
    }
}
