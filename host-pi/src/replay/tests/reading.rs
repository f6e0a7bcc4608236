//! Files as they are found: broken, old, branched.

use super::*;
use crate::contract::types::{Block, EntryBody, Message};

fn prompt(session: &SessionFile) -> &str {
    match &session.branch.first().unwrap().entry.body {
        EntryBody::Message(Message::User(blocks)) => match blocks.as_slice() {
            [Block::Text(text)] => text,
            _ => panic!("one text was expected"),
        },
        _ => panic!("a prompt was expected"),
    }
}

#[test]
fn the_active_branch_leads_from_the_root_to_the_last_entry() {
    let mut other = user("instead");
    other["parentId"] = "e1".into();
    let session = read(&lines([user("p"), assistant("abandoned"), other, assistant("done")])).unwrap();
    assert_eq!(ids(&session.branch), ["e1", "e3", "e4"]);
    assert_eq!((session.entries, session.directory.as_str(), session.version), (4, "/project", 3));
    assert_eq!(session.warnings, Vec::<String>::new());
}

#[test]
fn a_broken_line_is_passed_over_with_its_number() {
    let text = lines([user("p"), assistant("done")]).replacen('\n', "\n{\"type\":\"mess\n\n", 1);
    let session = read(&text).unwrap();
    assert_eq!(ids(&session.branch), ["e1", "e2"]);
    insta::assert_snapshot!(session.warnings.join("\n"), @"line 2: skipped, since it holds no JSON object (EOF while parsing a string)");
}

#[test]
fn a_file_cut_off_in_its_last_line_is_read_up_to_there() {
    let text = lines([user("p"), assistant("done")]);
    let session = read(&text[..text.len() - 20]).unwrap();
    assert_eq!(ids(&session.branch), ["e1"]);
    assert!(session.warnings[0].starts_with("line 3: "), "{:?}", session.warnings);
}

#[test]
fn many_broken_lines_are_counted() {
    let text = lines([user("p")]) + &"nonsense\n".repeat(1000);
    assert_eq!(read(&text).unwrap().warnings.last().unwrap(), "and 992 more lines that could not be read");
}

#[test]
fn what_is_no_session_is_refused_with_what_one_is() {
    for text in ["", "\n", "nonsense", "{\"type\":\"message\"}", "[1]", "{\"type\":\"session\"}"] {
        assert!(matches!(read(text), Err(ReadError::NoHeader)), "{text}");
    }
    insta::assert_snapshot!(ReadError::NoHeader, @r#"this is no Pi session file: one starts with a line like {"type":"session","version":3,"id":…}; Pi keeps them below ~/.pi/agent/sessions"#);
}

#[test]
fn an_unknown_entry_is_kept_as_one_that_the_model_never_sees() {
    let session = read(&lines([user("p"), json!({"type": "hologram"}), assistant("done")])).unwrap();
    assert_eq!(session.branch[1].entry.body, EntryBody::Other);
    assert_eq!(session.warnings, Vec::<String>::new());
}

#[test]
fn a_parent_that_is_missing_is_told_and_parents_in_a_circle_end() {
    let mut orphan = assistant("done");
    orphan["parentId"] = "gone".into();
    let session = read(&lines([user("p"), orphan])).unwrap();
    assert_eq!(ids(&session.branch), ["e2"]);
    insta::assert_snapshot!(session.warnings.join("\n"), @"entry e2 continues gone, which the file lacks: the session starts there");

    let mut circle = user("p");
    circle["parentId"] = "e2".into();
    assert_eq!(ids(&read(&lines([circle, assistant("done")])).unwrap().branch), ["e1", "e2"]);
}

#[test]
fn half_a_character_becomes_a_replacement_character_and_a_whole_one_stays() {
    let escaped = r"half \ud83d, half \udd25x, whole \ud83d\udd25, slash \\ud83d";
    let text = lines([user("TEXT"), assistant("done")]).replace("TEXT", escaped);
    let session = read(&text).unwrap();
    assert_eq!(prompt(&session), "half \u{fffd}, half \u{fffd}x, whole \u{1f525}, slash \\ud83d");
}

#[test]
fn bytes_that_are_no_utf_8_become_replacement_characters() {
    let mut bytes = lines([user("TEXT")]).into_bytes();
    let place = bytes.windows(4).position(|window| window == b"TEXT").unwrap();
    bytes[place] = 0xff;
    assert_eq!(prompt(&session_file::read(bytes.as_slice()).unwrap()), "\u{fffd}EXT");
}

#[test]
fn the_oldest_format_is_linear_and_its_entries_are_numbered() {
    let header = json!({"type": "session", "id": "s", "cwd": "/project"});
    let compacted = json!({"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 2});
    let entries = [header, user("p"), assistant("done"), compacted, user("q")];
    let text = entries.map(|entry| entry.to_string()).join("\n");
    let session = read(&text).unwrap();
    assert_eq!(session.version, 1);
    assert_eq!(ids(&session.branch), ["00000001", "00000002", "00000003", "00000004"]);
    let context = crate::replay::projection::context(&session.branch);
    let visible: Vec<_> = context.iter().map(|visible| visible.id.as_str()).collect();
    assert_eq!(visible, ["00000003", "00000002", "00000004"], "the compaction kept the reply");
}

#[test]
fn a_newer_format_is_read_with_a_warning() {
    let text = lines([user("p"), assistant("done")]).replacen("\"version\":3", "\"version\":4", 1);
    let session = read(&text).unwrap();
    assert_eq!(ids(&session.branch), ["e1", "e2"]);
    insta::assert_snapshot!(session.warnings.join("\n"), @"the session has format 4, newer than 3: what is unknown in it is passed over");
}
