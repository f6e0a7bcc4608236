//! The guard's cache breakpoints, in the real Pi and before a provider that refuses what Anthropic would refuse.

use anyhow::{Context, Result};
use context_guard_tests::lab::{Charge, Lab, Plan, Provider, Thinking, Threads};
use serde_json::{Value, json};

/// The first prompt's text in a request.
const QUESTION: &str = "messages.0.content.0";

fn call(command: &str) -> Value {
    json!({ "name": "bash", "input": { "command": command } })
}

/// Two calls, then the answer; and the answer to a second prompt.
fn plan(provider: Provider) -> Plan {
    let turns = json!([
        { "thinking": "Numbers first.", "tools": [call("seq 1 1500")] },
        { "thinking": "Two small ones.", "tools": [call("echo one"), call("echo two")] },
        { "text": "Done." },
        { "tools": [call("echo three")] },
        { "text": "Still done." },
    ]);
    Plan {
        turns,
        provider: Some(provider),
        settings: json!({ "model": "builtin/lexical" }),
        ..Plan::default()
    }
}

fn places(charge: &Charge) -> Vec<&str> {
    charge.marks.iter().map(|mark| mark.place.as_str()).collect()
}

fn kinds(charges: &[Charge]) -> Vec<&str> {
    charges.iter().map(|charge| charge.kind.as_str()).collect()
}

/// Runs the first prompt, as soon as the guard is up.
fn counted(plan: Plan) -> Result<Lab> {
    let guarded = !plan.unguarded;
    let lab = Lab::new(plan)?;
    let mut pi = lab.rpc(&[])?;
    if guarded {
        pi.until_status(0, "🛡 0 saved")?;
    }
    pi.prompt("Count.")?;
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    pi.close()?;
    Ok(lab)
}

/// The messages of each request as text, without what differs between two laboratories.
fn messages(lab: &Lab) -> Result<Vec<String>> {
    let project = lab.project().display().to_string();
    Ok(lab
        .requests()?
        .iter()
        .map(|request| request["messages"].to_string().replace(&project, "PROJECT"))
        .collect())
}

#[test]
fn the_question_is_marked_as_soon_as_something_follows_it() -> Result<()> {
    let lab = counted(plan(Provider::anthropic()))?;
    let charges = lab.charges()?;
    let (tools, system) = ("tools.4", "system.0");
    assert_eq!(places(&charges[0]), [tools, system, QUESTION], "Pi's own mark");
    assert_eq!(places(&charges[1]), [tools, system, QUESTION, "messages.2.content.0"]);
    assert_eq!(places(&charges[2]), [tools, system, QUESTION, "messages.4.content.1"]);
    assert!(charges.iter().flat_map(|charge| &charge.marks).all(|mark| mark.ttl == "5m"));
    assert!(charges.windows(2).all(|pair| pair[1].read > pair[0].read), "{charges:#?}");
    Ok(())
}

#[test]
fn beside_the_mark_nothing_in_a_request_changes() -> Result<()> {
    let marked = messages(&counted(plan(Provider::anthropic()))?)?;
    let unguarded = messages(&counted(Plan { unguarded: true, ..plan(Provider::anthropic()) })?)?;
    assert_eq!(marked[0], unguarded[0]);
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    for (marked, unguarded) in marked.iter().zip(&unguarded).skip(1) {
        assert_ne!(marked, unguarded);
        assert_eq!(marked.replacen(mark, "", 1), *unguarded, "the first mark is the guard's");
    }
    Ok(())
}

#[test]
fn without_pinning_messages_go_out_byte_for_byte_as_pi_made_them() -> Result<()> {
    let settings = json!({ "model": "builtin/lexical", "pinAnthropicCache": false });
    let off = counted(Plan { settings, ..plan(Provider::anthropic()) })?;
    let unguarded = counted(Plan { unguarded: true, ..plan(Provider::anthropic()) })?;
    assert_eq!(messages(&off)?, messages(&unguarded)?);
    assert!(off.charges()?.iter().all(|charge| charge.marks.len() == 3));
    Ok(())
}

#[test]
fn an_hour_of_retention_makes_marks_of_an_hour() -> Result<()> {
    let lab = counted(plan(Provider { long_retention: true, ..Provider::anthropic() }))?;
    let charges = lab.charges()?;
    assert_eq!(charges[2].marks.len(), 4);
    assert!(charges.iter().flat_map(|charge| &charge.marks).all(|mark| mark.ttl == "1h"), "{charges:#?}");
    Ok(())
}

#[test]
fn after_an_edit_the_cache_is_read_up_to_the_question() -> Result<()> {
    let lab = counted(Plan { companions: vec!["edit.ts"], ..plan(Provider::anthropic()) })?;
    let charges = lab.charges()?;
    // The mark on the system prompt covers the tools, whose own makes room for the edited result.
    assert_eq!(places(&charges[2]), ["system.0", QUESTION, "messages.2.content.0", "messages.4.content.1"]);
    assert_eq!(charges[2].read, charges[0].written, "everything up to the question: {charges:#?}");
    Ok(())
}

#[test]
fn a_thread_ends_with_an_edit_and_goes_on_after_it() -> Result<()> {
    let provider = Provider { threads: Threads::On, ..Provider::anthropic() };
    let lab = Lab::new(Plan { companions: vec!["edit.ts"], ..plan(provider) })?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    pi.prompt("Count.")?;
    pi.prompt("And?")?;
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges[..3]), ["create", "continue", "create"]);
    assert!(!places(&charges[2]).contains(&"tools.4"), "{charges:#?}");
    assert!(kinds(&charges[3..]).iter().all(|kind| *kind == "continue"), "{charges:#?}");
    Ok(())
}

#[test]
fn a_replay_that_keeps_the_cache_warm_has_the_marks_of_its_request() -> Result<()> {
    let lab = Lab::new(plan(Provider { refreshed: true, ..Provider::anthropic() }))?;
    let mut pi = lab.rpc(&[])?;
    pi.until_status(0, "🛡 0 saved")?;
    let mark = pi.mark();
    pi.prompt("Count.")?;
    let warmed = |record: &Value| record["entry"]["kind"] == "cache_warm";
    pi.until(mark, "a refresh", warmed)?;
    pi.prompt("And?")?;
    let charges = lab.charges()?;
    let at = charges.iter().position(|charge| charge.replay).context("there was a refresh")?;
    assert_eq!(charges[at].marks, charges[at - 1].marks, "{charges:#?}");
    assert!(places(&charges[at]).contains(&QUESTION));
    assert!(charges[at].read > 0);
    assert_eq!(pi.extension_errors(), Vec::<Value>::new());
    Ok(())
}

#[test]
fn thinking_that_a_provider_binds_outlives_the_marks() -> Result<()> {
    for thinking in [Thinking::Dropped, Thinking::Refused] {
        let lab = counted(plan(Provider { thinking, ..Provider::anthropic() }))?;
        let charges = lab.charges()?;
        assert!(charges.iter().all(|charge| charge.dropped == 0), "{charges:#?}");
        assert!(places(&charges[2]).contains(&QUESTION), "{charges:#?}");
    }
    Ok(())
}
