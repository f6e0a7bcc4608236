//! What is printed, for people and for programs.

use crate::replay::detail::detail;
use crate::replay::former_guard::FormerGuard;
use crate::replay::look::Look;
use crate::replay::record::{Expected, Judged, Kind, Outcome};
use crate::replay::report::{Answerer, HeldBack, Item, Kinds, Pass, Report, Run, Session, Totals, Turn};
use crate::replay::runs::Ending;
use crate::replay::table::table;
use console::measure_text_width;

const PLAIN: Look = Look { width: 80, colour: false };

fn item(label: &str, outcome: Outcome, reason: &str, lengths: (u64, u64), replacement: Option<&str>) -> Item {
    let judged = Judged {
        kind: Kind::Large,
        entry_id: format!("id of {label}"),
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
        judge: Some(Answerer {
            api: "builtin".into(),
            model: "lexical".into(),
            base_url: None,
            heuristic: true,
        }),
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
        turns: Vec::new(),
        pass,
    }
}

fn of_kind(kind: Kind, item: Item) -> Item {
    Item { kind, ..item }
}

/// Items that are judged as a whole.
fn whole() -> Vec<Item> {
    let stale = item(
        "read src/store.rs",
        Outcome::Removed,
        "not-needed",
        (900, 150),
        Some("[context-guard] Omitted."),
    );
    let stale =
        Item { superseded: Some("file changed later by edit src/store.rs (3 turns on)".into()), ..stale };
    let failed = item(
        "bash `make`",
        Outcome::Distilled,
        "not-needed",
        (700, 300),
        Some("[context-guard] Omitted.\nerror: x"),
    );
    let unrelated = item(
        "\"Rename the config crate\"",
        Outcome::Removed,
        "unrelated",
        (30_100, 240),
        Some("[context-guard] Omitted an earlier exchange."),
    );
    let relevant = item("\"Where is it?\"", Outcome::Kept, "relevant", (4_000, 4_000), None);
    let image = item(
        "read shot.png (1 image)",
        Outcome::Removed,
        "5 turns old",
        (6_556, 160),
        Some("[context-guard] Removed 1 image."),
    );
    let images = item(
        "shot (2 images)",
        Outcome::Removed,
        "4 turns old",
        (9_000, 160),
        Some("[context-guard] Removed 2 images."),
    );
    let kinds = [Kind::Small, Kind::Small, Kind::Exchange, Kind::Exchange, Kind::Image, Kind::Image];
    kinds
        .into_iter()
        .zip([stale, failed, unrelated, relevant, image, images])
        .map(|(kind, item)| of_kind(kind, item))
        .collect()
}

/// A report in which nothing was decided.
fn undecided() -> Report {
    let candidates = |again| {
        let items = whole().into_iter().map(move |item| Item { again, ..item.undecided() });
        Pass { items: items.collect(), ..Pass::default() }
    };
    let mut second = candidates(true);
    second.items.push(item("rg", Outcome::Kept, "error", (1_000_000, 1_000_000), None).undecided());
    let mut report = report(vec![
        run(1, Ending::Completed, Some(candidates(false))),
        run(2, Ending::Completed, Some(second)),
    ]);
    report.judge = None;
    report
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
    let third = Pass { requests: 3, ms: 20, items: whole(), ..Pass::default() };
    let broken = Pass { failure: Some("the guard trapped (unreachable)".into()), ..Pass::default() };
    report(vec![
        run(1, Ending::Completed, Some(first)),
        run(2, Ending::Aborted, None),
        run(3, Ending::Completed, Some(second)),
        run(4, Ending::Completed, None),
        run(5, Ending::Completed, Some(broken)),
        run(6, Ending::Completed, Some(third)),
    ])
}

#[test]
fn the_table() {
    insta::assert_snapshot!(table(&full(), PLAIN));
}

#[test]
fn without_a_judge_the_table_shows_what_there_is_to_judge() {
    insta::assert_snapshot!(table(&undecided(), PLAIN));
}

