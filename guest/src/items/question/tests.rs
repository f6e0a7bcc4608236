//! Whole requests, word by word.

use super::*;
use crate::items::{Calls, OldExchange, Plan, SmallOutput, old_exchanges, small_outputs};
use crate::jev::question::page;
use crate::outputs::outputs;
use crate::secrets::Masks;
use crate::session::fixtures::*;
use crate::session::{Exchange, History, Mirror, Run};
use crate::settings::Settings;

static NOTHING: History = History { summary: None, first_request: None, exchanges: vec![] };

fn told() -> History {
    let exchange = Exchange { prompt: "Rename the store".into(), reply: Some("Done.".into()) };
    History {
        summary: Some("The crates were renamed.".into()),
        first_request: None,
        exchanges: vec![exchange],
    }
}

fn run_end(history: &History) -> Scene<'_> {
    let phase = Phase::RunEnd { answer: "It is fixed.", notes: "Looking." };
    Scene { history, question: "Fix the parser", phase }
}

fn checkpoint(history: &History) -> Scene<'_> {
    let phase = Phase::Checkpoint {
        latest_note: "Now the tests.",
        earlier_notes: "Looking.",
        later_calls: &[],
        superseded: None,
    };
    Scene { history, question: "Fix the parser", phase }
}

/// A read that an edit followed, and a command that failed.
fn small() -> Mirror {
    let text = |word: &str| format!("{word} ").repeat(100);
    session([
        u("Fix the parser"),
        a("").call("c1", "read", r#"{"path":"src/parser.rs"}"#),
        r("c1", &text("line")),
        a("").call("c2", "edit", r#"{"path":"src/parser.rs"}"#).call("c3", "bash", r#"{"command":"make"}"#),
        r("c2", "ok"),
        r("c3", &format!("{}make: *** [all] Error 2", text("made").replace(' ', "\n"))).failed(),
        a("It is fixed."),
    ])
}

fn outputs_plan<'a>(mirror: &'a Mirror, settings: &'a Settings) -> Plan<SmallOutput<'a>> {
    let run = Run::of(mirror.projection()).unwrap();
    let masks = Masks::default();
    let calls = Calls::of(&run, "/project", settings, &masks);
    Plan::new(small_outputs(outputs(&run, settings), &calls, settings), settings)
}

/// Two exchanges, one of them with many calls.
fn earlier() -> Mirror {
    let mut busy = a("Renaming.");
    for at in 0..23 {
        busy = busy.call(&format!("c{at}"), "read", &format!(r#"{{"path":"src/{at}.rs"}}"#));
    }
    let mut items = vec![u("rename the config crate"), busy];
    items.extend((0..23).map(|at| r(&format!("c{at}"), &"x".repeat(400))));
    items.extend([
        a("Renamed."),
        u(""),
        a(&"y".repeat(3_000)),
        u("3"),
        a("."),
        u("4"),
        a("."),
        u("now"),
        a("ok"),
    ]);
    items[26] = u("").block(png(100, 100));
    session(items)
}

fn exchanges_plan<'a>(mirror: &'a Mirror, settings: &'a Settings) -> Plan<OldExchange<'a>> {
    let start = Run::of(mirror.projection()).unwrap().start;
    Plan::new(old_exchanges(mirror.projection(), start, settings), settings)
}

fn golden(requests: &[Request]) -> String {
    let [request] = requests else { panic!("one request, not {}", requests.len()) };
    serde_json::to_string_pretty(request).unwrap()
}

#[test]
fn small_outputs_at_run_end() {
    let (mirror, settings) = (small(), Settings::default());
    insta::assert_snapshot!(golden(
        &outputs_plan(&mirror, &settings).requests(&run_end(&NOTHING), &Masks::default())
    ));
}

#[test]
fn small_outputs_at_a_checkpoint_with_history() {
    let (mirror, settings) = (small(), Settings::default());
    insta::assert_snapshot!(golden(
        &outputs_plan(&mirror, &settings).requests(&checkpoint(&told()), &Masks::default())
    ));
}

#[test]
fn exchanges_at_run_end_with_history() {
    let (mirror, settings) = (earlier(), Settings::default());
    insta::assert_snapshot!(golden(
        &exchanges_plan(&mirror, &settings).requests(&run_end(&told()), &Masks::default())
    ));
}

#[test]
fn exchanges_at_a_checkpoint() {
    let (mirror, settings) = (earlier(), Settings::default());
    insta::assert_snapshot!(golden(
        &exchanges_plan(&mirror, &settings).requests(&checkpoint(&NOTHING), &Masks::default())
    ));
}

#[test]
fn r23_without_history_nothing_speaks_of_it() {
    let (mirror, settings) = (small(), Settings::default());
    for scene in [run_end(&NOTHING), checkpoint(&NOTHING)] {
        assert!(
            !golden(&outputs_plan(&mirror, &settings).requests(&scene, &Masks::default()))
                .contains("earlier_conversation")
        );
    }
}

fn state(scene: &Scene<'_>) -> Map<String, Value> {
    request(Subject::Output, std::iter::empty(), scene).state
}

#[test]
fn a_checkpoint_without_notes_tells_of_no_progress_and_an_empty_answer_is_told() {
    let phase = Phase::Checkpoint { latest_note: " ", earlier_notes: "", later_calls: &[], superseded: None };
    let state = |phase| state(&Scene { history: &NOTHING, question: "q", phase });
    assert_eq!(state(phase).keys().collect::<Vec<_>>(), ["situation", "user_question", "items"]);
    assert_eq!(state(Phase::RunEnd { answer: "", notes: "" })["final_answer"], "");
}

#[test]
fn long_texts_are_clipped_and_notes_of_a_finished_run_stay_here() {
    let long = "x".repeat(7_000);
    let units = |value: &Value| crate::text::units(value.as_str().unwrap());
    let told = state(&Scene {
        history: &NOTHING,
        question: &long,
        phase: Phase::RunEnd { answer: &long, notes: &long },
    });
    assert_eq!((units(&told["user_question"]), units(&told["final_answer"]), told.len()), (4_000, 6_000, 4));
    let phase =
        Phase::Checkpoint { latest_note: &long, earlier_notes: &long, later_calls: &[], superseded: None };
    let progress = &state(&Scene { history: &NOTHING, question: "q", phase })["agent_progress"];
    assert_eq!(["latest_note", "earlier_notes"].map(|note| units(&progress[note])), [2_000, 2_000]);
}

#[test]
fn the_page_on_the_questions_quotes_them_as_they_are_sent() {
    let texts = |subject, label: &str| {
        let of_phase = |scene: Scene<'_>| {
            let question = page::texts(wording::question(subject, scene.phase, label));
            std::iter::once(wording::situation(subject, scene.phase).to_owned()).chain(question)
        };
        [run_end(&NOTHING), checkpoint(&NOTHING)].into_iter().flat_map(of_phase).collect()
    };
    assert_eq!(page::quoted("Small outputs"), texts(Subject::Output, "item_N"));
    assert_eq!(page::quoted("Exchanges"), texts(Subject::Exchange, "exchange_N"));
}
