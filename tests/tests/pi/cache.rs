//! What Pi alone does with a provider's prompt cache: the facts of `docs/CACHE.md` that say "measured".

use std::time::Duration;

use anyhow::{Context, Result};
use context_guard_tests::lab::{Charge, Lab, Plan, Provider, Thinking, Threads};
use serde_json::{Value, json};

/// Two calls, then the answer, with thinking.
fn plan(provider: Provider) -> Plan {
    let call = |command: &str| json!({ "name": "bash", "input": { "command": command } });
    let turns = json!([
        { "thinking": "Numbers first.", "tools": [call("seq 1 1500")] },
        { "thinking": "Two small ones.", "tools": [call("echo one"), call("echo two")] },
        { "text": "Done." },
        { "text": "Still done." },
    ]);
    Plan { turns, provider: Some(provider), unguarded: true, ..Plan::default() }
}

fn places(charge: &Charge) -> Vec<&str> {
    charge.marks.iter().map(|mark| mark.place.as_str()).collect()
}

fn kinds(charges: &[Charge]) -> Vec<&str> {
    charges.iter().map(|charge| charge.kind.as_str()).collect()
}

/// The usage of the session's replies, as Pi kept it.
fn usages(lab: &Lab) -> Result<Vec<Value>> {
    let session = lab.session()?;
    let replies = session.of_type("message").into_iter().filter(|e| e["message"]["role"] == "assistant");
    Ok(replies.map(|e| e["message"]["usage"].clone()).collect())
}

/// Checks that each prompt reads all of the one before, and that Pi's own account is the provider's.
fn reads_grow(lab: &Lab, charges: &[Charge]) -> Result<()> {
    for pair in charges.windows(2) {
        assert!(pair[1].read > pair[0].read, "{charges:#?}");
        assert!(pair[1].read + 128 >= pair[0].prompt - pair[0].uncached, "{charges:#?}");
    }
    for (charge, usage) in charges.iter().zip(usages(lab)?) {
        assert_eq!(usage["cacheRead"], charge.read);
        assert_eq!(usage["cacheWrite"], charge.written);
        let paid = usage["cost"]["total"].as_f64().context("Pi knows the price")?;
        assert!((paid - charge.cost.total).abs() < 1e-9, "{usage} {charge:?}");
    }
    Ok(())
}

#[test]
fn anthropic_gets_marks_on_the_last_tool_the_system_prompt_and_the_newest_message() -> Result<()> {
    let lab = Lab::new(plan(Provider::anthropic()))?;
    lab.print(&["Count."])?;
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["plain", "plain", "plain"]);
    assert_eq!(places(&charges[0]), ["tools.3", "system.0", "messages.0.content.0"]);
    assert_eq!(places(&charges[2]), ["tools.3", "system.0", "messages.4.content.1"]);
    assert!(charges.iter().all(|charge| charge.marks.iter().all(|mark| mark.ttl == "5m")));
    assert_eq!(charges[0].read, 0);
    reads_grow(&lab, &charges)
}

#[test]
fn long_retention_asks_for_an_hour() -> Result<()> {
    let lab = Lab::new(plan(Provider { long_retention: true, ..Provider::anthropic() }))?;
    lab.print(&["Count."])?;
    let charges = lab.charges()?;
    assert!(charges.iter().all(|charge| charge.marks.iter().all(|mark| mark.ttl == "1h")), "{charges:#?}");
    assert_eq!(charges[0].written_long, charges[0].written);
    reads_grow(&lab, &charges)
}

#[test]
fn a_thread_sends_what_is_new_and_is_charged_like_the_whole() -> Result<()> {
    let run = |threads| -> Result<(Lab, Vec<Charge>)> {
        let lab = Lab::new(plan(Provider { threads, thinking: Thinking::Dropped, ..Provider::anthropic() }))?;
        lab.print(&["Count."])?;
        let charges = lab.charges()?;
        Ok((lab, charges))
    };
    let (_, plain) = run(Threads::Off)?;
    for threads in [Threads::On, Threads::OnByAddress] {
        let (lab, charges) = run(threads)?;
        assert_eq!(kinds(&charges), ["create", "continue", "continue"]);
        let continued = &lab.requests()?[1];
        assert_eq!((continued.get("system"), continued.get("tools")), (None, None));
        let roles: Vec<&Value> =
            continued["messages"].as_array().into_iter().flatten().map(|m| &m["role"]).collect();
        assert_eq!(roles, ["user", "system"], "the results and the effort: {continued}");
        let totals = |charges: &[Charge]| -> Vec<(u64, u64)> {
            charges.iter().map(|charge| (charge.read, charge.written)).collect()
        };
        assert_eq!(totals(&charges), totals(&plain));
        reads_grow(&lab, &charges)?;
    }
    Ok(())
}