#[test]
fn lines_fit_from_80_to_100_columns_and_colours_add_none() {
    for width in [80, 100] {
        for colour in [false, true] {
            for report in [full(), undecided(), report(vec![with_checkpoints()])] {
                for line in table(&report, Look { width, colour }).lines() {
                    assert!(measure_text_width(line) <= width, "{width}: {line}");
                }
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
    report.judge = Some(Answerer {
        api: "typesafe-system-one".into(),
        model: "jev-latest".into(),
        base_url: Some("https://a.example/v1".into()),
        heuristic: false,
    });
    let text = table(&report, PLAIN);
    assert!(text.contains("judge     jev-latest at https://a.example/v1\n"), "{text}");
    assert!(text.contains("8 requests, 1.3 s, cost unknown (--input-price)\n"), "{text}");
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

/// A run with two checkpoints, of which the second took nothing out.
fn with_checkpoints() -> Run {
    let turn = |number, chars, held_back: Option<HeldBack>, checkpoint: Option<Pass>| Turn {
        number,
        eligible_items: number / 2,
        eligible: Kinds { large: number / 2 - number / 20, exchanges: number / 20, ..Kinds::default() },
        eligible_chars: chars,
        least_chars: 60_000,
        batch_chars: checkpoint.as_ref().map(|_| chars.min(73_000)),
        pays: (held_back != Some(HeldBack::Batch)).then_some(held_back.is_none()),
        held_back,
        checkpoint,
    };
    let gone = item(
        "bash `make test`",
        Outcome::Removed,
        "none-needed",
        (28_000, 150),
        Some("[context-guard] Removed."),
    );
    let stays = item("read src/store.rs", Outcome::Kept, "whole-needed", (9_000, 9_000), None);
    let dear = item("read src/index.rs", Outcome::Kept, "deferred", (64_000, 64_000), None);
    let expected = Expected {
        saved_chars: 27_850,
        rewritten_chars: 31_000,
        lost_thinking_chars: 420,
        requests: 21,
        net_chars: 230_000,
    };
    let first = Pass { items: vec![gone, stays], expected: Some(expected), ..Pass::default() };
    let second = Pass { items: vec![dear], ..Pass::default() };
    let end = Pass {
        items: vec![item(
            "bash `rg store`",
            Outcome::Removed,
            "none-needed",
            (5_000, 120),
            Some("[context-guard] Removed."),
        )],
        ..Pass::default()
    };
    Run {
        turns: vec![
            turn(5, 9_000, Some(HeldBack::Batch), None),
            turn(6, 30_000, Some(HeldBack::Batch), None),
            turn(12, 62_000, Some(HeldBack::Price), None),
            turn(21, 120_000, None, Some(first)),
            turn(40, 64_000, None, Some(second)),
        ],
        ..run(1, Ending::Completed, Some(end))
    }
}

#[test]
fn checkpoints_stand_before_the_end_of_their_run() {
    let report = report(vec![with_checkpoints()]);
    assert_eq!(report.totals.checkpoints, 2);
    insta::assert_snapshot!(table(&report, PLAIN));
}

#[test]
fn checkpoints_without_a_judge_list_what_would_be_asked() {
    let mut run = with_checkpoints();
    let passes = run.turns.iter_mut().filter_map(|turn| turn.checkpoint.as_mut()).chain(&mut run.pass);
    for pass in passes {
        let items = std::mem::take(&mut pass.items).into_iter().map(Item::undecided);
        *pass = Pass { items: items.collect(), ..Pass::default() };
    }
    let report = Report { judge: None, ..report(vec![run]) };
    insta::assert_snapshot!(table(&report, PLAIN));
}

#[test]
fn a_run_without_any_pass_still_tells_what_its_turns_left_to_judge() {
    let turns = with_checkpoints().turns.into_iter().take(3).collect();
    insta::assert_snapshot!(table(&report(vec![Run { turns, ..run(1, Ending::Aborted, None) }]), PLAIN));
}

#[test]
fn the_turns_of_a_run_too_short_for_a_checkpoint_are_told_only_with_run() {
    let told = |number| {
        let mut turns = with_checkpoints().turns;
        turns.truncate(1);
        turns[0].number = number;
        let report = report(vec![Run { turns, ..run(1, Ending::Aborted, None) }]);
        [table(&report, PLAIN), detail(&report, &report.runs[0], PLAIN)].map(|text| text.contains("turn "))
    };
    assert_eq!((told(12), told(13)), ([false, true], [true, true]));
}

#[test]
fn the_json_of_turns() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&with_checkpoints().turns[2..4]).unwrap());
}

#[test]
fn a_hundred_turns_without_a_checkpoint_take_a_few_lines_unless_the_run_is_asked_for() {
    let mut run = with_checkpoints();
    let waiting = |number| Turn { number, checkpoint: None, ..with_checkpoints().turns.swap_remove(0) };
    run.turns = (1..=100).map(waiting).collect();
    let report = report(vec![run]);
    let lines = |text: String| text.lines().filter(|line| line.contains("turn")).count();
    assert_eq!(lines(table(&report, PLAIN)), 1);
    assert_eq!(lines(detail(&report, &report.runs[0], PLAIN)), 100);
}

#[test]
fn one_run_in_full_tells_of_the_turns_without_a_checkpoint() {
    let report = report(vec![with_checkpoints()]);
    insta::assert_snapshot!(detail(&report, &report.runs[0], PLAIN));
    let quiet = Run {
        turns: with_checkpoints().turns.into_iter().take(3).collect(),
        ..run(1, Ending::Aborted, None)
    };
    insta::assert_snapshot!(detail(&report, &quiet, PLAIN));
}
