//! Search output as the tools write it, and text that only looks like it.

use super::*;

const PLAIN: Option<SearchCall> = Some(SearchCall { headings: false });
const HEADINGS: Option<SearchCall> = Some(SearchCall { headings: true });

/// The file of every line, `-` for none; nothing where the text is no search output.
fn seen(text: &str, call: Option<SearchCall>) -> Option<Vec<String>> {
    let files = files(&Lines::new(text), call)?;
    Some(files.into_iter().map(|file| file.unwrap_or_else(|| "-".into())).collect())
}

#[test]
fn l12_three_fifths_of_the_lines_that_count_must_have_a_file() {
    let text = "a.rs:1:x\na.rs-2-y\n--\nnote";
    assert_eq!(seen(text, None).unwrap(), ["a.rs", "a.rs", "-", "-"]);
    assert_eq!(seen(&format!("{text}\nnote"), None), None);
    assert_eq!(seen(&format!("{text}\n\n--\n  "), None).unwrap().len(), 7);
}

#[test]
fn l13_two_lines_are_too_few() {
    assert_eq!(seen("a.rs:1:x\na.rs:2:y", None), None);
}

#[test]
fn l14_b3_a_line_of_a_log_has_no_file() {
    for line in [
        "2026-10-06T12:30:45Z start",
        "2026-10-06 12:30:45 INFO start",
        "2026/10/06 12:30:45 start",
        "[2026-10-06 12:30:45.123] start",
        "INFO 2026-10-06 12:30:45 start",
        "INFO-2026-10-06 start",
        "12:30:45 start",
        "12:30: start",
        "web-1  | 12:30:45 start",
        "Oct  6 12:30:45 host sshd[1]: start",
        "10.0.0.1 - - [06/Oct/2026:12:30:45 +0000] \"GET / HTTP/1.1\" 200",
        "E1006 12:30:45.123456 1 file.go:12] start",
        "time=\"2026-10-06T12:30:45Z\" level=info",
        "10.0.0.1:443: refused",
    ] {
        let log = [line; 5].join("\n");
        assert_eq!(seen(&log, None), None, "{line}");
        assert_eq!(seen(&log, PLAIN), None, "{line} below a search");
    }
}

#[test]
fn l15_b3_a_windows_path_keeps_its_drive() {
    let text = "C:\\src\\a.ts:12:x\nC:\\src\\a.ts-13-y\nd:/b c.ts:1:z";
    assert_eq!(seen(text, None).unwrap(), ["C:\\src\\a.ts", "C:\\src\\a.ts", "d:/b c.ts"]);
    let bare = "C:\\src\\a.ts:fn x\nC:\\src\\a.ts-fn y\nd:/b.ts:z";
    assert_eq!(seen(bare, PLAIN).unwrap(), ["C:\\src\\a.ts", "C:\\src\\a.ts", "d:/b.ts"]);
}

#[test]
fn l16_an_indented_line_has_no_file() {
    assert_eq!(seen(" src/a.rs:1:x\n src/a.rs:2:x\n src/a.rs:3:x", None), None);
}

#[test]
fn l17_a_known_file_may_look_like_a_shorter_one_with_a_number() {
    let near = "docs/2026-10-02-n.md-7-t\ndocs/2026-10-02-n.md-8-t\ndocs/2026-10-02-n.md-9-t";
    let file = "docs/2026-10-02-n.md";
    assert_eq!(seen(&format!("{file}:6:x\n{near}"), None).unwrap(), [file; 4]);
    assert_eq!(seen(near, None).unwrap(), ["docs/2026"; 3]);
}

#[test]
fn b3_colours_and_carriage_returns_do_not_hide_a_file() {
    let rg = "\x1b[0m\x1b[35msrc/a.rs\x1b[0m:\x1b[0m\x1b[32m12\x1b[0m:fn \x1b[31mx\x1b[0m";
    let grep = "\x1b[35m\x1b[Ksrc/a.rs\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K\x1b[32m\x1b[K12\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[Kx";
    let linked = "\x1b]8;;file:///src/a.rs\x1b\\src/a.rs\x1b]8;;\x1b\\:12:x";
    let text = [rg, grep, linked, "\x1b[36m\x1b[K--\x1b[m\x1b[K\r", "src/a.rs:12:x\r"].join("\n");
    assert_eq!(seen(&text, None).unwrap(), ["src/a.rs", "src/a.rs", "src/a.rs", "-", "src/a.rs"]);
}

#[test]
fn b3_matches_without_numbers_count_below_a_search() {
    let text = "src/a.rs:    fn x() {\nsrc/a.rs-        body\n--\nb.rs:    key: value\nb.rs-next";
    assert_eq!(seen(text, PLAIN).unwrap(), ["src/a.rs", "src/a.rs", "-", "b.rs", "b.rs"]);
    assert_eq!(seen(text, None), None);
}

#[test]
fn b3_settings_and_addresses_are_no_matches_without_numbers() {
    for text in [
        "server.port: 80\nserver.host: a\nserver.name: b",
        "kind: Pod\nkind: Service\nkind: Job",
        "https://a.b/c\nhttps://a.b/d\nhttp://a.b/e",
        "GET /a: 200\nGET /b: 200\nGET /c: 200",
        "ERROR: x\nERROR: y\nWARN: z",
    ] {
        assert_eq!(seen(text, PLAIN), None, "{text}");
    }
}

#[test]
fn b3_headings_with_numbers_count_below_a_search() {
    let text = "src/a.rs\n12:x\n13-12:30\n--\n20:y\n\nMakefile.am\n1:z";
    let files = ["src/a.rs", "src/a.rs", "src/a.rs", "-", "src/a.rs", "-", "Makefile.am", "Makefile.am"];
    assert_eq!(seen(text, PLAIN).unwrap(), files);
    assert_eq!(seen(text, HEADINGS).unwrap(), files);
    assert_eq!(seen(text, None), None);
}

#[test]
fn b3_headings_without_numbers_count_where_the_call_asked_for_them() {
    let text = "src/a.rs\nfn x() {\nsrc/b.rs\n\nb.rs\nlet y;";
    let files = ["src/a.rs", "src/a.rs", "src/a.rs", "-", "b.rs", "b.rs"];
    assert_eq!(seen(text, HEADINGS).unwrap(), files);
    assert_eq!(seen(text, PLAIN), None);
    let unbroken = "src/a.rs\n// fn x\nb.rs\nlet y;";
    assert_eq!(seen(unbroken, HEADINGS).unwrap(), ["src/a.rs", "src/a.rs", "b.rs", "b.rs"]);
}

#[test]
fn b3_the_grep_tool_puts_a_space_after_the_number() {
    let text = "a.rs:1: x\na.rs-2- y\nb/c.rs:3: z\n\n[100 matches limit reached]";
    assert_eq!(seen(text, PLAIN).unwrap(), ["a.rs", "a.rs", "b/c.rs", "-", "-"]);
}

#[test]
fn a_name_longer_than_any_path_is_no_file() {
    let line = format!("{}:1:x", "a".repeat(NAME + 1));
    assert_eq!(seen(&[line.as_str(); 3].join("\n"), None), None);
}