#[test]
fn a_new_process_starts_a_new_thread_and_reads_the_old_cache() -> Result<()> {
    let lab = Lab::new(plan(Provider { threads: Threads::On, ..Provider::anthropic() }))?;
    lab.print(&["Count."])?;
    lab.print(&["-c", "And?"])?;
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["create", "continue", "continue", "create"]);
    reads_grow(&lab, &charges)
}

#[test]
fn after_six_minutes_nothing_is_read() -> Result<()> {
    let lab = Lab::new(plan(Provider::anthropic()))?;
    lab.print(&["Count."])?;
    lab.advance(Duration::from_secs(360))?;
    lab.print(&["-c", "And?"])?;
    let charges = lab.charges()?;
    assert_eq!(charges[3].read, 0, "{charges:#?}");
    let session = lab.session()?;
    let times: Vec<i64> =
        session.of_type("message").iter().filter_map(|e| e["message"]["timestamp"].as_i64()).collect();
    let pause = times.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(pause >= Some(360_000), "Pi's clock went on too: {times:?}");
    Ok(())
}

#[test]
fn a_lost_thread_is_sent_again_in_full() -> Result<()> {
    // Each thread is over before it is continued.
    let step = Duration::from_secs(301);
    let lab = Lab::new(plan(Provider { threads: Threads::On, step, ..Provider::anthropic() }))?;
    let printed = lab.print(&["Count."])?;
    assert_eq!(printed.stdout.trim(), "Done.", "{printed:?}");
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["create", "refused", "create", "refused", "create"]);
    assert_eq!(charges[1].code.as_deref(), Some("thread_not_found"));
    Ok(())
}

#[test]
fn an_edit_ends_the_thread_once_and_drops_the_thinking_behind_it() -> Result<()> {
    let provider = Provider { threads: Threads::On, thinking: Thinking::Dropped, ..Provider::anthropic() };
    let lab = Lab::new(Plan { companions: vec!["edit.ts"], ..plan(provider) })?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt("Count.")?;
    pi.prompt("And?")?;
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["create", "continue", "create", "continue"]);
    let binding = &lab.requests()?[0]["thinking"]["block_binding"];
    assert_eq!(binding, &json!({ "prefix_mismatch_behavior": "drop_block" }));
    // The second reply's thinking came behind the first result. The entry of the first prompt is still read.
    assert_eq!(charges.iter().map(|charge| charge.dropped).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(charges[2].read, charges[0].written, "{charges:#?}");
    let session = lab.session()?;
    let noted = session.of_type("message").into_iter().filter(|e| {
        let notes = e["message"]["diagnostics"].as_array();
        notes.into_iter().flatten().any(|note| note["type"] == "anthropic_input_transformations")
    });
    assert_eq!(noted.count(), 2);
    Ok(())
}

