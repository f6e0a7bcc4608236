//! The run that has just ended or is under way: where it starts, what was asked, called and answered.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use super::message::{Kind, Shown};
use super::projection::{Projected, Projection, recorded};
use crate::contract::types::{Block, Entry, EntryBody, Message, StopReason, ToolCall, ToolResult};

/// Stands for a user message without text.
pub(super) const IMAGE_ONLY: &str = "[the user sent only an image]";

/// A tool call of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The id that its result refers to.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// A JSON object as text.
    pub arguments: &'a str,
    /// The turn that made it; the run's first is 0.
    pub turn: u32,
}

/// The newest prompt and everything since.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Entries after the prompt, oldest first.
    pub span: Vec<Projected<'a>>,
    /// Position of the prompt in the projection.
    pub start: usize,
    /// The prompt and what the user added during the run.
    pub question: String,
    /// The last thing that the model said, trimmed; empty if it said nothing.
    pub answer: String,
    /// What the model said before its answer.
    pub notes: String,
    /// Number of turns, which is the number of replies.
    pub turns: u32,
    /// Tool calls in call order, an id once.
    pub calls: Vec<Call<'a>>,
    /// The context that the run is a part of.
    pub projection: Projection<'a>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Run<'a> {
    /// Finds the newest run; none where the context has no user message.
    pub fn of(projection: Projection<'a>) -> Option<Run<'a>> {
        let start = start(projection.iter().map(|item| item.shown()))?;
        let prompt = projection.get(start)?.shown()?;
        let mut run = Run {
            span: projection.after(start).iter().collect(),
            start,
            question: untitled(&prompt.text()).to_owned(),
            answer: String::new(),
            notes: String::new(),
            turns: 0,
            calls: vec![],
            projection,
            places: HashMap::new(),
        };
        run.read();
        Some(run)
    }

    /// Reads the messages of the span.
    fn read(&mut self) {
        let mut said = vec![];
        for shown in self.span.iter().filter_map(Projected::shown) {
            match shown.kind {
                Kind::User => {
                    self.question.push_str("\n\n[The user added during the run] ");
                    self.question.push_str(untitled(shown.text().trim()));
                }
                Kind::Assistant(_) => {
                    let text = shown.text();
                    if !text.trim().is_empty() {
                        said.push(text.trim().to_owned());
                    }
                    add_calls(&mut self.calls, &mut self.places, &shown, self.turns);
                    self.turns = self.turns.saturating_add(1);
                }
                Kind::ToolResult(_) | Kind::Note(_) | Kind::Summary(_) | Kind::Fixed(_) => {}
            }
        }
        self.answer = said.pop().unwrap_or_default();
        self.notes = said.join("\n\n");
    }

    /// Returns the call that a result answers, if it is part of the run.
    pub fn call(&self, id: &str) -> Option<&Call<'a>> {
        self.places.get(id).and_then(|&at| self.calls.get(at))
    }

    /// Returns the newest turn; 0 before the first reply.
    pub fn current_turn(&self) -> u32 {
        self.turns.saturating_sub(1)
    }
}

/// Adds the calls of one reply. A call id that comes again keeps its place and takes the newest values.
fn add_calls<'a>(
    calls: &mut Vec<Call<'a>>,
    places: &mut HashMap<&'a str, usize>,
    reply: &Shown<'a>,
    turn: u32,
) {
    for block in reply.blocks {
        let Block::ToolCall(call) = block else { continue };
        let call = Call { id: &call.id, name: &call.name, arguments: &call.arguments, turn };
        match places.entry(call.id) {
            Slot::Occupied(place) => calls[*place.get()] = call,
            Slot::Vacant(place) => {
                place.insert(calls.len());
                calls.push(call);
            }
        }
    }
}

/// Returns the text of a user message, or what stands for one that has none.
pub(crate) fn untitled(text: &str) -> &str {
    if text.trim().is_empty() { IMAGE_ONLY } else { text }
}

