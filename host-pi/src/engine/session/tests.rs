//! The embedded guest under limits that are too tight for it, and one that never returns.

use super::*;
use crate::contract::types::{Block, Entry, EntryBody, Message, ToolResult, View, Visible};
use crate::contract::{classifier::Service, sessions::Budget};
use crate::engine::asking;
use crate::testing;

fn session(limits: Limits) -> Session {
    Session::new(Arc::new(Sandbox::new(limits).unwrap()))
}

/// Limits under which a delta with [`HUGE`] traps, and a small one does not.
fn tight() -> Limits {
    Limits { memory_bytes: 24 << 20, ..Limits::default() }
}

const HUGE: usize = 32 << 20;

fn delta(keep: u32, id: &str, text: String) -> Delta {
    let body = EntryBody::Message(Message::User(vec![Block::Text(text)]));
    one(keep, id, body)
}

fn output(keep: u32, id: &str, text: &str) -> Delta {
    let blocks = vec![Block::Text(text.into())];
    let result = ToolResult { call_id: "c".into(), tool_name: None, is_error: false, blocks };
    one(keep, id, EntryBody::Message(Message::ToolResult(result)))
}

fn one(keep: u32, id: &str, body: EntryBody) -> Delta {
    let visible = Visible { id: id.into(), view: View::AsRecorded };
    let branch = vec![Entry { id: id.into(), time: 0, body }];
    Delta { keep_branch: keep, branch, keep_context: keep, context: vec![visible] }
}

#[tokio::test]
async fn a_guest_without_memory_traps_and_a_new_one_takes_the_session_whole() {
    let mut session = session(tight());
    session.update(delta(0, "a", "small".into())).await.unwrap();
    let failure = session.update(delta(1, "b", "x".repeat(HUGE))).await.unwrap_err();
    assert!(matches!(&failure, Failure::Trapped(reason) if reason.contains("memory")), "{failure:?}");
    assert_eq!(session.update(delta(1, "b", "small".into())).await, Err(Failure::OutOfSync));
    assert_eq!(session.update(delta(0, "a", "small".into())).await, Ok(()));
    assert_eq!(session.update(delta(1, "b", "small".into())).await, Ok(()));
}

fn circumstances(problem: &str) -> Circumstances {
    let problem = Some(problem.to_owned());
    Circumstances { problem, destination: None, recall_active: true, working_directory: "/w".into() }
}

