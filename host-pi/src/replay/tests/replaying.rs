//! Whole sessions, judged by the built-in judge in the guest.

use super::*;
use crate::replay::passes::Watch;
use crate::replay::record::{Kind, Outcome};
use crate::replay::report::{HeldBack, Pass, Report, Run};
use crate::replay::runs::Ending;
use crate::replay::{Judge, Request, report};
use crate::settings::SettingsFile;
use std::cell::RefCell;
use std::fs;
use tempfile::TempDir;

/// What was watched of a replay.
#[derive(Default)]
struct Seen(RefCell<Vec<String>>);

impl Watch for Seen {
    fn runs(&self, count: usize) {
        self.0.borrow_mut().push(format!("{count} runs"));
    }

    fn run(&self, number: usize) {
        self.0.borrow_mut().push(format!("run {number}"));
    }

    fn questions(&self, count: usize) {
        self.0.borrow_mut().push(format!("{count} questions"));
    }
}

pub(super) fn request(directory: &TempDir, session: &str) -> Request {
    let path = directory.path().join("session.jsonl");
    fs::write(&path, session).unwrap();
    Request {
        session: path,
        judge: Judge::Builtin,
        model: None,
        input_price: 0.0,
        key: None,
        allow: Vec::new(),
        warnings: Vec::new(),
        settings: SettingsFile::at(directory.path().join("context-guard.json")),
        run: None,
        json: false,
    }
}

pub(super) fn replayed(request: Request) -> anyhow::Result<Report> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(report(request, &Seen::default()))
}

fn replay(entries: impl IntoIterator<Item = Value>) -> Report {
    replayed(request(&TempDir::new().unwrap(), &lines(entries))).unwrap()
}

/// Search hits of which a few are about what is asked.
fn search() -> String {
    let hit = |number: usize| match number {
        60..64 => format!(
            "src/retry.rs:{number}: const BACKOFF_CEILING: Duration = Duration::from_secs({number});\n"
        ),
        _ => format!(
            "src/module{}.rs:{number}: let value = compute(number, another, yet_another);\n",
            number / 12
        ),
    };
    (1..=200).map(hit).collect()
}

fn asking(prompt: &str, call: &str) -> Vec<Value> {
    vec![
        user(prompt),
        calling(call, "bash", json!({"command": "rg -n BACKOFF_CEILING src"})),
        result(call, "bash", &search()),
        assistant("BACKOFF_CEILING is set in src/retry.rs."),
    ]
}

fn items(run: &Run) -> Vec<(&str, Outcome)> {
    let items = run.pass.iter().flat_map(|pass| &pass.items);
    items.map(|item| (item.entry_id.as_str(), item.outcome.unwrap())).collect()
}

#[test]
fn a_large_output_is_distilled_to_what_the_answer_rests_on() {
    let report = replay(asking("Where is BACKOFF_CEILING set?", "c1"));
    let pass = report.runs[0].pass.as_ref().unwrap();
    let item = &pass.items[0];
    assert_eq!((item.entry_id.as_str(), item.outcome), ("e3", Some(Outcome::Distilled)));
    let original = search();
    assert_eq!((item.before_chars, item.lines), (original.len() as u64, 200));
    let replacement = item.replacement.as_ref().unwrap();
    assert!(replacement.starts_with("[context-guard] Distilled the output of bash"), "{replacement}");
    assert_eq!(replacement.encode_utf16().count() as u64, item.after_chars);
    assert!((60..64).all(|number| replacement.contains(&format!("src/retry.rs:{number}:"))), "{replacement}");
    let kept =
        replacement.lines().skip(1).filter(|line| original.lines().any(|other| other == *line)).count();
    assert_eq!(item.kept_lines, kept);
    assert!(pass.requests > 0 && pass.cost_usd == 0.0 && pass.sent_bytes == 0);
    assert_eq!(report.totals.saved_chars, item.before_chars - item.after_chars);
    assert_eq!(report.totals.saved_tokens_estimate, (report.totals.saved_chars + 2) / 4);
}

