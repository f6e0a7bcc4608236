//! The same session from several points of its tree, in several processes: what is removed on a branch is whole
//! before the edit, and comes back by `recall` wherever it is removed.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Lab, Plan};
use serde_json::{Value, json};

use crate::images::{self, images, last_request, only_young_screenshots_are_in, results_of};
use crate::search::{self, NEEDED, NOISE, NOTE, result_in, text_of};

fn id(entry: &Value) -> Result<String> {
    entry["id"].as_str().map(str::to_owned).context("an entry has an id")
}

/// The entry that the first edit follows, and the newest entry.
fn around_the_edits(lab: &Lab) -> Result<(String, String)> {
    let session = lab.session()?;
    let edit = *session.of_type("context_edit").first().context("there are edits")?;
    let before = edit["parentId"].as_str().context("an edit has a parent")?.to_owned();
    Ok((before, id(session.entries().last().context("the session has entries")?)?))
}

fn recalling() -> [Value; 2] {
    [
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "There it is." }),
    ]
}

#[test]
fn before_the_edit_the_model_sees_the_original_and_after_it_recall_works() -> Result<()> {
    let [recall, found] = recalling();
    let mut plan = search::plan(&[json!({ "text": "A look back." }), recall, found]);
    plan.companions = vec!["navigate.ts"];
    let lab = search::lab(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Where is the backoff set?")?;
    pi.until_saved(0)?;
    let (before, after) = around_the_edits(&lab)?;

    let mark = pi.mark();
    pi.prompt(&format!("/navigate {before}"))?;
    pi.until_status(mark, "🛡 0 saved")?;
    pi.prompt("And here?")?;
    let original = result_in(&last_request(&lab)?).context("the search is in the context")?;
    assert!(original.contains(NOISE) && original.contains(NEEDED), "{original}");

    let mark = pi.mark();
    pi.prompt(&format!("/navigate {after}"))?;
    pi.until_saved(mark)?;
    pi.prompt("Show me the whole search again.")?;
    let session = lab.session()?;
    let recalled = text_of(&session.tool_results("recall")[0]["message"]["content"]);
    assert_eq!(recalled.trim_end(), original.trim_end());
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    Ok(())
}

/// Checks that the last request shows the old screenshots as notes and the recalled one as an image.
fn the_first_screenshot_is_back(lab: &Lab, recalls: usize) -> Result<()> {
    let request = last_request(lab)?;
    only_young_screenshots_are_in(&request);
    let session = lab.session()?;
    let taken = &session.tool_results("shot")[0]["message"]["content"][1]["data"];
    let recalled = results_of("recall", &request);
    assert_eq!(recalled.len(), recalls);
    let pictures = images(recalled.last().context("the model called recall")?);
    assert_eq!(pictures.iter().map(|image| &image["source"]["data"]).collect::<Vec<_>>(), [taken]);
    Ok(())
}

#[test]
fn screenshots_come_back_before_the_edit_after_it_in_another_process_and_in_a_fork() -> Result<()> {
    let [recall, found] = recalling();
    let look_back = json!({ "text": "A look back." });
    let mut later = vec![look_back];
    for _ in 0..3 {
        later.extend([recall.clone(), found.clone()]);
    }
    let plan = images::plan(&later);
    let lab = Lab::new(Plan { companions: vec!["shot.ts", "navigate.ts"], ..plan })?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt(images::PROMPT)?;
    let (before, after) = around_the_edits(&lab)?;

    pi.prompt(&format!("/navigate {before}"))?;
    pi.prompt("And here?")?;
    let whole = last_request(&lab)?;
    let shown = results_of("shot", &whole);
    assert_eq!(shown.len(), images::TAKEN);
    assert!(shown.iter().all(|content| images(content).len() == 1), "the originals are back");

    pi.prompt(&format!("/navigate {after}"))?;
    pi.prompt("Where was the menu on the first page?")?;
    the_first_screenshot_is_back(&lab, 1)?;
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));

    let mut pi = lab.rpc(&["-c"])?;
    pi.prompt("And once more, where was it?")?;
    the_first_screenshot_is_back(&lab, 2)?;

    let origin = lab.session()?;
    let prompts = origin.of_type("message");
    let last = prompts.iter().rfind(|entry| entry["message"]["role"] == "user");
    pi.send("fork", json!({ "entryId": id(last.context("there was a prompt")?)? }))?;
    pi.prompt("And in the fork?")?;
    assert_ne!(id(&lab.session()?.entries()[0])?, id(&origin.entries()[0])?, "it is a session of its own");
    the_first_screenshot_is_back(&lab, 2)?;
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}
