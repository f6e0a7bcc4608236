//! The embedded guest under limits that are too tight for it.

use super::*;
use crate::contract::types::{Block, Entry, EntryBody, Message, View, Visible};

fn session(limits: Limits) -> Session {
    Session::new(Arc::new(Sandbox::new(limits).unwrap()))
}

fn delta(keep: u32, id: &str, text: String) -> Delta {
    let body = EntryBody::Message(Message::User(vec![Block::Text(text)]));
    let visible = Visible { id: id.into(), view: View::AsRecorded };
    let branch = vec![Entry { id: id.into(), time: 0, body }];
    Delta { keep_branch: keep, branch, keep_context: keep, context: vec![visible] }
}

#[tokio::test]
async fn a_guest_without_memory_traps_and_a_new_one_takes_the_session_whole() {
    let mut session = session(Limits { memory_bytes: 24 << 20, ..Limits::default() });
    session.update(delta(0, "a", "small".into())).await.unwrap();
    let failure = session.update(delta(1, "b", "x".repeat(32 << 20))).await.unwrap_err();
    assert!(matches!(&failure, Failure::Trapped(reason) if reason.contains("memory")), "{failure:?}");
    assert_eq!(session.update(delta(1, "b", "small".into())).await, Err(Failure::OutOfSync));
    assert_eq!(session.update(delta(0, "a", "small".into())).await, Ok(()));
    assert_eq!(session.update(delta(1, "b", "small".into())).await, Ok(()));
}

#[tokio::test]
async fn a_call_has_a_time_limit() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let limit = Duration::from_millis(1);
    let answer: Result<(), _> = sandbox.within(limit, std::future::pending()).await;
    let failure = session(Limits::default()).broke(answer.unwrap_err());
    assert_eq!(failure, Failure::Timeout(limit));
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