#[test]
fn a_later_pass_builds_on_the_earlier_one_and_does_not_judge_again() {
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    entries.extend(asking("Where is BACKOFF_CEILING set now?", "c2"));
    let report = replay(entries);
    assert_eq!(items(&report.runs[0]), [("e3", Outcome::Distilled)]);
    assert_eq!(items(&report.runs[1]), [("e7", Outcome::Distilled)]);
    assert_eq!((report.totals.judged_runs, report.totals.distilled), (2, 2));
}

#[test]
fn only_completed_runs_have_a_pass() {
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    entries[3] = stopped("aborted");
    entries.extend([user("and now?"), assistant("Nothing.")]);
    let report = replay(entries);
    let runs: Vec<_> = report.runs.iter().map(|run| (run.ending, run.pass.is_some())).collect();
    assert_eq!(runs, [(Ending::Aborted, false), (Ending::Completed, false)]);
}

#[test]
fn a_session_with_a_guard_of_its_own_is_replayed_from_the_originals() {
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    let plain = replay(entries.clone());
    entries.push(edit("e3", json!({"content": "[context-guard] Removed."})));
    entries.push(guard_record(json!([{"entryId": "e3", "outcome": "removed"}])));
    let report = replay(entries);
    assert_eq!((report.session.left_out.edits, report.session.left_out.records), (1, 1));
    let replacement = |report: &Report| report.runs[0].pass.as_ref().unwrap().items[0].replacement.clone();
    assert_eq!(replacement(&report), replacement(&plain));
}

