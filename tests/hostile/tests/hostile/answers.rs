//! Guests whose answers would break the session: nothing of them is applied, and the user hears why.

use super::stage::{Stage, lives_on, model, pass};
use context_guard_pi::contract::sessions::{RequestBlock, RequestMessage, RequestShape};

/// Runs a pass, of which nothing may be left but one warning.
async fn warning(stage: Stage) -> String {
    let runner = stage.runner();
    let outcome = pass(&runner).await.unwrap().outcome.unwrap();
    assert_eq!((outcome.edits, outcome.guard_record), (vec![], None));
    assert_eq!(outcome.warnings.len(), 1);
    lives_on(&runner).await;
    outcome.warnings.into_iter().next().unwrap_or_default()
}

pub(crate) async fn edits_an_entry_that_is_not_there(stage: Stage) {
    insta::assert_snapshot!(warning(stage).await, @r#"nothing was changed, since the guard's answer was wrong: it edits "nowhere", which is not on the branch"#);
}

pub(crate) async fn edits_a_block_that_is_not_there(stage: Stage) {
    insta::assert_snapshot!(warning(stage).await, @r#"nothing was changed, since the guard's answer was wrong: it points to block 7 of "result", which has 1"#);
}

pub(crate) async fn writes_into_an_answer(stage: Stage) {
    insta::assert_snapshot!(warning(stage).await, @r#"nothing was changed, since the guard's answer was wrong: it puts text into "answer", an answer of the model"#);
}

pub(crate) async fn omits_half_a_call(stage: Stage) {
    insta::assert_snapshot!(warning(stage).await, @r#"nothing was changed, since the guard's answer was wrong: it leaves a tool call of "call" without its result"#);
}

pub(crate) async fn edits_without_end(stage: Stage) {
    insta::assert_snapshot!(warning(stage).await, @r#"nothing was changed, since the guard's answer was wrong: it makes 100000 edits, and 20000 are the most"#);
}

pub(crate) async fn sets_five_breakpoints(stage: Stage) {
    let block = RequestBlock { kind: "text".into(), has_text: true, tool_use_id: None, cache_control: None };
    let message = RequestMessage { role: "user".into(), blocks: vec![block] };
    let shape = RequestShape { tools: vec![], system: vec![], messages: vec![message], replay: false };
    let runner = stage.runner();
    assert_eq!(runner.request(&model(), &shape, 2).await, Ok(vec![]));
    lives_on(&runner).await;
}
