//! The model calls `recall`, and the runner does not answer: the original comes from the session.

use std::fs;

use anyhow::Result;
use context_guard_tests::lab::{Installed, Plan, StandIn};
use serde_json::json;

use crate::search::{self, NOISE, NOTE, text_of};
use crate::trial::{Search, Trial, original_of};

fn recalling() -> Plan {
    search::plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "There it is." }),
    ])
}

/// Has the search distilled and recalled, and checks that the whole original came back.
fn recalls(mut trial: Trial) -> Result<()> {
    trial.pi.prompt("Show me the whole search again.")?;
    let (session, original) = (trial.lab.session()?, original_of(&trial.lab)?);
    let recalled = &session.tool_results("recall")[0]["message"];
    let text = text_of(&recalled["content"]);
    assert_eq!(recalled["isError"], false, "{text}");
    assert!(text.starts_with("[The guard does not answer: ") && text.contains(NOISE), "{text}");
    assert_eq!(text.split_once('\n').map(|(_, rest)| rest.trim_end()), Some(original.trim_end()));
    trial.end(Search::Distilled)
}

#[test]
fn killed_at_recall() -> Result<()> {
    let stand_in = StandIn::faulty("call recall", "die", false)?;
    let mut trial = Trial::new(Plan { binary: Some(stand_in.path()), ..recalling() })?;
    trial.pi.prompt("Where is the backoff set?")?;
    recalls(trial)
}

#[test]
fn gone_when_the_session_is_taken_up_again() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let gone = folder.path().join("gone");
    let runner = Installed::find(None)?.runner;
    let script =
        format!("#!/bin/sh\n[ -e '{}' ] && exit 1\nexec '{}' \"$@\"\n", gone.display(), runner.display());
    let stand_in = StandIn::file(script, true)?;
    let lab = search::lab(Plan { binary: Some(stand_in.path()), ..recalling() })?;
    lab.print(&["Where is the backoff set?"])?;
    fs::write(gone, "")?;
    recalls(Trial { pi: lab.rpc(&["-c"])?, lab })
}
