//! The embedded guest under limits that are too tight for it.

use super::*;
use crate::contract::types::{Block, Entry, EntryBody, Message, ToolResult, View, Visible};

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