/// Returns the call that a result answers: the newest of that id among the entries before it.
pub fn call_of<'a>(before: &'a [Entry], result: &ToolResult) -> Option<&'a ToolCall> {
    before.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Message(Message::Assistant(reply)) => reply.blocks.iter().find_map(|block| match block {
            Block::ToolCall(call) if call.id == result.call_id => Some(call),
            _ => None,
        }),
        _ => None,
    })
}

/// Returns where the newest run starts on the branch: the position of its prompt.
///
/// Records and memos refer to the branch, where edits and compactions hide nothing.
pub fn start_on_branch(branch: &[Entry]) -> Option<usize> {
    start(branch.iter().map(conversation))
}

/// Returns the positions on the branch of all prompts that open an exchange, oldest first.
pub fn prompts_on_branch(branch: &[Entry]) -> Vec<usize> {
    prompts(branch.iter().map(conversation))
}

/// Returns the indices of all entries whose user message opens an exchange, oldest first.
pub fn prompts_of(projection: Projection<'_>) -> Vec<usize> {
    prompts(projection.iter().map(|item| item.shown()))
}

/// On the branch only messages count; summaries and what extensions added are passed over.
fn conversation(entry: &Entry) -> Option<Shown<'_>> {
    match &entry.body {
        EntryBody::Message(Message::Note(_)) => None,
        EntryBody::Message(_) => recorded(entry),
        _ => None,
    }
}

/// Returns whether the message leaves work under way, so that what the user says next steers it; none for a
/// message that decides nothing.
///
/// Notices, summaries, the system prompt and the user's own commands come between at any time. A user message
/// decides nothing either: several that were queued all continue what the first one found.
fn under_way(shown: &Shown<'_>) -> Option<bool> {
    match shown.kind {
        Kind::ToolResult(_) => Some(true),
        Kind::Assistant(reply) => {
            let calls = shown.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
            Some(calls && !matches!(reply.stop_reason, StopReason::Aborted | StopReason::Error))
        }
        Kind::User | Kind::Note(_) | Kind::Summary(_) | Kind::Fixed(_) => None,
    }
}

/// Returns the index of the last user message that steers nothing; where all steer, of the first one.
fn start<'a>(
    messages: impl DoubleEndedIterator<Item = Option<Shown<'a>>> + ExactSizeIterator,
) -> Option<usize> {
    let mut first = None;
    // The user message that the next deciding message decides about.
    let mut open = None;
    for (index, shown) in messages.enumerate().rev() {
        let Some(shown) = shown else { continue };
        if shown.is_user() {
            first = Some(index);
            open = open.or(first);
        } else if open.is_some() {
            match under_way(&shown) {
                Some(false) => return open,
                Some(true) => open = None,
                None => {}
            }
        }
    }
    open.or(first)
}

