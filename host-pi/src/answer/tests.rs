use super::*;
use crate::contract::sessions::Delta;
use crate::contract::types::{
    Assistant, Block, Entry, EntryBody, Message, StopReason, ToolCall, ToolResult, View, Visible,
};
use proptest::prelude::*;

fn text() -> Block {
    Block::Text("text".into())
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall { id: id.into(), name: "read".into(), arguments: "{}".into() })
}

fn entry(id: &str, message: Message) -> Entry {
    Entry { id: id.into(), time: 0, body: EntryBody::Message(message) }
}

fn user(id: &str) -> Entry {
    entry(id, Message::User(vec![text()]))
}

fn assistant(id: &str, blocks: Vec<Block>) -> Entry {
    let answer = Assistant { blocks, stop_reason: StopReason::ToolUse, model: "a/b".into(), usage: None };
    entry(id, Message::Assistant(answer))
}

fn result(id: &str, call: &str) -> Entry {
    let result = ToolResult { call_id: call.into(), tool_name: None, is_error: false, blocks: vec![text()] };
    entry(id, Message::ToolResult(result))
}

/// A mirror of those entries, all in the context.
fn mirror(branch: Vec<Entry>) -> Mirror {
    let visible = |entry: &Entry| Visible { id: entry.id.clone(), view: View::AsRecorded };
    let context = branch.iter().map(visible).collect();
    let mut mirror = Mirror::default();
    mirror.update(&Delta { keep_branch: 0, branch, keep_context: 0, context });
    mirror
}

/// Prompt, an answer with two calls, their results, a closing answer, a shell command of the user.
fn run() -> Mirror {
    mirror(vec![
        user("prompt"),
        assistant("answer", vec![text(), call("1"), call("2")]),
        result("first", "1"),
        result("second", "2"),
        assistant("end", vec![text()]),
        entry("shell", Message::Fixed(10)),
    ])
}

fn omit(target: &str) -> Edit {
    Edit { target: target.into(), replacement: None }
}

fn replace(target: &str, parts: Vec<Part>) -> Edit {
    Edit { target: target.into(), replacement: Some(parts) }
}

fn stub() -> Part {
    Part::Text("[cut]".into())
}

fn fault(edits: Vec<Edit>) -> String {
    check(&run(), &edits).unwrap_err().to_string()
}

#[test]
fn an_answer_in_order_passes() {
    let mirror = run();
    for edits in [
        vec![],
        vec![replace("first", vec![stub(), Part::Recorded(0)])],
        vec![replace("prompt", vec![stub()]), omit("end")],
        vec![omit("answer"), omit("first"), omit("second")],
        // One call goes with its result, the other stays with its own.
        vec![replace("answer", vec![Part::Recorded(0), Part::Recorded(2)]), omit("first")],
    ] {
        assert_eq!(check(&mirror, &edits), Ok(()), "{edits:?}");
    }
}

