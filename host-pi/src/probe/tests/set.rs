//! The set is what it should be: well formed, balanced, and asked about as it is labelled.

use crate::contract::sessions::Failure;
use crate::contract::sessions::{Reply, Verdict};
use crate::engine::Limits;
use crate::gate::Names;
use crate::probe::kind::{About, Kind};
use crate::probe::labels::Labelled;
use crate::probe::set::{Exchange, Material, Needed, Phase, Situation, situations};
use crate::probe::{Asked, prepare, questions};
use crate::runner::{Options, Runner};
use crate::settings::SettingsFile;
use std::collections::HashSet;
use tempfile::TempDir;

/// Least items of a kind.
const LEAST: usize = 12;
/// Bounds of the share of items that should stay.
const BALANCED: std::ops::RangeInclusive<f64> = 0.3..=0.7;

/// What the guard asks about each situation.
fn asked() -> Vec<(Situation, Vec<Asked>)> {
    let directory = TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let options = Options {
        allow: Vec::new(),
        warnings: Vec::new(),
        names: Names::System,
        settings: SettingsFile::at(directory.path().join("context-guard.json")),
        limits: Limits::default(),
    };
    runtime.block_on(async {
        let runner = Runner::new(options).unwrap();
        prepare(&runner).await.unwrap();
        let mut all = Vec::new();
        for situation in situations().unwrap() {
            let asked = questions(&runner, &situation).await.unwrap();
            all.push((situation, asked));
        }
        all
    })
}

/// How many labels a situation has, an output that is judged by its chunks counting once.
fn labels(situation: &Situation) -> usize {
    let outputs = situation.calls.iter().filter(|call| call.needed.is_some()).count();
    let exchanges: &[Exchange] = &situation.history;
    outputs + exchanges.iter().filter(|exchange| exchange.needed.is_some()).count()
}

fn of_kind(about: About, phase: Phase) -> impl Fn(&&Labelled) -> bool {
    move |labelled| labelled.kind == Kind { phase, about }
}

#[test]
fn names_are_unique_and_every_text_that_a_label_names_is_there() {
    let situations = situations().unwrap();
    let names: HashSet<&str> = situations.iter().map(|situation| situation.name.as_str()).collect();
    assert_eq!(names.len(), situations.len());
    for situation in &situations {
        assert_eq!(situation.phase == Phase::MidRun, situation.answer.is_empty(), "{}", situation.name);
        for call in &situation.calls {
            let Some(Needed::Parts(parts)) = &call.needed else { continue };
            let found = parts.iter().all(|part| call.output.iter().any(|line| line.contains(part.as_str())));
            assert!(found, "{}: {parts:?}", situation.name);
        }
    }
}

#[test]
fn the_guard_asks_about_every_label_once_and_about_nothing_else() {
    for (situation, asked) in asked() {
        let chunks =
            |labelled: &&Labelled| matches!(labelled.kind.about, About::Chunk | About::ChunkWithHistory);
        let labelled: Vec<&Labelled> = asked.iter().flat_map(|asked| &asked.labelled).collect();
        let counted = match situation.kind {
            Material::Chunks => asked.len(),
            _ => labelled.len(),
        };
        assert_eq!(counted, labels(&situation), "{}", situation.name);
        for asked in &asked {
            let body: serde_json::Value = serde_json::from_str(&asked.question.body).unwrap();
            let ids: HashSet<&str> = asked.labelled.iter().map(|label| label.question.as_str()).collect();
            assert_eq!(ids.len(), body["questions"].as_object().unwrap().len(), "{}", situation.name);
        }
        let large = labelled.iter().copied().filter(|label| chunks(label)).count();
        assert_eq!(large > 0, situation.kind == Material::Chunks, "{}", situation.name);
    }
}

#[test]
fn a_superseded_output_is_told_as_such_and_the_others_are_not() {
    let asked = asked();
    let superseded = asked.iter().filter(|(situation, _)| situation.kind == Material::Superseded);
    let mut told = 0;
    for (situation, asked) in superseded {
        for asked in asked {
            let body: serde_json::Value = serde_json::from_str(&asked.question.body).unwrap();
            for label in &asked.labelled {
                let stale = body["state"]["items"][&label.question].get("superseded").is_some();
                assert_eq!(stale, !label.needed, "{}: {}", situation.name, label.name);
                told += usize::from(stale);
            }
        }
    }
    assert!(told >= LEAST / 2, "{told}");
}

