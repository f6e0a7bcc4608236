//! Guests that use up what they are given: each call ends, the runner lives on, and three such calls switch the guard off.

use super::stage::{Stage, asking, lives_on, pass, session, text};
use context_guard_pi::engine::Failure;

/// A guest that breaks when a pass begins: the pass fails for that reason, and the next calls work.
async fn breaks_a_pass(stage: Stage, reason: &str) {
    let runner = stage.runner();
    let failure = pass(&runner).await.unwrap_err();
    assert!(failure.to_string().contains(reason), "{failure}");
    lives_on(&runner).await;
    pass(&runner).await.unwrap_err();
    lives_on(&runner).await;
    pass(&runner).await.unwrap_err();
    assert_eq!(runner.status().await, Err(Failure::Off(3)), "three times is enough");
}

pub(crate) async fn traps_in_update(stage: Stage) {
    let runner = stage.runner();
    let failure = runner.update(session()).await.unwrap_err();
    assert!(matches!(failure, Failure::Trapped(_)), "{failure}");
    lives_on(&runner).await;
}

pub(crate) async fn traps_in_begin(stage: Stage) {
    breaks_a_pass(stage, "unreachable").await;
}

pub(crate) async fn traps_in_finish(stage: Stage) {
    breaks_a_pass(stage, "unreachable").await;
}

pub(crate) async fn loops_for_ever(stage: Stage) {
    breaks_a_pass(stage.again().impatient(), "no answer in 0.3 s").await;
    let runner = stage.impatient().runner();
    let mut asking = asking("https://nowhere.invalid", "");
    asking.budget.timeout_ms = 1;
    assert_eq!(text(&runner.ask(&asking, std::future::pending()).await), "Failure::Timeout");
    lives_on(&runner).await;
}

pub(crate) async fn eats_memory(stage: Stage) {
    breaks_a_pass(stage, "memory").await;
}

pub(crate) async fn recurses(stage: Stage) {
    breaks_a_pass(stage, "out of bounds").await;
}

pub(crate) async fn returns_100_mib(stage: Stage) {
    let runner = stage.runner();
    // The text itself would be a long message of a failing test.
    let failure = runner.report("status").await.map(|text| text.len()).unwrap_err();
    assert!(matches!(failure, Failure::Trapped(_)), "{failure}");
    lives_on(&runner).await;
}
