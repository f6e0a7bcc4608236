//! Failing output as test runners and compilers write it.

use super::*;

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
    let text = format!("{}\nuno\n\ndue\ntre\nquattro\n\n\ncinque\n\n", "filler\n".repeat(50));
    assert_eq!(kept(&text), ["uno", "", "due", "tre", "quattro", "", "", "cinque"]);
}

#[test]
fn b24_the_last_twenty_lines_that_name_a_failure_stay() {
    let errors: Vec<String> = (0..30).flat_map(|at| [format!("error: no {at}"), "filler".into()]).collect();
    let text = format!("{}\n{}", errors.join("\n"), "filler\n".repeat(10));
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
fn b24_npm_pytest_go_and_gcc() {
    let lines = [
        "AssertionError: expected 1 to be 2 // Object.is equality",
        " FAIL  src/a.test.ts > adds",
        "  Expected: 3",
        "not ok 2 - adds",
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
        "exited with code 0",
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
    let text = format!("{}\n{}", vec!["a.rs:1: error: x"; 30].join("\n"), "filler\n".repeat(9));
    let all = Lines::new(&text);
    assert_eq!(lines(&all, |at| at < 30), vec![34..39]);
}

#[test]
fn carriage_returns_and_long_lines_are_looked_at_with_care() {
    assert!(names_failure("error: x\r"));
    assert!(names_failure("exit status 1\r"));
    assert!(!names_failure(&format!("{} error: x", "é".repeat(LOOK))));
}
