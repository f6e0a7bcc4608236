//! Checkpoints in the real Pi: a long run's outputs are judged while it goes on.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Lab, Plan, Provider, Thinking, Threads};
use serde_json::{Value, json};

/// How many outputs the run has, and about how many characters each.
const OUTPUTS: usize = 30;
const CHARACTERS: usize = 12_000;

/// A run that reads file after file, of which nothing is needed later.
fn plan(provider: Provider) -> Plan {
    let cat = |at: usize| json!({ "name": "bash", "input": { "command": format!("cat part-{at}.log") } });
    let mut turns: Vec<Value> = (0..OUTPUTS).map(|at| json!({ "tools": [cat(at)] })).collect();
    turns.push(json!({ "text": "Read all of it." }));
    Plan {
        turns: json!(turns),
        rules: json!([{ "question": "^focus$", "choice": "none", "confidence": 0.9 }, { "p": 0.05 }]),
        granted: true,
        provider: Some(provider),
        ..Plan::default()
    }
}

fn lab(plan: Plan) -> Result<Lab> {
    let lab = Lab::new(plan)?;
    for at in 0..OUTPUTS {
        let line =
            |step: usize| format!("part {at} step {step}: the worker took the next piece and went on\n");
        let lines = (0..).map(line).take(CHARACTERS / line(100).len());
        lab.write(&format!("part-{at}.log"), &lines.collect::<String>())?;
    }
    Ok(lab)
}

/// The records of the session's checkpoints.
fn checkpoints(lab: &Lab) -> Result<Vec<Value>> {
    let session = lab.session()?;
    let records = session.custom("context-guard").into_iter();
    Ok(records.filter(|record| record["phase"] == "mid-run").cloned().collect())
}

/// Prompt sizes of the run's requests.
fn prompts(lab: &Lab) -> Result<Vec<u64>> {
    Ok(lab.charges()?.iter().map(|charge| charge.prompt).collect())
}

/// Where a prompt is smaller than the one before it.
fn fall(prompts: &[u64]) -> Option<usize> {
    prompts.windows(2).position(|pair| pair[1] < pair[0]).map(|at| at + 1)
}

#[test]
fn a_checkpoint_makes_the_very_next_request_smaller_and_the_run_goes_on() -> Result<()> {
    let lab = lab(plan(Provider::anthropic()))?;
    let run = lab.print(&["Read the parts."])?;
    assert_eq!(run.stdout.trim(), "Read all of it.", "{run:?}");
    let charges = lab.charges()?;
    assert_eq!(charges.len(), OUTPUTS + 1, "Pi asks for nothing more");
    let checkpoints = checkpoints(&lab)?;
    assert!(!checkpoints.is_empty());
    let at = fall(&prompts(&lab)?).context("a request was smaller than the one before")?;
    assert!(charges[at].prompt + 10_000 < charges[at - 1].prompt, "{charges:#?}");
    assert!(
        charges[at].read >= charges[0].written,
        "up to the question it is read from the cache: {charges:#?}"
    );

    let edited = |record: &Value| -> u64 {
        let results = record["results"].as_array().into_iter().flatten();
        results.filter(|result| result["outcome"] == "removed").count() as u64
    };
    assert!(edited(&checkpoints[0]) >= 5, "{checkpoints:#?}");
    let edits = lab.session()?.of_type("context_edit").len() as u64;
    assert!(edits >= checkpoints.iter().map(edited).sum());

    // What the first checkpoint edited stays in the cache when the second one edits what came later.
    let next =
        at + 1 + fall(&prompts(&lab)?[at + 1..]).context("a second checkpoint made a request smaller")?;
    let notes = charges[next].read - charges[0].written;
    assert!(notes > 50 * edited(&checkpoints[0]), "a note has more than 50 tokens: {charges:#?}");
    Ok(())
}

#[test]
fn a_thread_is_sent_whole_once_for_each_checkpoint() -> Result<()> {
    let lab = lab(plan(Provider { threads: Threads::On, ..Provider::anthropic() }))?;
    lab.print(&["Read the parts."])?;
    let charges = lab.charges()?;
    let full: Vec<_> = charges.iter().filter(|charge| charge.kind == "create").collect();
    assert_eq!(full.len(), 1 + checkpoints(&lab)?.len(), "a request in full for each edit: {charges:#?}");
    Ok(())
}

/// The same with a thought before each call.
fn thoughtful(thinking: Thinking) -> Plan {
    let mut plan = plan(Provider { thinking, ..Provider::anthropic() });
    for turn in plan.turns.as_array_mut().into_iter().flatten() {
        turn["thinking"] = json!("The next part comes next.");
    }
    plan
}

#[test]
fn b32_thinking_that_an_edit_costs_is_dropped_and_the_run_goes_on() -> Result<()> {
    let lab = lab(thoughtful(Thinking::Dropped))?;
    let run = lab.print(&["Read the parts."])?;
    assert_eq!(run.stdout.trim(), "Read all of it.", "{run:?}");
    let at = fall(&prompts(&lab)?).context("a request was smaller than the one before")?;
    assert!(lab.charges()?[at].dropped > 0);
    Ok(())
}

/// The laboratory fails a test whose model refused a request.
#[test]
fn b32_where_the_provider_would_refuse_thinking_behind_an_edit_the_edits_wait() -> Result<()> {
    let lab = lab(thoughtful(Thinking::Refused))?;
    let run = lab.print(&["Read the parts."])?;
    assert_eq!(run.stdout.trim(), "Read all of it.", "{run:?}");
    assert_eq!(fall(&prompts(&lab)?), None);
    assert!(lab.session()?.of_type("context_edit").is_empty());
    Ok(())
}

#[test]
fn without_checkpoints_the_context_grows_to_the_end_of_the_run() -> Result<()> {
    let settings = json!({ "midRun": false });
    let lab = lab(Plan { settings, ..plan(Provider::anthropic()) })?;
    lab.print(&["Read the parts."])?;
    assert_eq!(fall(&prompts(&lab)?), None);
    assert_eq!(checkpoints(&lab)?, Vec::<Value>::new());
    Ok(())
}

#[test]
fn the_drafts_of_another_extension_survive_a_checkpoint() -> Result<()> {
    let lab = lab(Plan { companions: vec!["turns.ts"], ..plan(Provider::anthropic()) })?;
    lab.print(&["Read the parts."])?;
    assert!(!checkpoints(&lab)?.is_empty());
    assert_eq!(lab.session()?.custom("turns").len(), OUTPUTS + 1, "one for each turn");
    Ok(())
}
