//! Failing output as test runners and compilers write it.

use super::*;

/// A line that is longer than a note about it.
const FILLER: &str = "nothing in particular happened while this was being made\n";

/// The lines that stay.
fn kept(text: &str) -> Vec<&str> {
    let all = Lines::new(text);
    lines(&all, |_| false).into_iter().flatten().map(|at| all.get(at)).collect()
}

fn named(lines: &[&str]) -> Vec<String> {
    lines.iter().filter(|line| names_failure(line)).map(|line| (*line).to_owned()).collect()
}

#[test]
fn b24_the_last_five_non_blank_lines_stay() {
    let text = format!("{}\nuno\n\ndue\ntre\nquattro\n\n\ncinque\n\n", FILLER.repeat(9));
    assert_eq!(kept(&text), ["uno", "", "due", "tre", "quattro", "", "", "cinque"]);
}

#[test]
fn b24_the_last_twenty_lines_that_name_a_failure_stay() {
    let errors: Vec<String> = (0..30).flat_map(|at| [format!("error: no {at}\n"), FILLER.into()]).collect();
    let text = errors.concat() + &FILLER.repeat(10);
    let kept = kept(&text);
    let expected: Vec<String> = (10..30).map(|at| format!("error: no {at}")).collect();
    assert_eq!(kept[..20], expected);
    assert_eq!(kept.len(), 25);
}

#[test]
fn b24_cargo_test() {
    let text = "\
running 3 tests
test store::error_is_kept ... ok
test store::loads ... FAILED

failures:

---- store::loads stdout ----

thread 'store::loads' panicked at src/store.rs:12:9:
assertion `left == right` failed
  left: 1
 right: 2
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

thread 'b' panicked at src/store.rs:40:5:
it went away

test result: FAILED. 2 passed; 1 failed; 0 ignored

error: test failed, to rerun pass `-p store --lib`";
    assert_eq!(
        named(&text.lines().collect::<Vec<_>>()),
        [
            "test store::loads ... FAILED",
            "thread 'store::loads' panicked at src/store.rs:12:9:",
            "assertion `left == right` failed",
            "  left: 1",
            " right: 2",
            "thread 'b' panicked at src/store.rs:40:5:",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored",
            "error: test failed, to rerun pass `-p store --lib`",
        ]
    );
    assert!(kept(text).contains(&"it went away"), "the message of a panic stands on its second line");
}

#[test]
fn b24_rustc_says_where() {
    let text = "\
warning: unused variable: `x`
 --> src/lib.rs:1:5
error[E0308]: mismatched types
 --> src/lib.rs:2:5
  |
2 |     1";
    let all = Lines::new(text);
    assert_eq!((0..all.count()).filter(|&at| names(&all, at)).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn b24_a_gap_shorter_than_its_note_stays() {
    let ranges = |gap: &str| {
        let text = format!("error: one\n{gap}\nerror: two\n{}", FILLER.repeat(9));
        lines(&Lines::new(&text), |_| false)
    };
    assert_eq!(ranges("  |"), [0..3, 7..12]);
    assert_eq!(ranges(FILLER.trim_end()), [0..1, 2..3, 7..12]);
}

#[test]
fn b24_npm_pytest_go_and_gcc() {
    let lines = [
        "AssertionError: expected 1 to be 2 // Object.is equality",
        " FAIL  src/a.test.ts > adds",
        "  Expected: 3",
        "not ok 2 - adds",
        "  ✖ adds (0.05ms)",
        "npm error Lifecycle script `test` failed with error:",
        "E       assert 1 == 2",
        "FAILED tests/test_a.py::test_b - ValueError: bad value",
        "--- FAIL: TestAdd (0.00s)",
        "    add_test.go:12: got 1, want 2",
        "panic: runtime error: index out of range [3] with length 2",
        "exit status 2",
        "a.c:3:5: error: 'x' undeclared (first use in this function)",
        "/usr/bin/ld: a.o: undefined reference to `foo'",
        "collect2: error: ld returned 1 exit status",
        "make: *** [Makefile:5: all] Error 2",
        "error[E0308]: mismatched types",
        "src/a.ts(12,5): error TS2304: Cannot find name 'x'.",
        "Segmentation fault (core dumped)",
        "Command exited with code 1",
        "subprocess returned non-zero exit status",
        "error: 0 is no valid size",
        "error: no errors were expected",
        "java.lang.NullPointerException: oops",
        "fatal: not a git repository",
        r#"{"level":"error","msg":"no route"}"#,
    ];
    assert_eq!(named(&lines), lines);
}

#[test]
fn b24_what_only_sounds_like_a_failure_is_none() {
    let lines = [
        "0 errors, 0 warnings",
        "no errors found",
        "Found 0 failures",
        "errors: 0",
        r#""error": null,"#,
        r#""error":0,"#,
        "exited with code 0",
        "exit status: 0",
        "exit the loop after 10 tries",
        "src/error_handler.rs:12: fn handle()",
        "src/error.rs",
        "throw new Error('boom')",
        "use std::error::Error;",
        "  Compiling thiserror v2.0.0",
        "✓ shows an error message (3 ms)",
        "--- PASS: TestError (0.00s)",
        "test reports error ... ok",
        "npm error code 1",
        "npm ERR! path /home/x",
        "a line about terrors and assertiveness",
    ];
    assert_eq!(named(&lines), Vec::<String>::new());
}

#[test]
fn b24_search_hits_do_not_count() {
    let text = format!("{}\n{}", vec!["a.rs:1: error: x"; 30].join("\n"), FILLER.repeat(9));
    let all = Lines::new(&text);
    assert_eq!(lines(&all, |at| at < 30), vec![34..39]);
}

#[test]
fn b24_colours_and_carriage_returns_do_not_hide_a_failure() {
    for line in
        ["error: x\r", "exit status 1\r", "\x1b[0m\x1b[1m\x1b[38;5;9merror[E0308]\x1b[0m: mismatched types"]
    {
        assert!(names(&Lines::new(line), 0), "{line:?}");
    }
}

#[test]
fn only_the_start_of_a_line_is_looked_at() {
    let line = format!("{} error: x", "é".repeat(LOOK));
    assert!(!names(&Lines::new(&line), 0));
}
