use proptest::prelude::*;

use super::*;
use crate::session::fixtures::*;
use crate::text::prefix;

fn ask(id: &str) -> RecallRequest {
    RecallRequest { entry_id: id.into(), pattern: None, offset: None, limit: None, column: None, image: None }
}

/// What recalling `text` gives, with a request for the entry `r`.
fn page_of(text: &str, change: impl FnOnce(&mut RecallRequest)) -> String {
    let mut request = ask("r");
    change(&mut request);
    let mirror = session([r("c1", text).id("r")]);
    text_in(&recall(&mirror, &request).unwrap())
}

fn text_in(recalled: &[Recalled]) -> String {
    match recalled.first() {
        Some(Recalled::Text(text)) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}

fn images_in(recalled: &[Recalled]) -> Vec<(&str, u32)> {
    let image = |part| match part {
        &Recalled::Image((ref id, block)) => Some((id.as_str(), block)),
        Recalled::Text(_) => None,
    };
    recalled.iter().filter_map(image).collect()
}

fn error_of(mirror: &Mirror, request: &RecallRequest) -> String {
    match recall(mirror, request) {
        Err(Error::Invalid(text)) => text,
        other => panic!("{other:?} is no error for the model"),
    }
}

fn numbered(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn q1_a_short_original_comes_whole_and_without_a_note() {
    assert_eq!(page_of(&numbered(1..=5), |_| {}), numbered(1..=5));
}

#[test]
fn b4_a_newline_at_the_end_is_no_line() {
    assert_eq!(page_of("a\nb\n", |_| {}), "a\nb");
    assert_eq!(
        page_of("a\nb\n", |request| request.offset = Some(3)),
        "Offset 3 is past the end: the original has 2 lines."
    );
}

#[test]
fn q2_offset_and_limit_show_a_part_and_name_the_next_offset() {
    let page = page_of(&numbered(1..=10), |request| (request.offset, request.limit) = (Some(3), Some(2)));
    assert_eq!(page, "line 3\nline 4\n\n[Lines 3–4 of 10. Continue with offset 5.]");
}

#[test]
fn numbers_of_zero_are_as_good_as_none() {
    let page = page_of("a\nb", |request| {
        (request.offset, request.limit, request.column, request.image) = (Some(0), Some(0), Some(0), Some(0));
        request.pattern = Some(String::new());
    });
    assert_eq!(page, "a\nb");
}

#[test]
fn q3_matching_lines_come_with_their_numbers() {
    let page = page_of("alpha\nbeta\nalum", |request| request.pattern = Some("^al".into()));
    assert_eq!(page, "1: alpha\n3: alum");
}

#[test]
fn q4_with_a_pattern_offset_and_limit_count_matching_lines() {
    let page = page_of(&"hit\nmiss\n".repeat(9), |request| {
        request.pattern = Some("hit".into());
        (request.offset, request.limit) = (Some(2), Some(3));
    });
    assert_eq!(page, "3: hit\n5: hit\n7: hit\n\n[Matching lines 2–4 of 9. Continue with offset 5.]");
}

#[test]
fn q5_nothing_found_and_an_offset_past_the_end_are_answers_a_broken_pattern_an_error() {
    let text = numbered(1..=5);
    let page = page_of(&text, |request| request.pattern = Some("zebra".into()));
    assert_eq!(page, "No line matches `zebra`: the original has 5 lines.");
    let page = page_of(&text, |request| request.offset = Some(9));
    assert_eq!(page, "Offset 9 is past the end: the original has 5 lines.");
    let page = page_of(&text, |request| (request.pattern, request.offset) = (Some("[12]".into()), Some(3)));
    assert_eq!(page, "Offset 3 is past the end: the original has 2 matching lines.");

    let request = RecallRequest { pattern: Some("(".into()), ..ask("r") };
    insta::assert_snapshot!(error_of(&session([r("c1", &text).id("r")]), &request), @r"the pattern is no JavaScript regular expression: at character 1, this group is not closed: add `)`, or write `\(` for the character");
}

#[test]
fn q6_a_page_has_2000_lines_at_most() {
    let page = page_of(&numbered(1..=2_005), |_| {});
    let (shown, note) = page.split_once("\n\n").unwrap();
    assert_eq!(shown, numbered(1..=2_000));
    assert_eq!(note, "[Lines 1–2000 of 2005. Continue with offset 2001.]");
    let page = page_of(&numbered(1..=2_005), |request| request.limit = Some(9_999));
    assert!(page.ends_with(note));
}

#[test]
fn q7_a_page_has_50_kb_at_most() {
    let line = "x".repeat(1_000);
    let page = page_of(&vec![line.as_str(); 120].join("\n"), |_| {});
    let (shown, note) = page.split_once("\n\n").unwrap();
    assert_eq!(shown.lines().count(), 51);
    assert_eq!(note, "[Lines 1–51 of 120. Continue with offset 52.]");
}

#[test]
fn q8_b21_a_line_above_the_cap_is_cut_between_characters_and_goes_on_by_column() {
    let line = "é".repeat(30 * 1_024);
    let page = page_of(&line, |_| {});
    let (shown, note) = page.split_once("\n\n").unwrap();
    let (piece, cut) = shown.split_once('\n').unwrap();
    assert_eq!(cut, "[line 1 cut at 50KB]");
    assert!(line.starts_with(piece) && (51_199..=51_200).contains(&shown.len()), "{}", shown.len());
    assert_eq!(note, "[Line 1 of 1, characters 1–25589 of 30720. Continue with offset 1 and column 25590.]");

    let next = page_of(&line, |request| (request.offset, request.column) = (Some(1), Some(25_590)));
    assert_eq!(format!("{piece}{next}"), line);
}

#[test]
fn q9_a_long_line_further_down_starts_the_next_page() {
    let text = format!("short\n{}", "x".repeat(60 * 1_024));
    assert_eq!(page_of(&text, |_| {}), "short\n\n[Line 1 of 2. Continue with offset 2.]");
    let next = page_of(&text, |request| request.offset = Some(2));
    assert!(next.contains("\n[line 2 cut at 50KB]\n\n[Line 2 of 2, characters 1–51179 of 61440."));
}

#[test]
fn q10_q11_a_runaway_and_an_overlong_pattern_are_errors_that_help() {
    let mirror = session([r("c1", &format!("{}!", "a".repeat(40))).id("r")]);
    let error = error_of(&mirror, &RecallRequest { pattern: Some("(a+)+$".into()), ..ask("r") });
    assert!(error.contains("use a simpler pattern"), "{error}");
    let error = error_of(&mirror, &RecallRequest { pattern: Some("a".repeat(501)), ..ask("r") });
    assert!(error.contains("501") && error.contains("500"), "{error}");
}

#[test]
fn q12_a_hit_within_the_first_4000_characters_shows_the_whole_line() {
    let line = |start: usize| format!("{}needle{}", "-".repeat(start), "=".repeat(5_000));
    let search = |text: &str| page_of(text, |request| request.pattern = Some("needle".into()));
    assert_eq!(search(&line(3_990)), format!("1: {}", line(3_990)));
    insta::assert_snapshot!(search(&line(4_000)), @"No line matches `needle`: the original has 1 line, of which only the first 4000 characters each are searched.");
}

#[test]
fn a_column_past_the_end_and_one_within_a_character_lose_nothing() {
    let at = |column| page_of("a😀b", |request| request.column = Some(column));
    assert_eq!((at(2), at(3), at(4)), ("😀b".into(), "😀b".into(), "b".into()));
    assert_eq!(at(5), "Column 5 is past the end: line 1 has 4 characters.");
}

#[test]
fn an_empty_original_says_so() {
    assert_eq!(page_of("", |_| {}), "[The original has no text.]");
}

/// A `read` of 90 lines from line 201 on, with Pi's note that the file goes on.
fn read_from_201() -> Mirror {
    let text =
        format!("{}\n\n[Showing lines 201-290 of 900. Use offset=291 to continue.]", numbered(201..=290));
    let reading = a("").call("c1", "read", r#"{"path":"src/store.rs","offset":201}"#);
    session([u("p"), reading, r("c1", &text).id("r").tool("read")])
}

#[test]
fn b22_lines_of_a_read_count_as_lines_of_the_file() {
    let mirror = read_from_201();
    let page = |offset, limit, pattern: Option<&str>| {
        let pattern = pattern.map(str::to_owned);
        text_in(
            &recall(
                &mirror,
                &RecallRequest { offset: Some(offset), limit: Some(limit), pattern, ..ask("r") },
            )
            .unwrap(),
        )
    };
    assert_eq!(
        page(201, 13, None),
        format!("{}\n\n[Lines 201–213 of 201–290. Continue with offset 214.]", numbered(201..=213))
    );
    assert_eq!(page(1, 1, None), "line 201\n\n[Line 201 of 201–290. Continue with offset 202.]");
    assert_eq!(page(290, 5, None), "line 290\n\n[Showing lines 201-290 of 900. Use offset=291 to continue.]");
    assert_eq!(
        page(291, 5, None),
        "Offset 291 is past the end: the original has 90 lines, numbered 201–290."
    );
    assert_eq!(page(0, 0, Some("9[05]")), "290: line 290");
}

#[test]
fn b22_the_host_s_note_is_no_line_but_is_shown() {
    let mirror = read_from_201();
    let whole = text_in(&recall(&mirror, &ask("r")).unwrap());
    assert!(
        whole.starts_with("line 201\n")
            && whole.ends_with("\n\n[Showing lines 201-290 of 900. Use offset=291 to continue.]")
    );
    let found = recall(&mirror, &RecallRequest { pattern: Some("Showing".into()), ..ask("r") }).unwrap();
    assert_eq!(text_in(&found), "No line matches `Showing`: the original has 90 lines.");
}

#[test]
fn a_note_alone_is_shown_as_any_text() {
    let note = "\n[Showing lines 1-2 of 9. Use offset=3 to continue.]";
    let mirror = session([a("").call("c1", "read", r#"{"path":"a"}"#), r("c1", note).id("r")]);
    assert_eq!(text_in(&recall(&mirror, &ask("r")).unwrap()), note);
}

#[test]
fn q13_images_come_with_the_first_page_only() {
    let mirror = session([r("c1", "one\ntwo").id("r").block(png(4, 4))]);
    let page = |change: fn(&mut RecallRequest)| {
        let mut request = ask("r");
        change(&mut request);
        recall(&mirror, &request).unwrap()
    };
    let plain = page(|_| {});
    assert_eq!((text_in(&plain).as_str(), images_in(&plain)), ("one\ntwo", vec![("r", 1)]));
    let limited = page(|request| request.limit = Some(1));
    assert_eq!(images_in(&limited), [("r", 1)]);
    assert!(!text_in(&limited).contains("image"));

    let missing =
        "\n[1 image in the original, 0 attached. Call recall without pattern, offset and column for it.]";
    let changes: [fn(&mut RecallRequest); 3] = [
        |request| request.pattern = Some("o".into()),
        |request| request.offset = Some(2),
        |request| request.column = Some(2),
    ];
    for change in changes {
        let other = page(change);
        assert!(text_in(&other).ends_with(missing), "{}", text_in(&other));
        assert!(images_in(&other).is_empty());
    }
}

#[test]
fn q14_b21_images_beyond_the_sixth_are_reached_by_paging() {
    let item = (0..8).fold(r("c1", "shots").id("r"), |item, size| item.block(png(size + 1, 1)));
    let mirror = session([item]);
    let from = |image| recall(&mirror, &RecallRequest { image: Some(image), ..ask("r") }).unwrap();
    assert_eq!(images_in(&from(1)), [1, 2, 3, 4, 5, 6].map(|block| ("r", block)));
    assert_eq!(
        text_in(&from(1)),
        "shots\n[8 images in the original, 6 attached (1–6). Continue with image 7.]"
    );
    assert_eq!(images_in(&from(7)), [("r", 7), ("r", 8)]);
    assert_eq!(text_in(&from(7)), "shots\n[8 images in the original, 2 attached (7–8).]");
    assert_eq!(text_in(&from(9)), "shots\n[8 images in the original, 0 attached: there is no image 9.]");
}

#[test]
fn q15_an_exchange_is_a_transcript() {
    let mirror = session([
        u("Look at this").id("u").block(png(4, 4)),
        a("Looking.").call("c1", "shot", r#"{"page":1}"#).block(thinking("hm", 9)),
        r("c1", "a page").id("r").tool("shot").block(png(5, 5)),
        n("by the way"),
        a("Blue."),
        u("next"),
    ]);
    let recalled = recall(&mirror, &ask("u")).unwrap();
    insta::assert_snapshot!(text_in(&recalled), @r#"
    ## user
    Look at this
    [1 image, 1 attached]
    ## assistant
    Looking.
    [tool call] shot {"page":1}
    ## tool result (shot)
    a page
    [1 image: recall({"entryId":"r"})]
    ## custom message (notice)
    by the way
    ## assistant
    Blue.
    "#);
    assert_eq!(images_in(&recalled), [("u", 1)]);
    let searched = recall(&mirror, &RecallRequest { pattern: Some("attached".into()), ..ask("u") }).unwrap();
    assert!(
        text_in(&searched).starts_with("3: [1 image, 0 attached]\n[1 image in the original, 0 attached.")
    );
}

fn omission(prompt: &str, omitted: &[&str]) -> Item {
    let result = serde_json::json!({
        "kind": "exchange", "entryId": prompt, "outcome": "removed", "omitted": omitted
    });
    record(&serde_json::json!({ "v": 1, "results": [result] }).to_string())
}

#[test]
fn q16_the_transcript_has_what_the_newest_record_omitted() {
    let mirror = session([
        u("p").id("u"),
        a("first").id("a1"),
        a("second").id("a2"),
        omission("u", &["a1", "a2"]),
        omission("u", &["a1"]),
        omission("other", &["a2"]),
    ]);
    assert_eq!(text_in(&recall(&mirror, &ask("u")).unwrap()), "## user\np\n## assistant\nfirst");
}

#[test]
fn q17_without_a_record_the_transcript_goes_up_to_the_next_prompt() {
    let mirror = session([
        u("p").id("u"),
        a("").call("c1", "bash", "{}"),
        r("c1", "out"),
        u("steer"),
        a("Done."),
        u("next"),
        a("Later."),
    ]);
    let transcript = text_in(&recall(&mirror, &ask("u")).unwrap());
    assert!(transcript.contains("## user\nsteer") && transcript.ends_with("Done."), "{transcript}");
    assert!(transcript.contains("## tool result (tool)\nout"));
}

#[test]
fn q18_an_id_without_an_original_is_an_error_that_points_to_the_note() {
    let mirror = session([u("p"), a("Done.").id("reply"), compaction("so far").id("summary")]);
    for id in ["nowhere", "reply", "summary", ""] {
        let error = error_of(&mirror, &ask(id));
        assert!(error.contains(id) && error.contains("`[context-guard]` note"), "{error}");
    }
}

#[test]
fn q19_outputs_distilled_earlier_are_whole_in_the_transcript() {
    let mirror = session([
        u("p").id("u").replaced("[context-guard] Omitted an earlier exchange …"),
        a("").id("a").call("c1", "bash", "{}").omitted(),
        r("c1", "the raw output").id("r").omitted(),
        edit("r"),
        omission("u", &["a", "r"]),
    ]);
    assert!(text_in(&recall(&mirror, &ask("u")).unwrap()).ends_with("the raw output"));
}

#[test]
fn originals_from_before_a_compaction_can_be_recalled() {
    let mirror = session([u("p").compacted(), r("c1", "old").id("r").compacted(), compaction("so far")]);
    assert_eq!(text_in(&recall(&mirror, &ask(" r ")).unwrap()), "old");
}

/// Follows the notes from page to page and puts the pieces together.
fn read_on(mirror: &Mirror, limit: Option<u32>, lines: usize) -> String {
    let mut request = RecallRequest { limit, ..ask("r") };
    let mut whole = String::new();
    loop {
        let page = text_in(&recall(mirror, &request).unwrap());
        let (shown, next) = match page.rsplit_once("\n\n[Line") {
            Some((shown, note)) if note.contains("Continue with offset ") => {
                (shown.to_owned(), Some(note.to_owned()))
            }
            _ => (page, None),
        };
        let Some(note) = next else { return whole + &shown };
        let number = |name: &str| -> Option<u32> {
            let digits = note.split_once(name)?.1;
            digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        (request.offset, request.column) = (number("offset "), number("column "));
        if request.column.is_some() {
            whole += shown.rsplit_once("\n[line").unwrap().0;
        } else {
            whole += &shown;
            whole.push('\n');
        }
        assert!(request.offset.unwrap() as usize <= 300 + lines, "the notes lead on");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn paging_by_the_notes_gives_back_the_whole_original(
        lines in prop::collection::vec(
            prop_oneof![
                4 => "\\PC{0,12}\r?",
                1 => ("(a|é|😀|e\u{301}){1,3}", 1usize..20_000).prop_map(|(text, times)| text.repeat(times)),
            ],
            1..40,
        ),
        limit in prop::option::of(1u32..50),
        offset in prop::option::of(1usize..300),
        trailing in any::<bool>(),
        noted in any::<bool>(),
    ) {
        let mut text = lines.join("\n");
        prop_assume!(!text.is_empty());
        if noted {
            text += "\n\n[7 more lines in file. Use offset=3 to continue.]";
        }
        let whole = text.clone();
        if trailing {
            text.push('\n');
        }
        let arguments = offset.map_or("{}".into(), |offset| format!(r#"{{"offset":{offset}}}"#));
        let mirror = session([a("").call("c1", "read", &arguments), r("c1", &text).id("r")]);
        let expected = if trailing || !whole.ends_with('\n') { whole } else { whole[..whole.len() - 1].to_owned() };
        prop_assert_eq!(read_on(&mirror, limit, lines.len()), expected);
    }

    #[test]
    fn no_request_panics_and_pages_keep_to_their_size(
        text in "(\\PC|\n|\r){0,80}",
        offset: Option<u32>, limit: Option<u32>, column: Option<u32>, image: Option<u32>,
        pattern in prop::option::of("[ab.*()|]{0,6}"),
    ) {
        let mirror = session([r("c1", &text).id("r").block(png(1, 1))]);
        let request = RecallRequest { entry_id: "r".into(), pattern, offset, limit, column, image };
        if let Ok(recalled) = recall(&mirror, &request) {
            prop_assert!(text_in(&recalled).len() <= 51_200 + 400);
        }
    }
}

#[test]
fn a_character_longer_than_a_page_is_cut_all_the_same() {
    let line = format!("e{}", "\u{301}".repeat(40_000));
    let mirror = session([r("c1", &line).id("r")]);
    assert_eq!(read_on(&mirror, None, 1), line);
    assert_eq!(prefix(&line, 30_000), "", "one character as a reader sees it");
}