#[tokio::test]
async fn after_a_trap_the_new_guest_knows_the_settings_and_the_circumstances() {
    let mut session = session(tight());
    session.configure(r#"{"model": "acme/judge"}"#.into(), None).await.unwrap();
    session.observe(circumstances("no acme key")).await.unwrap();
    session.update(delta(0, "a", "x".repeat(HUGE))).await.unwrap_err();
    assert_eq!(session.status().await.unwrap()[0].text, "🛡 no acme key");
    let report = session.report("status").await.unwrap();
    assert!(report.contains("acme/judge"), "{report}");
}

#[tokio::test]
async fn a_guest_that_never_returns_is_stopped_and_counts_as_trapped() {
    let call = Duration::from_millis(50);
    let sandbox = Arc::new(testing::spinning(Limits { call, ..Limits::default() }));
    let mut session = Session::new(Arc::clone(&sandbox));
    for _ in 0..3 {
        assert_eq!(session.status().await, Err(Failure::Timeout(call)));
    }
    assert_eq!(session.status().await, Err(Failure::Off(3)));
    assert_eq!(session.update(delta(0, "a", String::new())).await, Ok(()), "no guest is run");
    assert_eq!(session.recall(&request("a")).await, Err(Failure::Timeout(call)), "one is, for the moment");
}

#[tokio::test]
async fn asking_a_guest_that_never_returns_takes_no_longer_than_its_budget_and_the_grace() {
    let ask_grace = Duration::from_millis(20);
    let sandbox = testing::spinning(Limits { ask_grace, ..Limits::default() });
    let service = Service {
        api: "builtin".into(),
        base_url: String::new(),
        model: "lexical".into(),
        headers: vec![],
        input_price: 0.0,
    };
    let budget = Budget { timeout_ms: 30, concurrency: 1 };
    let broken = asking::ask(&sandbox, Hooks::closed(), &service, &[], budget).await.unwrap_err();
    assert!(matches!(broken, Broken::Late(limit) if limit == Duration::from_millis(50)), "{broken}");
}

#[test]
fn a_guest_that_imports_more_than_the_world_has_is_not_loaded() {
    let error = testing::greedy().err().unwrap();
    let text = format!("{error:#}");
    assert!(text.contains("wasi:random/random@0.2.12"), "{text}");
}

#[tokio::test]
async fn three_traps_in_the_window_are_off_until_enabled() {
    // Not even its first page of memory.
    let mut session = session(Limits { memory_bytes: 1, ..Limits::default() });
    for _ in 0..3 {
        assert!(matches!(session.status().await, Err(Failure::Trapped(_))));
    }
    assert_eq!(session.status().await, Err(Failure::Off(3)));
    session.enable();
    assert!(matches!(session.status().await, Err(Failure::Trapped(_))));
}

fn request(id: &str) -> RecallRequest {
    let entry_id = id.into();
    RecallRequest { entry_id, pattern: None, offset: None, limit: None, column: None, image: None }
}

/// A session whose guest trapped until it was given up.
async fn off() -> Session {
    let mut session = session(tight());
    for _ in 0..3 {
        session.update(delta(0, "a", "x".repeat(HUGE))).await.unwrap_err();
    }
    assert_eq!(session.status().await, Err(Failure::Off(3)));
    session
}

#[tokio::test]
async fn recall_works_while_the_guard_is_off() {
    let mut session = off().await;
    assert_eq!(session.update(output(1, "b", "late")).await, Err(Failure::OutOfSync));
    assert_eq!(session.update(output(0, "a", "the original")).await, Ok(()));
    assert_eq!(session.update(output(1, "b", "one more")).await, Ok(()));
    for (id, text) in [("a", "the original"), ("b", "one more"), ("a", "the original")] {
        assert_eq!(session.recall(&request(id)).await, Ok(vec![Recalled::Text(text.into())]));
    }
    assert_eq!(session.update(output(1, "c", "instead")).await, Ok(()));
    assert!(matches!(session.recall(&request("b")).await, Err(Failure::Invalid(_))), "it left the branch");
    assert_eq!(session.status().await, Err(Failure::Off(3)), "nothing else does");

    session.enable();
    assert_eq!(session.update(output(2, "d", "late")).await, Err(Failure::OutOfSync));
    assert_eq!(session.update(output(0, "a", "the original")).await, Ok(()));
    assert_eq!(session.recall(&request("a")).await, Ok(vec![Recalled::Text("the original".into())]));
}

#[tokio::test]
async fn a_recall_that_traps_while_the_guard_is_off_harms_nothing() {
    let mut session = off().await;
    session.update(output(0, "a", &"x".repeat(HUGE))).await.unwrap();
    assert!(matches!(session.recall(&request("a")).await, Err(Failure::Trapped(_))));
    session.update(output(0, "a", "small")).await.unwrap();
    assert_eq!(session.recall(&request("a")).await, Ok(vec![Recalled::Text("small".into())]));
}

#[test]
fn old_traps_do_not_count() {
    let limits = Limits::default();
    let (mut traps, start) = (Traps::default(), Instant::now());
    for seconds in [0, 1, 602, 603] {
        traps.add(start + Duration::from_secs(seconds), &limits);
        assert!(!traps.off, "{seconds}");
    }
    traps.add(start + Duration::from_secs(1200), &limits);
    assert!(traps.off);
}

#[tokio::test]
async fn a_delta_must_build_on_what_the_guest_holds() {
    let mut session = session(Limits::default());
    assert_eq!(session.update(delta(1, "a", String::new())).await, Err(Failure::OutOfSync));
}
