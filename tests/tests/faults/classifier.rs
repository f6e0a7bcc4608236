//! The classifier refuses, is silent, or answers with nonsense.

use anyhow::{Context, Result};
use context_guard_tests::lab::Plan;
use serde_json::{Value, json};

use crate::search::{self, COMMAND, text_of};
use crate::trial::Trial;

/// What the user is told where no answer can be used, and where none comes in time.
const USELESS: &str = "gave no answer that could be used";
const LATE: &str = "did not answer in time";
/// An answer in the right form in which nothing can be used counts as the classifier's doubt.
const DOUBT: &str = "";

/// What the classifier does, as a rule of `lab/fake-jev.mjs`, and what the user is told.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    let fault = |fault: &str| json!({ "fault": fault });
    let status = |status: u16| json!({ "status": status });
    vec![
        ("does not understand", status(400), USELESS),
        ("does not know the key", status(401), USELESS),
        ("forbids", status(403), USELESS),
        ("has too much to do", status(429), USELESS),
        ("is broken", status(500), USELESS),
        ("hangs", fault("hang"), LATE),
        ("drips a byte a second", fault("drip"), LATE),
        ("ends the connection", fault("refuse"), USELESS),
        ("ends the connection within its answer", fault("cut"), USELESS),
        ("answers with a page", fault("html"), USELESS),
        ("answers other questions", fault("ids"), DOUBT),
        ("answers no question", fault("missing"), DOUBT),
        ("answers with NaN", fault("nan"), USELESS),
        ("answers with 1e999", fault("infinite"), USELESS),
        ("answers with numbers below zero", fault("negative"), DOUBT),
        ("answers with ten megabytes", fault("huge"), USELESS),
        ("answers with bytes that are no UTF-8", fault("utf8"), USELESS),
        ("compresses its answer", fault("gzip"), USELESS),
    ]
}

/// Were a spoilt answer taken, all of the search would go.
fn rule(name: &str, mut what: Value) -> Value {
    what["state"] = json!(format!("It {name}[.]"));
    what["p"] = json!(0.01);
    what["choice"] = json!("none");
    what
}

#[test]
fn whatever_the_classifier_does_the_search_stays_and_the_next_one_is_judged() -> Result<()> {
    let cases = cases();
    let healthy = search::plan(&[]);
    let mut rules: Vec<Value> = cases.iter().map(|(name, what, _)| rule(name, what.clone())).collect();
    rules.extend(healthy.rules.as_array().into_iter().flatten().cloned());
    let turn = json!([{ "tools": [{ "name": "bash", "input": { "command": COMMAND } }] }, { "text": "In src/needed.rs." }]);
    let turns: Vec<Value> =
        (0..=cases.len()).flat_map(|_| turn.as_array().cloned().unwrap_or_default()).collect();
    let mut trial = Trial::new(Plan {
        turns: json!(turns),
        rules: json!(rules),
        // Each search is judged once, and a question holds nothing of the runs before.
        settings: json!({ "timeoutMs": 1500, "historyExchanges": 0, "pruneExchanges": false }),
        ..healthy
    })?;
    for (name, _, notice) in &cases {
        trial.pi.prompt("/guard reload")?;
        let (mark, asked) = (trial.pi.mark(), trial.lab.classified()?.len());
        trial.pi.prompt(&format!("It {name}. Where is the backoff set?"))?;
        let warnings = trial.pi.warnings(mark);
        assert_eq!(warnings.len(), usize::from(!notice.is_empty()), "it {name}: {warnings:?}");
        assert!(warnings.iter().all(|warning| warning.contains(notice)), "it {name}: {warnings:?}");
        assert!(trial.lab.classified()?.len() > asked, "it {name}: it was asked");
        assert!(trial.lab.session()?.of_type("context_edit").is_empty(), "it {name}");
    }
    let mark = trial.pi.mark();
    trial.pi.prompt("It is well again. Where is the backoff set?")?;
    trial.pi.until_saved(mark)?;
    assert_eq!(trial.pi.extension_errors(), Vec::<Value>::new());
    assert_eq!(trial.pi.close()?, Some(0));
    trial.lab.until_left()?;
    let session = trial.lab.session()?;
    let texts: Vec<String> =
        session.tool_results("bash").iter().map(|entry| text_of(&entry["message"]["content"])).collect();
    assert_eq!(texts.len(), cases.len() + 1);
    assert!(texts.iter().all(|text| text == &texts[0]), "each search is whole in the session");
    let last = trial.lab.requests()?.pop().context("the model was asked")?;
    let seen = last.to_string().matches("src/admission.rs:1: ").count();
    assert_eq!(seen, texts.len(), "each search is whole in the context until it was judged");
    Ok(())
}
