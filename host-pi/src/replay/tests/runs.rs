//! Where runs end.

use super::*;
use crate::replay::runs::{Ending, runs};

fn found(entries: impl IntoIterator<Item = Value>) -> Vec<(String, usize, Ending)> {
    runs(&branch(entries)).into_iter().map(|run| (run.question, run.end, run.ending)).collect()
}

fn reading() -> Value {
    calling("c1", "read", json!({"path": "a.rs"}))
}

#[test]
fn a_run_ends_with_its_last_reply_before_whatever_the_user_did_next() {
    let shell = message(json!({"role": "bashExecution", "command": "ls"}));
    let entries = [
        user("one"),
        reading(),
        result("c1", "read", "x"),
        assistant("done"),
        shell,
        user("two"),
        assistant("ok"),
    ];
    assert_eq!(found(entries), [("one".into(), 4, Ending::Completed), ("two".into(), 7, Ending::Completed)]);
}

#[test]
fn a_turn_ends_behind_the_last_result_of_its_calls() {
    let turns = |entries: Vec<Value>| runs(&branch(entries)).remove(0).turns;
    let mut two_calls = reading();
    let calls = two_calls["message"]["content"].as_array_mut().unwrap();
    calls.push(json!({"type": "toolCall", "id": "c2", "name": "read", "arguments": {}}));
    let usage = json!({"type": "usage"});
    let [one, two] = ["c1", "c2"].map(|call| result(call, "read", "x"));
    let entries = vec![
        user("one"),
        two_calls.clone(),
        one.clone(),
        usage,
        two,
        user("faster"),
        reading(),
        one.clone(),
        assistant("done"),
    ];
    assert_eq!(turns(entries), [5, 8], "of the last reply the run's end tells");
    assert!(turns(vec![user("one"), two_calls, one.clone(), user("stop"), assistant("ok")]).is_empty());
    let mut aborted = reading();
    aborted["message"]["stopReason"] = "aborted".into();
    assert!(turns(vec![user("one"), aborted, one, assistant("done")]).is_empty());
}

#[test]
fn a_steering_message_ends_no_run() {
    let entries = [
        user("one"),
        reading(),
        result("c1", "read", "x"),
        user("also docs"),
        user("and tests"),
        assistant("done"),
    ];
    assert_eq!(found(entries), [("one".into(), 6, Ending::Completed)]);
    assert_eq!(found([user("one"), reading(), user("faster"), assistant("ok")]).len(), 1);
}

#[test]
fn a_run_that_was_stopped_or_failed_has_no_pass() {
    for (last, ending) in
        [(stopped("aborted"), Ending::Aborted), (stopped("error"), Ending::Failed), (reading(), Ending::Open)]
    {
        assert_eq!(found([user("one"), last])[0].2, ending);
    }
    assert_eq!(found([user("one")]), [("one".into(), 1, Ending::Open)]);
    assert_eq!(found([user("one"), stopped("length")])[0].2, Ending::Completed);
}

#[test]
fn a_retry_after_an_error_completes_the_run() {
    assert_eq!(
        found([user("one"), stopped("error"), assistant("done")]),
        [("one".into(), 3, Ending::Completed)]
    );
}

#[test]
fn the_pass_comes_after_a_compaction_that_follows_the_last_reply_at_once() {
    let usage = json!({"type": "usage"});
    let entries = [user("one"), assistant("done"), usage, compaction("e1"), user("two"), assistant("ok")];
    assert_eq!(found(entries)[0].1, 4);
    let entries = [user("one"), assistant("done"), edit("e1", Value::Null), compaction("e1")];
    assert_eq!(found(entries)[0].1, 2, "something happened in between");
}

#[test]
fn without_a_prompt_there_is_no_run() {
    assert!(found([assistant("hi"), result("c1", "read", "x")]).is_empty());
    assert!(found([]).is_empty());
}

#[test]
fn a_run_is_named_by_the_words_of_its_prompt() {
    let image = json!({"type": "image", "data": "", "mimeType": ""});
    let text = |text| json!({"type": "text", "text": text});
    let prompt = message(json!({"role": "user", "content": [text(" fix\n\n it"), image, text("now")]}));
    assert_eq!(found([prompt])[0].0, "fix it now");
    assert_eq!(found([user(&"é".repeat(500))])[0].0.chars().count(), 200);
}