/// Checks that the two requests after the edit lost one block of thinking each, and that Pi noted it.
fn thinking_is_dropped(lab: &Lab, note: &str, charges: &[Charge]) -> Result<()> {
    assert_eq!(charges.iter().map(|charge| charge.dropped).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let session = lab.session()?;
    let noted = session.of_type("message").into_iter().filter(|e| {
        e["message"]["diagnostics"].as_array().into_iter().flatten().any(|known| known["type"] == note)
    });
    assert_eq!(noted.count(), 2);
    Ok(())
}

#[test]
fn an_edit_before_thinking_is_refused_where_nothing_says_that_it_be_dropped() -> Result<()> {
    for thinking in [Thinking::Refused, Thinking::RefusedInRun] {
        let provider = Provider { thinking, ..Provider::anthropic() };
        let lab = Lab::new(Plan { companions: vec!["edit.ts"], refusals: true, ..plan(provider) })?;
        lab.print(&["Count."])?;
        let refusals = lab.refusals()?;
        assert_eq!(refusals.len(), 1, "Pi does not try again: {refusals:?}");
        assert!(refusals[0].contains("bound to a different conversation"), "{refusals:?}");
        let printed = lab.print(&["-c", "And?"])?;
        assert_eq!(lab.refusals()?.len() == 1, thinking == Thinking::RefusedInRun, "{printed:?}");
    }
    Ok(())
}

#[test]
fn a_mark_on_a_message_keeps_the_thread_and_one_less_on_the_tools_ends_it() -> Result<()> {
    for (mark, expected) in
        [("messages", ["create", "continue", "continue"]), ("tools", ["create", "create", "create"])]
    {
        let provider = Provider { threads: Threads::On, ..Provider::anthropic() };
        let environment = vec![("LAB_MARK", mark.into())];
        let lab = Lab::new(Plan { companions: vec!["mark.ts"], environment, ..plan(provider) })?;
        lab.print(&["Count."])?;
        let charges = lab.charges()?;
        assert_eq!(kinds(&charges), expected, "{mark}");
        let first_is_sent = lab.requests()?[1]["messages"].to_string().contains("Count.");
        assert_eq!(first_is_sent, mark == "tools", "a continued thread sends what is new");
    }
    Ok(())
}

#[test]
fn a_warm_cache_is_a_replay_with_one_token_of_output_and_no_thread() -> Result<()> {
    let provider = Provider { threads: Threads::On, refreshed: true, ..Provider::anthropic() };
    let lab = Lab::new(plan(provider))?;
    let mut pi = lab.rpc(&[])?;
    let mark = pi.mark();
    pi.prompt("Count.")?;
    let warmed = |record: &Value| record["entry"]["kind"] == "cache_warm";
    pi.until(mark, "a refresh", warmed)?;
    pi.prompt("And?")?;
    let charges = lab.charges()?;
    let at = charges.iter().position(|charge| charge.replay).context("there was a refresh")?;
    let (replay, before) = (&charges[at], &charges[at - 1]);
    assert_eq!((replay.kind.as_str(), replay.output), ("plain", 1));
    assert_eq!((replay.prompt, replay.read), (before.prompt, before.read + before.written));
    let last = charges.iter().rfind(|charge| !charge.replay).context("the run went on")?;
    assert_eq!(last.kind, "continue", "the thread is not touched: {charges:#?}");
    let session = lab.session()?;
    let usage = session.of_type("usage");
    assert_eq!(usage[0]["usage"]["cacheRead"], replay.read);
    assert!(session.entries().iter().any(|entry| entry["parentId"] == usage[0]["id"]), "it is on the branch");
    Ok(())
}

#[test]
fn on_codex_an_edit_sends_all_once_and_only_the_stable_beginning_is_read() -> Result<()> {
    let provider = Provider { thinking: Thinking::Dropped, ..Provider::codex() };
    let mut plan = plan(provider);
    plan.companions = vec!["edit.ts"];
    // The question fills the stable beginning, so that the edit is behind it.
    let question = format!("Count. {}", "Take your time. ".repeat(800));
    let lab = Lab::new(plan)?;
    let mut pi = lab.rpc(&[])?;
    pi.prompt(&question)?;
    pi.prompt("And?")?;
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["full", "delta", "full", "delta"]);
    assert!(charges[1].read > 2_560, "{charges:#?}");
    assert_eq!(charges[2].read, 2_560, "{charges:#?}");
    assert!(charges[3].read + 128 > charges[2].prompt, "{charges:#?}");
    thinking_is_dropped(&lab, "openai_input_transformations", &charges)
}

#[test]
fn codex_sends_what_is_new_over_its_connection_and_reads_the_whole_prompt_before() -> Result<()> {
    for thinking in [Thinking::Off, Thinking::Free, Thinking::Dropped] {
        let lab = Lab::new(plan(Provider { thinking, ..Provider::codex() }))?;
        lab.print(&["Count."])?;
        lab.print(&["-c", "And?"])?;
        let charges = lab.charges()?;
        assert_eq!(kinds(&charges), ["full", "delta", "delta", "full"]);
        assert!(charges.iter().all(|charge| charge.marks.is_empty() && charge.dropped == 0));
        reads_grow(&lab, &charges)?;
    }
    Ok(())
}

#[test]
fn codex_gets_the_session_as_its_key_and_the_tools_and_the_system_prompt_as_items() -> Result<()> {
    let lab = Lab::new(plan(Provider { thinking: Thinking::Dropped, ..Provider::codex() }))?;
    lab.print(&["Count."])?;
    let first = &lab.prompts()?[0];
    assert_eq!(
        (&first["store"], &first["include"]),
        (&json!(false), &json!(["reasoning.encrypted_content"]))
    );
    assert_eq!(first["prompt_cache_key"], lab.session()?.entries()[0]["id"]);
    let kinds: Vec<&Value> = (0..2).map(|at| &first["input"][at]["type"]).collect();
    assert_eq!((kinds[0], kinds[1]), (&json!("additional_tools"), &Value::Null));
    assert_eq!(first["input"][1]["role"], "developer");
    assert_eq!((first.get("tools"), first.get("instructions")), (None, None));
    Ok(())
}

#[test]
fn codex_over_sse_gets_every_request_in_full_and_reads_the_same() -> Result<()> {
    let lab = Lab::new(plan(Provider::codex()))?;
    lab.write(".pi/settings.json", &json!({ "transport": "sse" }).to_string())?;
    let printed = lab.print(&["--approve", "Count."])?;
    assert_eq!(printed.stdout.trim(), "Done.", "{printed:?}");
    let charges = lab.charges()?;
    assert_eq!(kinds(&charges), ["full", "full", "full"]);
    reads_grow(&lab, &charges)
}