#[test]
fn every_fault_is_named() {
    let faults = [
        vec![omit("elsewhere")],
        vec![omit("shell")],
        vec![replace("first", vec![Part::Recorded(1)])],
        vec![replace("end", vec![stub()])],
        vec![replace("first", vec![])],
        vec![replace("answer", vec![Part::Recorded(1), Part::Recorded(1), Part::Recorded(2)])],
        vec![omit("first")],
        vec![omit("answer"), omit("first")],
        vec![replace("answer", vec![Part::Recorded(0), Part::Recorded(2)])],
    ];
    insta::assert_snapshot!(faults.map(fault).join("\n"), @r#"
    it edits "elsewhere", which is not on the branch
    it edits "shell", which no edit can reach
    it points to block 1 of "first", which has 1
    it puts text into "end", an answer of the model
    it replaces "first" by nothing
    it repeats a tool call of "answer"
    it leaves a tool call of "answer" without its result
    it leaves the tool result "second" without its call
    it leaves the tool result "first" without its call
    "#);
}

#[test]
fn a_wrong_answer_changes_nothing_and_warns_once() {
    let outcome = Outcome {
        edits: vec![replace("prompt", vec![stub()]), omit("first")],
        guard_record: Some("{}".into()),
        warnings: vec!["another".into()],
    };
    let outcome = checked(&run(), outcome, 100);
    assert_eq!((outcome.edits, outcome.guard_record), (vec![], None));
    insta::assert_snapshot!(outcome.warnings.join("\n"), @r#"nothing was changed, since the guard's answer was wrong: it leaves a tool call of "answer" without its result"#);
}

#[test]
fn what_is_unpaired_already_is_left_alone() {
    let mut mirror = run();
    // The first result is gone from the context already, by somebody else's edit.
    let visible = |id: &str, view| Visible { id: id.into(), view };
    let context = vec![
        visible("prompt", View::AsRecorded),
        visible("answer", View::AsRecorded),
        visible("first", View::Omitted),
        visible("second", View::AsRecorded),
    ];
    mirror.update(&Delta { keep_branch: 6, branch: vec![], keep_context: 0, context });
    assert_eq!(check(&mirror, &[omit("answer"), omit("second")]), Ok(()));
    assert_eq!(check(&mirror, &[omit("second")]), Err(Fault::CallAlone("answer".into())));
}

/// An omitted exchange can come back only whole.
#[test]
fn an_edit_that_lifts_an_omission_keeps_pairs_too() {
    let mut mirror = run();
    let omitted = |id: &str| Visible { id: id.into(), view: View::Omitted };
    let context = ["answer", "first", "second"].map(omitted).to_vec();
    mirror.update(&Delta { keep_branch: 6, branch: vec![], keep_context: 1, context });
    let whole = |id: &str, blocks: u32| replace(id, (0..blocks).map(Part::Recorded).collect());
    assert_eq!(check(&mirror, &[whole("answer", 3), whole("first", 1), whole("second", 1)]), Ok(()));
    assert_eq!(check(&mirror, &[whole("answer", 3)]), Err(Fault::CallAlone("answer".into())));
    assert_eq!(check(&mirror, &[whole("first", 1)]), Err(Fault::ResultAlone("first".into())));
}

/// Some providers call every first call of an answer the same.
#[test]
fn call_ids_may_repeat_between_answers() {
    let mirror = mirror(vec![
        assistant("a", vec![call("0")]),
        result("ra", "0"),
        assistant("b", vec![call("0")]),
        result("rb", "0"),
    ]);
    assert_eq!(check(&mirror, &[omit("a"), omit("ra")]), Ok(()));
    assert_eq!(check(&mirror, &[omit("a"), omit("rb")]), Err(Fault::ResultAlone("ra".into())));
}

#[test]
fn entries_that_left_the_branch_are_forgotten() {
    let mut mirror = run();
    mirror.update(&Delta { keep_branch: 1, branch: vec![user("other")], keep_context: 1, context: vec![] });
    assert_eq!(check(&mirror, &[omit("end")]), Err(Fault::NotOnBranch("end".into())));
    assert_eq!(check(&mirror, &[omit("other")]), Ok(()));
}

#[test]
fn a_delta_must_build_on_what_is_there() {
    let delta =
        |keep_branch, keep_context| Delta { keep_branch, branch: vec![], keep_context, context: vec![] };
    assert!(run().fits(&delta(6, 6)));
    assert!(!run().fits(&delta(7, 6)));
    assert!(!run().fits(&delta(6, 7)));
}

proptest! {
    /// Whatever is omitted, what passes leaves each call with its result.
    #[test]
    fn no_set_of_omissions_that_passes_breaks_a_pair(omitted in proptest::collection::vec(any::<bool>(), 9)) {
        let mut branch = Vec::new();
        for number in 0..3 {
            branch.push(assistant(&format!("a{number}"), vec![call(&number.to_string())]));
            branch.push(result(&format!("r{number}"), &number.to_string()));
            branch.push(user(&format!("u{number}")));
        }
        let edits: Vec<Edit> =
            branch.iter().zip(&omitted).filter(|(_, omitted)| **omitted).map(|(entry, _)| omit(&entry.id)).collect();
        let whole = omitted.chunks(3).all(|turn| turn[0] == turn[1]);
        prop_assert_eq!(check(&mirror(branch), &edits).is_ok(), whole);
    }
}