#[test]
fn settings_count_and_a_guard_that_is_off_says_so() {
    let directory = TempDir::new().unwrap();
    let entries = || lines(asking("Where is BACKOFF_CEILING set?", "c1"));
    let settings = directory.path().join("context-guard.json");
    fs::write(&settings, r#"{"minRunChars": 1000000, "minResultchars": 1}"#).unwrap();
    let report = replayed(request(&directory, &entries())).unwrap();
    assert!(report.runs[0].pass.is_none());
    assert_eq!(report.settings, Some(settings.display().to_string()));
    assert!(report.warnings.iter().any(|text| text.contains("minResultchars")), "{:?}", report.warnings);

    fs::write(&settings, r#"{"enabled": false}"#).unwrap();
    let error = replayed(request(&directory, &entries())).unwrap_err().to_string();
    assert!(error.contains("context-guard.json; set \"enabled\" to true"), "{error}");
}

#[test]
fn a_replay_leaves_the_session_file_as_it_is() {
    let directory = TempDir::new().unwrap();
    let session = lines(asking("Where is BACKOFF_CEILING set?", "c1"));
    let request = request(&directory, &session);
    let path = request.session.clone();
    replayed(request).unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), session);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn every_run_is_watched() {
    let directory = TempDir::new().unwrap();
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    entries.extend([user("thanks"), assistant("Welcome.")]);
    let seen = Seen::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(report(request(&directory, &lines(entries)), &seen)).unwrap();
    let seen = seen.0.into_inner();
    assert_eq!(seen[..2], ["2 runs", "run 1"]);
    assert!(seen[2].ends_with(" questions"), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "run 2");
}

#[test]
fn a_missing_file_and_a_wrong_one_are_errors_with_their_name() {
    let directory = TempDir::new().unwrap();
    let error = |session: &str, remove: bool| {
        let request = request(&directory, session);
        let path = request.session.clone();
        if remove {
            fs::remove_file(&path).unwrap();
        }
        format!("{:#}", replayed(request).unwrap_err()).replace(&path.display().to_string(), "PATH")
    };
    insta::assert_snapshot!(error("# Notes\n", false), @r#"PATH: this is no Pi session file: one starts with a line like {"type":"session","version":3,"id":…}; Pi keeps them below ~/.pi/agent/sessions"#);
    insta::assert_snapshot!(error("", true), @"PATH: No such file or directory (os error 2)");
}

/// What there is to judge after each run: kind, entry, and whether an earlier run had it, too.
fn candidates(report: &Report) -> Vec<Vec<(Kind, &str, bool)>> {
    let passes = report.runs.iter().map(|run| run.pass.iter().flat_map(|pass| &pass.items));
    passes.map(|items| items.map(|item| (item.kind, item.entry_id.as_str(), item.again)).collect()).collect()
}

/// A session with something of each kind: the search is large, the file is small, read again and changed, the image old.
fn of_every_kind() -> Vec<Value> {
    let text = "let value = compute(number, another, yet_another);\n".repeat(12);
    let png = "iVBORw0KGgoAAAANSUhEUgAABAAAAAMACAYAAAC6uh9m";
    let mut image = result("c5", "read", "Read image file [image/png]");
    image["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "image", "data": png, "mimeType": "image/png"}));
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    entries.extend([
        user("Change it"),
        calling("c2", "read", json!({"path": "src/a.rs"})),
        result("c2", "read", &text),
        calling("c3", "edit", json!({"path": "src/a.rs", "edits": []})),
        result("c3", "edit", "Done."),
        assistant("Changed."),
        user("Look at the page"),
        calling("c5", "read", json!({"path": "page.png"})),
        image,
        assistant("It is blue."),
    ]);
    entries.extend(["a", "b", "c"].into_iter().flat_map(|prompt| [user(prompt), assistant("Yes.")]));
    entries
}

#[test]
fn without_a_judge_every_kind_of_candidate_is_shown_and_nothing_decided() {
    let directory = TempDir::new().unwrap();
    let mut request = request(&directory, &lines(of_every_kind()));
    request.judge = Judge::None;
    let report = replayed(request).unwrap();
    assert_eq!(
        candidates(&report),
        [
            vec![(Kind::Large, "e3", false)],
            vec![(Kind::Small, "e7", false)],
            vec![],
            vec![(Kind::Exchange, "e1", false)],
            vec![(Kind::Exchange, "e1", true), (Kind::Image, "e13", false)],
            vec![(Kind::Exchange, "e1", true), (Kind::Exchange, "e11", false), (Kind::Image, "e13", true)],
        ]
    );
    let hint = report.runs[1].pass.as_ref().unwrap().items[0].superseded.as_deref();
    assert_eq!(hint, Some("file changed later by edit src/a.rs (1 turn on)"));
    let totals = &report.totals;
    assert_eq!((totals.large, totals.small, totals.exchanges, totals.images), (1, 1, 2, 1));
    assert_eq!(
        (totals.distilled + totals.removed + totals.kept, totals.saved_chars, totals.requests),
        (0, 0, 0)
    );
    let mut items = report.runs.iter().flat_map(|run| &run.pass).flat_map(|pass| &pass.items);
    assert!(items.all(|item| item.outcome.is_none() && item.replacement.is_none() && item.reason.is_empty()));
    assert!(report.judge.is_none());
}

#[test]
fn without_a_judge_a_session_with_edits_shows_its_originals() {
    let mut entries = asking("Where is BACKOFF_CEILING set?", "c1");
    entries.push(edit("e3", json!({"content": "[context-guard] Removed."})));
    entries.push(guard_record(json!([{"entryId": "e3", "outcome": "removed"}])));
    let directory = TempDir::new().unwrap();
    let mut request = request(&directory, &lines(entries));
    request.judge = Judge::None;
    let report = replayed(request).unwrap();
    assert_eq!(candidates(&report), [vec![(Kind::Large, "e3", false)]]);
    assert_eq!(report.runs[0].pass.as_ref().unwrap().items[0].before_chars, search().len() as u64);
}

/// A run of so many searches, each by a command of its own.
fn long_run(searches: usize) -> Vec<Value> {
    let mut entries = vec![user("Where is BACKOFF_CEILING set?")];
    for number in 0..searches {
        let call = format!("c{number}");
        entries.push(calling(
            &call,
            "bash",
            json!({"command": format!("rg -n BACKOFF_CEILING part{number}")}),
        ));
        entries.push(result(&call, "bash", &search()));
    }
    entries.push(assistant("BACKOFF_CEILING is set in src/retry.rs."));
    entries
}

/// Entries that came so many seconds after the first.
fn timed(mut entries: Vec<Value>, seconds: impl Fn(usize) -> usize) -> Vec<Value> {
    for (place, entry) in entries.iter_mut().enumerate() {
        let seconds = seconds(place);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        entry["timestamp"] = format!("2026-01-01T{hours:02}:{minutes:02}:{seconds:02}.000Z").into();
    }
    entries
}

#[test]
fn a_long_run_has_a_checkpoint_once_there_is_enough_to_judge_and_it_pays() {
    let report = replay(long_run(24));
    let run = &report.runs[0];
    let told: Vec<_> = run.turns.iter().map(|turn| (turn.number, turn.held_back)).collect();
    let size = search().len() as u64;
    let first = &run.turns[0];
    assert_eq!((first.number, first.eligible_items, first.eligible_chars), (5, 1, size), "four turns old");
    assert_eq!(told[0].1, Some(HeldBack::Batch));
    let enough = told.iter().position(|(_, held_back)| *held_back != Some(HeldBack::Batch)).unwrap();
    assert!(run.turns[enough].eligible_chars >= 60_000 && run.turns[enough - 1].eligible_chars < 60_000);
    let due = told.iter().position(|(_, held_back)| held_back.is_none()).unwrap();
    assert!(
        enough < due && told[enough..due].iter().all(|(_, why)| *why == Some(HeldBack::Price)),
        "{told:?}"
    );
    assert!(run.turns[due].number >= 20, "the rest is written anew for a twentieth part of what is read");

    let checkpoint = run.turns[due].checkpoint.as_ref().unwrap();
    assert_eq!(checkpoint.items.len(), run.turns[due].eligible_items);
    assert_eq!(run.turns[due].eligible.large, checkpoint.items.len());
    assert_eq!(run.turns[due].batch_chars, Some(run.turns[due].eligible_chars));
    assert_eq!((run.turns[due].pays, run.turns[due - 1].pays, first.pays), (Some(true), Some(false), None));
    let expected = checkpoint.expected.unwrap();
    assert!(
        expected.saved_chars > 0 && expected.rewritten_chars > 0 && expected.net_chars > 0,
        "{expected:?}"
    );
    assert_eq!(expected.requests, run.turns[due].number as u64);
    assert_eq!(
        told.get(due + 1).map(|(_, why)| *why),
        Some(Some(HeldBack::Batch)),
        "what was judged is not judged again"
    );

    let at_end = run.pass.as_ref().unwrap();
    let judged = |pass: &Pass| pass.items.iter().filter(|item| item.outcome != Some(Outcome::Kept)).count();
    assert!(at_end.items.iter().all(|item| {
        !checkpoint
            .items
            .iter()
            .any(|other| other.entry_id == item.entry_id && other.outcome != Some(Outcome::Kept))
    }));
    assert_eq!(report.totals.checkpoints, 1);
    assert_eq!(report.totals.distilled + report.totals.removed, judged(checkpoint) + judged(at_end));
}

#[test]
fn a_run_that_was_stopped_has_its_checkpoints_all_the_same() {
    let mut entries = long_run(24);
    *entries.last_mut().unwrap() = stopped("aborted");
    let report = replay(entries);
    assert_eq!((report.totals.checkpoints, report.totals.judged_runs), (1, 0));
}

#[test]
fn no_checkpoint_is_replayed_where_none_can_be() {
    let turns = |settings: &str, judge| {
        let directory = TempDir::new().unwrap();
        fs::write(directory.path().join("context-guard.json"), settings).unwrap();
        let request = Request { judge, ..request(&directory, &lines(long_run(24))) };
        replayed(request).unwrap().runs.remove(0).turns.len()
    };
    assert_eq!(turns(r#"{"midRun": false}"#, Judge::Builtin), 0);
    assert!(turns("no JSON", Judge::Builtin) > 0, "as the guard, a replay then takes the defaults");
}

#[test]
fn without_a_judge_checkpoints_come_at_the_same_turn_and_ask_about_each_output_once() {
    let replay = |judge| {
        let directory = TempDir::new().unwrap();
        let entries = timed(long_run(44), |place| place);
        replayed(Request { judge, ..request(&directory, &lines(entries)) }).unwrap()
    };
    let [judged, candidates] = [Judge::Builtin, Judge::None].map(replay);
    let due = |report: &Report| {
        report.runs[0].turns.iter().find(|turn| turn.checkpoint.is_some()).map(|turn| turn.number)
    };
    assert_eq!(due(&candidates), due(&judged));
    assert!(due(&candidates).is_some() && candidates.totals.checkpoints > 1);
    let asked: Vec<_> = candidates.runs[0].turns.iter().filter_map(|turn| turn.checkpoint.as_ref()).collect();
    let items = || asked.iter().flat_map(|pass| &pass.items);
    assert!(items().all(|item| item.outcome.is_none() && item.replacement.is_none() && !item.again));
    let at_end = candidates.runs[0].pass.as_ref().unwrap();
    let again = at_end.items.iter().filter(|item| item.again).count();
    assert_eq!(again, items().count(), "nothing was taken out, so that all of it is left at the end");
    assert_eq!(candidates.totals.saved_chars, 0);
}

/// The turn of the first checkpoint, with the least batch there. The model's provider decides which setting counts.
fn first_checkpoint(settings: &str, provider: &str) -> Option<(usize, u64)> {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("context-guard.json"), settings).unwrap();
    let mut entries = long_run(24);
    for entry in &mut entries {
        if entry["message"]["role"] == "assistant" {
            entry["message"]["provider"] = provider.into();
        }
    }
    let report = replayed(request(&directory, &lines(entries))).unwrap();
    let turn = report.runs[0].turns.iter().find(|turn| turn.checkpoint.is_some())?;
    assert!(turn.eligible_chars >= turn.least_chars, "{}", turn.eligible_chars);
    Some((turn.number, turn.least_chars))
}

#[test]
fn the_least_batch_is_the_one_that_the_guard_goes_by() {
    let size = search().len() as u64;
    // Searches are judged from four turns on, so that this many are ready at a turn.
    let after = |batch: u64| Some((batch.div_ceil(size) as usize + 4, batch));
    let settings = |batch: &str| format!(r#"{{"midRunBreakEven": false, "midRunBatchChars": {batch}}}"#);
    assert_eq!(first_checkpoint(&settings("30000"), "anthropic"), after(30_000));
    for wrong in ["-1", "10000001", "\"30000\"", "0.5"] {
        assert_eq!(first_checkpoint(&settings(wrong), "anthropic"), after(60_000), "{wrong}");
    }
    let codex = r#"{"midRunBreakEven": false, "midRunBatchCharsOpenAI": 30000}"#;
    assert_eq!(first_checkpoint(codex, "openai-codex"), after(30_000));
    assert_eq!(first_checkpoint(codex, "anthropic"), after(60_000));
}

#[test]
fn a_pause_longer_than_the_caches_life_makes_a_checkpoint_due_at_once() {
    let due = |pause: usize| {
        let entries = timed(long_run(24), |place| place + if place < 34 { 0 } else { pause });
        let report = replay(entries);
        report.runs[0].turns.iter().find(|turn| turn.checkpoint.is_some()).map(|turn| turn.number)
    };
    let (warm, cold) = (due(0).unwrap(), due(3_600).unwrap());
    assert!(cold < warm, "{cold} {warm}");
}