#[test]
fn every_kind_has_enough_items_and_about_as_many_to_keep_as_to_drop() {
    let asked = asked();
    let labelled: Vec<&Labelled> =
        asked.iter().flat_map(|(_, asked)| asked).flat_map(|asked| &asked.labelled).collect();
    for phase in [Phase::RunEnd, Phase::MidRun] {
        let abouts: &[About] = match phase {
            Phase::RunEnd => {
                &[About::Chunk, About::ChunkWithHistory, About::Small, About::Superseded, About::Exchange]
            }
            Phase::MidRun => &[About::Chunk, About::Small],
        };
        for about in abouts {
            let kind = of_kind(*about, phase);
            let items: Vec<_> = labelled.iter().copied().filter(|label| kind(label)).collect();
            let needed = items.iter().filter(|label| label.needed).count();
            let share = needed as f64 / items.len() as f64;
            assert!(items.len() >= LEAST, "{about:?}: {}", items.len());
            assert!(BALANCED.contains(&share), "{about:?}: {needed} of {}", items.len());
        }
    }
}

#[test]
fn outputs_vary_in_what_is_needed_of_them() {
    let asked = asked();
    let labelled: Vec<&Labelled> =
        asked.iter().flat_map(|(_, asked)| asked).flat_map(|asked| &asked.labelled).collect();
    for about in [About::KeepWhole, About::MostNeeded, About::NothingNeeded] {
        let kind = of_kind(about, Phase::RunEnd);
        let (yes, no): (Vec<_>, Vec<_>) =
            labelled.iter().copied().filter(|label| kind(label)).partition(|label| label.needed);
        assert!(yes.len() >= 2 && no.len() >= 2, "{about:?}: {} and {}", yes.len(), no.len());
    }
}

#[test]
fn every_kind_has_a_threshold_in_the_published_settings() {
    for kind in Kind::all() {
        let threshold = kind.threshold().unwrap();
        assert!((0.0..=1.0).contains(&threshold.default), "{threshold:?}");
    }
}

#[test]
fn counts_are_those_that_can_be_worked_out_by_hand() {
    let label = |question: &str, option, about, needed| Labelled {
        kind: Kind { phase: Phase::RunEnd, about },
        name: question.to_owned(),
        question: question.to_owned(),
        option,
        needed,
    };
    let verdict = |reply| Verdict { id: 0, reply, sent_bytes: 0, input_tokens: 0, cost_usd: 0.0 };
    let answers = serde_json::json!({
        "item_1": {"type": "bool", "probability": 0.45},
        "item_2": {"type": "bool", "probability": 0.44},
        "item_3": {"type": "bool", "probability": 0.9},
        "focus": {"type": "choice", "choice": "none", "probabilities": {"whole": 0.1, "none": 0.5}},
    });
    let answered = verdict(Reply::Answers(answers.to_string()));
    let failed = verdict(Reply::Failed(Failure::Error));
    let small = |question, needed| label(question, None, About::Small, needed);
    let asked = [
        (vec![small("item_1", true), small("item_2", true), small("item_3", false)], &answered),
        (vec![label("focus", Some("none"), About::NothingNeeded, false)], &answered),
        (vec![small("item_1", false)], &failed),
    ];
    let measured = crate::probe::score::kinds(asked).unwrap();
    let at_default = |at: usize| {
        let default = measured[at].threshold.default;
        *measured[at].counts.iter().find(|counts| counts.threshold == default).unwrap()
    };
    // What nothing needs goes from the threshold on.
    assert_eq!((at_default(0).dropped_rightly, at_default(0).accuracy), (1, 1.0));
    let small = at_default(1);
    assert_eq!(
        (small.kept_rightly, small.dropped_rightly, small.kept_wrongly, small.dropped_wrongly),
        (1, 0, 1, 1)
    );
    assert_eq!(small.accuracy, 1.0 / 3.0);
    let unanswered = &measured[1].items[3];
    assert_eq!((unanswered.probability, unanswered.kept), (None, true));
}