/// Returns the indices of the user messages that steer nothing.
fn prompts<'a>(messages: impl Iterator<Item = Option<Shown<'a>>>) -> Vec<usize> {
    let mut steered = false;
    let mut found = vec![];
    for (index, shown) in messages.enumerate() {
        let Some(shown) = shown else { continue };
        if shown.is_user() && !steered {
            found.push(index);
        }
        steered = under_way(&shown).unwrap_or(steered);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Mirror;
    use crate::session::fixtures::*;

    fn run(mirror: &Mirror) -> Run<'_> {
        Run::of(mirror.projection()).unwrap()
    }

    fn reading() -> Item {
        a("Reading.").call("c1", "read", r#"{"path":"a.rs"}"#)
    }

    #[test]
    fn r1_without_a_user_message_there_is_no_run() {
        assert!(Run::of(session([reading(), r("c1", "x")]).projection()).is_none());
        assert!(Run::of(session([u("p").omitted()]).projection()).is_none());
    }

    #[test]
    fn r2_question_answer_notes_and_turns() {
        let mirror = session([u("Port the parser"), reading(), r("c1", "x"), a("Done.")]);
        let run = run(&mirror);
        assert_eq!(
            (run.question.as_str(), run.answer.as_str(), run.notes.as_str(), run.turns, run.current_turn()),
            ("Port the parser", "Done.", "Reading.", 2, 1)
        );
        assert_eq!(run.calls, [Call { id: "c1", name: "read", arguments: r#"{"path":"a.rs"}"#, turn: 0 }]);
    }

    #[test]
    fn r3_a_steering_message_continues_the_run() {
        let mirror =
            session([u("Port the parser"), reading(), r("c1", "x"), u("keep the old API"), a("Ok.")]);
        let run = run(&mirror);
        assert_eq!(run.question, "Port the parser\n\n[The user added during the run] keep the old API");
        assert_eq!(run.start, 0);
        assert!(run.span.iter().any(|item| item.id() == "e2"));
    }

    #[test]
    fn r4_notices_are_skipped() {
        let mirror = session([u("p"), reading(), r("c1", "x"), n("worker finished"), u("also docs")]);
        assert_eq!(run(&mirror).start, 0);
    }

    #[test]
    fn r5_a_call_without_its_result_is_work_under_way() {
        assert_eq!(run(&session([u("p"), reading(), u("faster")])).start, 0);
    }

    #[test]
    fn r6_after_an_aborted_or_failed_reply_a_new_run_starts() {
        for reason in [StopReason::Aborted, StopReason::Error] {
            let mirror = session([u("p"), reading().stop(reason), u("do something else")]);
            let run = run(&mirror);
            assert_eq!((run.start, run.question.as_str()), (2, "do something else"));
        }
    }

    #[test]
    fn r7_after_an_interrupted_result_it_is_steering() {
        assert_eq!(
            run(&session([u("p"), reading(), r("c1", "interrupted"), u("do something else")])).start,
            0
        );
    }

    #[test]
    fn r8_an_image_only_prompt_is_a_run_start_of_its_own() {
        let mirror = session([u("text"), a("Ok."), u("").block(png(10, 10)), a("Nice.")]);
        let run = run(&mirror);
        assert_eq!((run.start, run.question.as_str()), (2, "[the user sent only an image]"));
    }

    #[test]
    fn r9_an_image_only_steering_message() {
        let mirror = session([u("p"), reading(), r("c1", "x"), u(" ").block(png(10, 10))]);
        assert_eq!(
            run(&mirror).question,
            "p\n\n[The user added during the run] [the user sent only an image]"
        );
    }

    #[test]
    fn r10_the_prompt_keeps_its_spaces_and_a_steering_message_does_not() {
        let mirror = session([u("  fix it\n"), reading(), r("c1", "x"), u("  fix it\n")]);
        assert_eq!(run(&mirror).question, "  fix it\n\n\n[The user added during the run] fix it");
    }

    #[test]
    fn r11_b1_several_queued_messages_all_steer() {
        let mirror = session([u("p"), reading(), r("c1", "x"), u("s1"), n("notice"), u("s2")]);
        let run = run(&mirror);
        assert_eq!(run.start, 0);
        assert_eq!(run.question.matches("[The user added during the run]").count(), 2);
    }

    #[test]
    fn b1_of_several_prompts_after_an_answer_the_last_one_counts() {
        assert_eq!(run(&session([u("p"), a("Done."), u("q1"), u("q2")])).start, 3);
    }

    #[test]
    fn r12_b2_system_messages_commands_and_summaries_are_skipped() {
        for between in [fixed(0), fixed(300), branch_summary("elsewhere"), n("notice"), a("hidden").omitted()]
        {
            assert_eq!(run(&session([u("p"), reading(), r("c1", "x"), between, u("also docs")])).start, 0);
        }
    }

    #[test]
    fn r13_when_the_prompt_was_compacted_away_the_run_starts_at_the_first_message_left() {
        let mirror =
            session([u("p").compacted(), reading(), r("c1", "x"), u("go on"), compaction("so far"), a("ok")]);
        assert_eq!(mirror.projection().get(run(&mirror).start).unwrap().id(), "e3");
        let two = session([reading(), r("c1", "x"), u("go on"), a("").call("c2", "bash", "{}"), u("faster")]);
        assert_eq!(run(&two).start, 2);
    }

    #[test]
    fn r14_a_last_reply_without_text_leaves_the_answer_to_an_earlier_one() {
        let mirror =
            session([u("p"), a(" Looking. ").call("c1", "bash", "{}"), a(" ").call("c2", "bash", "{}")]);
        let run = run(&mirror);
        assert_eq!((run.answer.as_str(), run.notes.as_str(), run.turns), ("Looking.", "", 2));
    }

    #[test]
    fn r15_string_content_is_one_text_block() {
        let mirror = session([u("p"), a("hi")]);
        assert_eq!((run(&mirror).answer.as_str(), run(&mirror).turns), ("hi", 1));
    }

    #[test]
    fn r16_results_find_their_own_call_in_any_order() {
        let mirror = session([
            u("p"),
            a("").call("c1", "read", r#"{"path":"1"}"#).call("c2", "read", r#"{"path":"2"}"#),
            r("c2", "x"),
            r("c1", "y"),
        ]);
        let run = run(&mirror);
        let paths: Vec<_> = run
            .span
            .iter()
            .filter_map(|item| item.shown()?.tool_result())
            .map(|result| run.call(&result.call_id).unwrap().arguments)
            .collect();
        assert_eq!(paths, [r#"{"path":"2"}"#, r#"{"path":"1"}"#]);
        assert!(run.call("c3").is_none());
    }

    #[test]
    fn a_repeated_call_id_keeps_its_place_and_takes_the_newest_values() {
        let mirror = session([
            u("p"),
            a("").call("c1", "read", "{}").call("c2", "bash", "{}"),
            a("").call("c1", "grep", r#"{"pattern":"x"}"#),
        ]);
        let run = run(&mirror);
        let order: Vec<_> = run.calls.iter().map(|call| (call.id, call.name, call.turn)).collect();
        assert_eq!(order, [("c1", "grep", 1), ("c2", "bash", 0)]);
    }

    #[test]
    fn on_the_branch_a_run_starts_at_its_prompt_even_if_that_was_compacted_away() {
        let mirror = session([
            u("old").compacted(),
            a("Done.").compacted(),
            u("p").compacted(),
            reading(),
            r("c1", "x"),
            compaction("so far"),
            other(),
            n("notice"),
            u("go on"),
            edit("e4"),
        ]);
        assert_eq!(start_on_branch(mirror.branch()), Some(2));
        assert_eq!(prompts_on_branch(mirror.branch()), [0, 2]);
    }

    #[test]
    fn steering_messages_open_no_exchange_and_omitted_prompts_do() {
        let mirror = session([
            u("1").replaced("[context-guard] Omitted an earlier exchange."),
            a("Done.").omitted(),
            u("2"),
            reading(),
            r("c1", "x"),
            u("steer"),
            u("and more"),
            a("Done."),
            u("3"),
        ]);
        assert_eq!(prompts_of(mirror.projection()), [0, 2, 8]);
        assert_eq!(prompts_of(mirror.projection().before(8)), [0, 2]);
    }

    #[test]
    fn the_newest_run_starts_at_the_last_prompt_wherever_there_is_one() {
        use proptest::prelude::*;

        let kind = prop_oneof![
            Just(u("u")),
            Just(a("a")),
            Just(reading()),
            Just(reading().stop(StopReason::Aborted)),
            Just(r("c1", "r")),
            Just(n("n")),
            Just(fixed(0)),
            Just(u("gone").omitted()),
        ];
        proptest!(|(items in proptest::collection::vec(kind, 0..20))| {
            let mirror = session(items);
            let projection = mirror.projection();
            let found = Run::of(projection).map(|run| run.start);
            match prompts_of(projection).last() {
                Some(&last) => prop_assert_eq!(found, Some(last)),
                None => prop_assert_eq!(found, projection.iter().position(|item| {
                    item.shown().is_some_and(|shown| shown.is_user())
                })),
            }
        });
    }
}
