//! Screenshots: the old ones leave by age alone, and come back by `recall`.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Lab, Plan};
use serde_json::{Value, json};

use crate::search::{NOTE, text_of};

pub(crate) const PROMPT: &str = "Walk through the pages.";

pub(crate) const TAKEN: usize = 6;

/// How many of them are three replies old when the run ends: the last has one after it, and so on.
pub(crate) const OLD: usize = 4;

/// Six replies with a screenshot each, no two of a size, then the answer.
pub(crate) fn plan(later_turns: &[Value]) -> Plan {
    let shot = |n| json!({ "tools": [{ "name": "shot", "input": { "width": width(n), "height": 800 } }] });
    let mut turns: Vec<Value> = (0..TAKEN).map(shot).collect();
    turns.push(json!({ "text": "All pages look right." }));
    turns.extend_from_slice(later_turns);
    Plan { turns: json!(turns), granted: true, companions: vec!["shot.ts"], ..Plan::default() }
}

fn width(n: usize) -> usize {
    1_000 + n
}

/// The contents of the results of a tool in a request to the model, in order: blocks, or a string without images.
pub(crate) fn results_of<'a>(tool: &str, request: &'a Value) -> Vec<&'a Value> {
    let blocks =
        || request["messages"].as_array().into_iter().flatten().flat_map(|m| m["content"].as_array());
    let calls: Vec<&Value> =
        blocks().flatten().filter(|block| block["name"] == tool).map(|call| &call["id"]).collect();
    blocks()
        .flatten()
        .filter(|block| calls.contains(&&block["tool_use_id"]))
        .map(|result| &result["content"])
        .collect()
}

pub(crate) fn images(content: &Value) -> Vec<&Value> {
    content.as_array().into_iter().flatten().filter(|block| block["type"] == "image").collect()
}

/// Checks that a request shows the old screenshots as notes with their text, and the young ones as they were.
pub(crate) fn only_young_screenshots_are_in(request: &Value) {
    let shown = results_of("shot", request);
    assert_eq!(shown.len(), TAKEN);
    for (n, content) in shown.into_iter().enumerate() {
        let text = format!("The page at {} by 800.", width(n));
        let shown = text_of(content);
        if n < OLD {
            let note = format!("[context-guard] Removed 1 image from this output ({}×800; ~", width(n));
            assert!(shown.starts_with(&note), "{shown}");
            assert!(shown.contains(&format!(" {} turns old", TAKEN - n)), "{shown}");
            assert!(shown.ends_with(&text), "{shown}");
            assert!(images(content).is_empty(), "{shown}");
        } else {
            assert_eq!((shown, images(content).len()), (text, 1));
        }
    }
}

pub(crate) fn last_request(lab: &Lab) -> Result<Value> {
    lab.requests()?.pop().context("the model was asked")
}

#[test]
fn old_screenshots_leave_at_the_end_of_the_run_and_their_text_stays() -> Result<()> {
    let lab = Lab::new(plan(&[json!({ "text": "You are welcome." })]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt(PROMPT)?;
    let all = last_request(&lab)?;
    assert!(
        results_of("shot", &all).iter().all(|content| images(content).len() == 1),
        "the run saw them all"
    );
    assert_eq!(lab.session()?.of_type("context_edit").len(), OLD);
    pi.prompt("Thanks.")?;
    only_young_screenshots_are_in(&last_request(&lab)?);
    assert!(!lab.classifier_was_reached(), "there was nothing to ask");
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(pi.close()?, Some(0));
    Ok(())
}

#[test]
fn they_leave_without_a_classifier_too() -> Result<()> {
    let lab = Lab::new(Plan { granted: false, ..plan(&[json!({ "text": "You are welcome." })]) })?;
    let first = lab.print(&[PROMPT])?;
    assert_eq!((first.code, first.stdout.trim()), (Some(0), "All pages look right."), "{first:?}");
    let record = lab.session()?.custom("context-guard")[0].clone();
    assert_eq!((&record["requests"], record.get("origin")), (&json!(0), None), "{record}");
    lab.print(&["-c", "Thanks."])?;
    only_young_screenshots_are_in(&last_request(&lab)?);
    assert!(!lab.classifier_was_reached());
    Ok(())
}

#[test]
fn recall_brings_one_back_as_an_image() -> Result<()> {
    let lab = Lab::new(plan(&[
        json!({ "tools": [{ "name": "recall", "input": { "entryId": "$1" } }], "capture": NOTE }),
        json!({ "text": "The menu is on the left." }),
    ]))?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt(PROMPT)?;
    pi.prompt("Where was the menu on the first page?")?;
    let session = lab.session()?;
    let taken = &session.tool_results("shot")[0]["message"]["content"][1]["data"];
    assert!(taken.is_string(), "{taken}");
    let request = last_request(&lab)?;
    let recalled = results_of("recall", &request);
    let pictures = images(recalled.first().context("the model called recall")?);
    assert_eq!(pictures.len(), 1, "{recalled:?}");
    assert_eq!(
        (&pictures[0]["source"]["media_type"], &pictures[0]["source"]["data"]),
        (&json!("image/png"), taken)
    );
    only_young_screenshots_are_in(&request);
    Ok(())
}
