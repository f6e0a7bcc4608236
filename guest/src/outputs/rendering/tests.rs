//! The texts that the model sees, word by word.

use std::borrow::Cow;

use super::*;
use crate::outputs::chunk;

fn candidate<'a>(tool: &'a str, arguments: &'a str, text: &'a str) -> Candidate<'a> {
    Candidate {
        entry: "7c01d2ee",
        tool,
        arguments: Some(arguments),
        text: Cow::Borrowed(text),
        failed: false,
        turn: Some(0),
    }
}

/// The output with only the chunks at those places left.
fn reduced(candidate: &Candidate<'_>, chunks: &[Chunk], kept: &[usize]) -> String {
    let lines = Lines::new(&candidate.text);
    let kept: Vec<bool> = (0..chunks.len()).map(|at| kept.contains(&at)).collect();
    Original { candidate, lines: &lines, chunks, searched: true }.reduced_to(&pieces(chunks, &kept, &[]))
}

fn cut(text: &str) -> Vec<Chunk> {
    chunk::chunks(&Lines::new(text), None)
}

/// Chunks of one line each.
fn single(count: usize) -> Vec<Chunk> {
    (0..count).map(|at| Chunk { lines: at..at + 1, files: vec![], units: 1 }).collect()
}

fn store() -> String {
    (201..=290).map(|at| format!("{:.<60}", format!("line {at} "))).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_read_with_an_offset_keeps_its_file_lines() {
    let text = store();
    let candidate = candidate("read", r#"{"path":"src/store.rs","offset":201}"#, &text);
    insta::assert_snapshot!(reduced(&candidate, &cut(&text), &[1]));
}

#[test]
fn t11_nothing_kept() {
    let text = store();
    let candidate = candidate("bash", r#"{"command":"cat src/store.rs"}"#, &text);
    assert_eq!(
        reduced(&candidate, &cut(&text), &[]),
        "[context-guard] Removed the output of bash `cat src/store.rs`: 90 lines (5.5k chars) judged not needed \
         for the answer. Full output: recall({\"entryId\":\"7c01d2ee\"})."
    );
}

#[test]
fn t7_one_line_omitted() {
    let text = "1\n2\n3\n4\n5\n6\n";
    let text = reduced(&candidate("bash", "{}", text), &single(6), &[0, 1, 2, 3, 5]);
    let notes: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(notes, ["1", "2", "3", "4", "[… 1 line omitted (output lines 5–5) …]", "6"]);
}

#[test]
fn t8_a_note_names_five_files() {
    let hit = |file: &str| format!("{file}:1:{}", "x".repeat(300));
    let text: Vec<String> = "abcdefghi".chars().map(|name| hit(&format!("{name}.rs"))).collect();
    let text = text.join("\n");
    let text = reduced(&candidate("bash", "{}", &text), &cut(&text), &[8]);
    assert_eq!(
        text.lines().nth(1).unwrap(),
        "[… 8 lines omitted: matches in a.rs, b.rs, c.rs, d.rs, e.rs and 3 more …]"
    );
}

#[test]
fn t9_an_offset_that_is_no_number_does_not_count() {
    let text = store();
    let notes = |arguments| {
        let text = reduced(&candidate("read", arguments, &text), &cut(&text), &[1]);
        text.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(notes(r#"{"path":"a","offset":201}"#), "[… 13 lines omitted (lines 201–213 of a) …]");
    assert_eq!(notes(r#"{"path":"a","offset":"201"}"#), "[… 13 lines omitted (lines 1–13 of a) …]");
    assert_eq!(notes(r#"{"file":"a","offset":201}"#), "[… 13 lines omitted (output lines 201–213) …]");
}

#[test]
fn t10_the_hosts_own_note_is_no_line_of_the_file() {
    for note in [
        "[Showing lines 1-2 of 9. Use offset=3 to continue.]",
        "[Showing lines 1-2 of 9 (50KB limit). Use offset=3 to continue.]",
        "[7 more lines in file. Use offset=3 to continue.]",
    ] {
        let text = format!("1\n2\n\n{note}");
        let read = candidate("read", r#"{"path":"a"}"#, &text);
        let lines =
            |kept| reduced(&read, &single(4), kept).lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&[0, 1]), ["1", "2"]);
        assert_eq!(lines(&[0]), ["1", "[… 1 line omitted (lines 2–2 of a) …]"]);
        let other = candidate("bash", r#"{"path":"a"}"#, &text);
        let last = reduced(&other, &single(4), &[0, 1]);
        assert_eq!(last.lines().last().unwrap(), "[… 2 lines omitted (output lines 3–4) …]");
    }
}

#[test]
fn b4_a_newline_at_the_end_is_not_counted() {
    let text = "line of text\n".repeat(10);
    let text = reduced(&candidate("bash", "{}", &text), &single(10), &[9]);
    assert!(text.contains("kept 1 of 10 lines"), "{text}");
    assert!(text.contains("(output lines 1–9)"), "{text}");
}

#[test]
fn b24_lines_of_a_chunk_that_goes_can_stay() {
    let lines: Vec<Range<usize>> = vec![2..3, 5..9];
    let chunks = [0..4, 4..6, 6..10].map(|lines| Chunk { lines, files: vec![], units: 1 });
    assert_eq!(pieces(&chunks, &[false, true, false], &lines), [2..3, 4..6, 6..9]);
}

#[test]
fn a_note_stays_one_line_whatever_the_path() {
    let candidate = candidate("read", r#"{"path":"a\nb"}"#, "1\n2");
    let text = reduced(&candidate, &single(2), &[0]);
    assert_eq!(text.lines().last().unwrap(), "[… 1 line omitted (lines 2–2 of a b) …]");
}

#[test]
fn recall_quotes_an_id() {
    assert_eq!(recall("7c01d2ee"), r#"recall({"entryId":"7c01d2ee"})"#);
    assert_eq!(recall("a\"b"), r#"recall({"entryId":"a\"b"})"#);
}
