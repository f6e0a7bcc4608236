//! Which later calls make an output stale.

use serde_json::json;

use super::*;
use crate::outputs::outputs;
use crate::session::fixtures::*;
use crate::session::{Mirror, Run};

const HERE: &str = "/home/me/project";

/// A session of calls, one per turn, each with its result.
fn turns<const N: usize>(calls: [(&str, Value); N]) -> Vec<Item> {
    let turn = |(at, (tool, arguments)): (usize, &(&str, Value))| {
        let id = format!("c{at}");
        [a("").call(&id, tool, &arguments.to_string()), r(&id, "output")]
    };
    std::iter::once(u("p")).chain(calls.iter().enumerate().flat_map(turn)).collect()
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

fn read(path: &str) -> (&'static str, Value) {
    ("read", json!({ "path": path }))
}

fn edit(path: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": path, "oldText": "a", "newText": "b" }))
}

fn stale_in(mirror: &Mirror, settings: &Settings) -> Option<String> {
    let run = Run::of(mirror.projection()).unwrap();
    let first = outputs(&run, &Settings { exclude_tools: vec![], ..Settings::default() }).remove(0);
    Calls::of(&run, HERE, settings, &Masks::default()).superseding(&first)
}

/// Why the output of the first call is stale.
fn stale<const N: usize>(calls: [(&str, Value); N]) -> Option<String> {
    stale_in(&session(turns(calls)), &Settings::default())
}

#[test]
fn s6_a_file_that_was_edited_after_it_was_read() {
    assert_eq!(
        stale([read("./src/a.rs"), bash("ls"), bash("pwd"), edit("src/a.rs")]).unwrap(),
        "file changed later by edit src/a.rs (3 turns on)"
    );
    assert_eq!(
        stale([read("src//a.rs"), ("write", json!({ "file_path": "src/a.rs" }))]).unwrap(),
        "file changed later by write src/a.rs (1 turn on)"
    );
    assert_eq!(stale([read("src/a.rs"), edit("src/b.rs")]), None);
    assert_eq!(stale([edit("src/a.rs"), read("src/a.rs")]), None, "the edit came first");
}

#[test]
fn s7_calls_of_the_same_turn_never_supersede() {
    let reply = a("").call("c1", "read", r#"{"path":"a.rs"}"#).call("c2", "edit", r#"{"path":"a.rs"}"#);
    let mirror = session([u("p"), reply, r("c1", "x"), r("c2", "y")]);
    assert_eq!(stale_in(&mirror, &Settings::default()), None);
}

#[test]
fn s8_another_range_does_not_supersede() {
    let part = |offset: u32| ("read", json!({ "path": "a", "offset": offset, "limit": 50 }));
    assert_eq!(stale([part(1), part(51)]), None);
    assert_eq!(stale([part(1), ("read", json!({ "path": "a", "offset": 1 }))]), None);
    assert_eq!(stale([part(1), ("read", json!({ "path": "a", "limit": "50" }))]), None);
    assert_eq!(stale([part(1), part(51), part(1)]).unwrap(), "same range read again by read a (2 turns on)");
}

#[test]
fn s9_a_missing_offset_is_the_first_line() {
    for offset in [json!(1), json!(0), json!("7"), Value::Null] {
        let later = ("read", json!({ "path": "a", "offset": offset }));
        assert_eq!(stale([read("a"), later]).unwrap(), "same range read again by read a (1 turn on)");
    }
}

#[test]
fn s10_the_same_command_however_it_is_spaced() {
    let expected = Some("same command run again (1 turn on)".to_owned());
    assert_eq!(stale([bash("make  test 2>&1"), bash("make test")]), expected);
    assert_eq!(stale([bash("make test"), ("shell", json!({ "cmd": " make\ttest 2>&1 " }))]), expected);
    assert_eq!(stale([bash("make test"), bash("make test | tail")]), None);
}

#[test]
fn s11_b13_the_order_of_arguments_does_not_matter() {
    let ordered = ("grep", json!({ "pattern": "x", "path": "src" }));
    let reversed = ("grep", json!({ "path": "src", "pattern": "x" }));
    assert_eq!(stale([ordered.clone(), reversed]).unwrap(), "same grep call made again (1 turn on)");
    assert_eq!(stale([ordered.clone(), ("grep", json!({ "pattern": "x" }))]), None);
    assert_eq!(stale([ordered, ("find", json!({ "pattern": "x", "path": "src" }))]), None);
}

#[test]
fn s12_b13_a_file_can_be_read_by_a_command() {
    assert_eq!(
        stale([read("src/a.rs"), bash("cat src/a.rs")]).unwrap(),
        "same range read again by bash `cat src/a.rs` (1 turn on)"
    );
    assert_eq!(stale([read("src/a.rs"), bash("sed -i s/a/b/ src/a.rs")]), None);
    assert_eq!(
        stale([bash("cd src && cat -n a.rs"), edit("src/a.rs")]).unwrap(),
        "file changed later by edit src/a.rs (1 turn on)"
    );
}

#[test]
fn b13_absolute_and_relative_paths_are_the_same_file() {
    for (one, other) in [
        ("/home/me/project/src/a.rs", "src/a.rs"),
        ("src/a.rs", "/home/me/project/./src/a.rs"),
        ("src/b/../a.rs", "src/a.rs"),
        ("../project/src/a.rs", "src/a.rs"),
    ] {
        assert!(stale([read(one), edit(other)]).is_some(), "{one} and {other}");
    }
    assert_eq!(stale([read("/src/a.rs"), edit("src/a.rs")]), None);
    assert_eq!(absolute("../../a", ""), "../../a");
    assert_eq!(absolute(r"src\a.rs", r"C:\dev"), absolute("C:/dev/src/a.rs", HERE));
}

#[test]
fn b13_a_failed_edit_is_no_change_and_a_failed_read_shows_nothing() {
    for second in [edit("a"), read("a")] {
        let mut items = turns([read("a"), second]);
        let result = items.pop().unwrap();
        items.push(result.failed());
        assert_eq!(stale_in(&session(items.clone()), &Settings::default()), None);
        items.pop();
        assert_eq!(stale_in(&session(items), &Settings::default()), None, "a call without a result");
    }
}

#[test]
fn a_failing_command_supersedes_since_it_shows_how_things_stand() {
    let mut items = turns([bash("make test"), bash("make test")]);
    let result = items.pop().unwrap();
    items.push(result.failed());
    assert!(stale_in(&session(items), &Settings::default()).is_some());
}

#[test]
fn the_first_later_call_counts() {
    assert_eq!(
        stale([read("a"), read("a"), edit("a")]).unwrap(),
        "same range read again by read a (1 turn on)"
    );
}

#[test]
fn b41_a_call_to_an_excluded_tool_is_not_told_in_full() {
    let settings = Settings { exclude_tools: vec!["bash".into(), "edit".into()], ..Settings::default() };
    let mirror = session(turns([read("a"), bash("cat a")]));
    assert_eq!(stale_in(&mirror, &settings).unwrap(), "same range read again by bash (1 turn on)");
    let mirror = session(turns([read("a"), edit("a")]));
    assert_eq!(stale_in(&mirror, &settings).unwrap(), "file changed later by edit a (1 turn on)");
}

#[test]
fn an_output_whose_call_is_unknown_is_not_superseded() {
    let mut items = turns([bash("make"), bash("make")]);
    items.insert(1, r("gone", "x"));
    assert_eq!(stale_in(&session(items), &Settings::default()), None);
}

#[test]
fn arguments_that_are_no_json_are_compared_as_text() {
    let items = |second: &str| {
        session([
            u("p"),
            a("").call("c1", "odd", "{broken"),
            r("c1", "x"),
            a("").call("c2", "odd", second),
            r("c2", "y"),
        ])
    };
    assert!(stale_in(&items("{broken"), &Settings::default()).is_some());
    assert_eq!(stale_in(&items("{other"), &Settings::default()), None);
}

/// The reading of a command, as a `read` with these arguments would have it.
fn assert_reads(command: &str, path: &str, offset: u32, limit: Option<u32>) {
    let limit = limit.map(Value::from);
    let expected = Reading::new(absolute(path, HERE), Some(&offset.into()), limit.as_ref());
    assert_eq!(reading::of_command(command, HERE), Some(expected), "{command}");
}

#[test]
fn b13_commands_that_print_one_file() {
    assert_reads("cat src/a.rs", "src/a.rs", 1, None);
    assert_reads(" cat -n 'my file' 2>&1", "my file", 1, None);
    assert_reads("head a", "a", 1, Some(10));
    for command in ["head -n 50 a", "head -n50 a", "head -50 a", "head --lines=50 a"] {
        assert_reads(command, "a", 1, Some(50));
    }
    assert_reads("sed -n '10,20p' a", "a", 10, Some(11));
    assert_reads("sed -n 10p a", "a", 10, Some(1));
    assert_reads("sed -n '10,+5p' a", "a", 10, Some(6));
    assert_reads("sed -n '10,$p' a", "a", 10, None);
    assert_reads("cd src && cd b && cat ../a.rs", "src/a.rs", 1, None);
    assert_reads("cd /etc && head -3 hosts", "/etc/hosts", 1, Some(3));
}

#[test]
fn b13_commands_that_do_more_or_less_are_no_reads() {
    for command in [
        "cat a b",
        "cat",
        "cat -",
        "cat a | grep x",
        "cat a > b",
        "cat a; rm a",
        "cat a && rm a",
        "make && cat a",
        "cat *.rs",
        "cat $FILE",
        "cat <<EOF",
        "cat a\nrm a",
        "cat 'a",
        "head -c 5 a",
        "head -n -5 a",
        "head -n 5",
        "sed -n '/x/p' a",
        "sed -n 20,10p a",
        "sed -n '99999999999999999999p' a",
        "sed '10,20p' a",
        "sed -n '10p' a b",
        "cd 'a && cat b",
        "tail a",
        "",
    ] {
        assert_eq!(reading::of_command(command, HERE), None, "{command}");
    }
}
