//! What is printed, for people and for programs.

use crate::replay::detail::detail;
use crate::replay::former_guard::FormerGuard;
use crate::replay::look::Look;
use crate::replay::record::{Judged, Kind, Outcome};
use crate::replay::report::{Answerer, Item, Pass, Report, Run, Session, Totals};
use crate::replay::runs::Ending;
use crate::replay::table::table;
use console::measure_text_width;

const PLAIN: Look = Look { width: 80, colour: false };

fn item(label: &str, outcome: Outcome, reason: &str, lengths: (u64, u64), replacement: Option<&str>) -> Item {
    let judged = Judged {
        kind: Kind::Large,
        entry_id: "7c01d2ee".into(),
        label: label.into(),
        outcome,
        reason: reason.into(),
        before_chars: lengths.0,
        after_chars: lengths.1,
        jev: vec!["kw.01 focus=chunk_2:.90 keep 1/7".into()],
        ..Judged::default()
    };
    let original: String = (1..=90).map(|number| format!("line {number}\n")).collect();
    Item::new(judged, original, replacement.map(str::to_owned))
}

fn report(runs: Vec<Run>) -> Report {
    Report {
        session: Session {
            file: "session.jsonl".into(),
            version: 3,
            entries: 40,
            branch_entries: 38,
            left_out: FormerGuard::default(),
        },
        judge: Answerer { api: "builtin".into(), model: "lexical".into(), base_url: None, heuristic: true },
        settings: None,
        warnings: Vec::new(),
        totals: Totals::of(&runs),
        runs,
    }
}

fn run(number: usize, ending: Ending, pass: Option<Pass>) -> Run {
    Run {
        number,
        question: format!("What does part {number} of the store do, and why is it slow?"),
        ending,
        pass,
    }
}

fn full() -> Report {
    let note = "[context-guard] Distilled the output of read src/store.rs: kept 24 of 90 lines.\n\
                [… 12 lines omitted (lines 1–12 of src/store.rs) …]\n";
    let kept: String = (13..=36).map(|number| format!("line {number}\n")).collect();
    let distilled = format!("{note}{kept}[… 54 lines omitted (lines 37–90 of src/store.rs) …]");
    let read = "read packages/coding-agent/src/modes/interactive/components/store.ts";
    let first = Pass {
        requests: 4,
        ms: 31,
        items: vec![
            item(read, Outcome::Distilled, "chunks", (51_203, 12_001), Some(&distilled)),
            item(
                "bash `cargo \u{1b}[31mtest`",
                Outcome::Removed,
                "none-needed",
                (9_000, 180),
                Some("[context-guard] Removed."),
            ),
            item("read 파일/본문.ts", Outcome::Kept, "whole-needed", (24_000, 24_000), None),
        ],
        ..Pass::default()
    };
    let second = Pass {
        requests: 1,
        ms: 1_204,
        timed_out: true,
        warnings: vec![
            "1 of 1 requests got no answer in 30 seconds; what they were about was kept as it is".into(),
        ],
        items: vec![item("rg", Outcome::Kept, "chunks,timeout", (1_000_000, 1_000_000), None)],
        ..Pass::default()
    };
    let broken = Pass { failure: Some("the guard trapped (unreachable)".into()), ..Pass::default() };
    report(vec![
        run(1, Ending::Completed, Some(first)),
        run(2, Ending::Aborted, None),
        run(3, Ending::Completed, Some(second)),
        run(4, Ending::Completed, None),
        run(5, Ending::Completed, Some(broken)),
    ])
}

#[test]
fn the_table() {
    insta::assert_snapshot!(table(&full(), PLAIN));
}

#[test]
fn lines_fit_from_80_to_100_columns_and_colours_add_none() {
    for width in [80, 100] {
        for colour in [false, true] {
            for line in table(&full(), Look { width, colour }).lines() {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
            }
        }
    }
    let coloured = table(&full(), Look { width: 80, colour: true });
    assert_eq!(console::strip_ansi_codes(&coloured), table(&full(), PLAIN));
    assert_ne!(coloured, table(&full(), PLAIN));
}

#[test]
fn when_nothing_was_due_the_table_says_why() {
    let mut report = report(vec![
        run(1, Ending::Completed, None),
        run(2, Ending::Completed, None),
        run(3, Ending::Aborted, None),
        run(4, Ending::Failed, None),
        run(5, Ending::Open, None),
    ]);
    report.session.left_out = FormerGuard { edits: 2, records: 1 };
    report.settings = Some("context-guard.json".into());
    report.warnings = vec!["line 7: skipped, since it holds no JSON object (expected value)".into()];
    insta::assert_snapshot!(table(&report, PLAIN));
    insta::assert_snapshot!(table(&self::report(Vec::new()), PLAIN));
}

#[test]
fn a_judge_on_the_network_is_named_and_its_cost_is_not_guessed() {
    let mut report = full();
    report.judge = Answerer {
        api: "typesafe-system-one".into(),
        model: "jev-latest".into(),
        base_url: Some("https://a.example/v1".into()),
        heuristic: false,
    };
    let text = table(&report, PLAIN);
    assert!(text.contains("judge     jev-latest at https://a.example/v1\n"), "{text}");
    assert!(text.contains("5 requests, 1.2 s, cost unknown (--input-price)\n"), "{text}");
}

#[test]
fn one_run_in_full() {
    let report = full();
    insta::assert_snapshot!(detail(&report, &report.runs[0], PLAIN));
    insta::assert_snapshot!(detail(&report, &report.runs[1], PLAIN));
}

#[test]
fn the_json() {
    let mut report = full();
    report.runs.truncate(2);
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap());
}
