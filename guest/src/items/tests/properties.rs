//! What holds for any session and any answers.

use proptest::prelude::*;

use super::*;
use crate::contract::sessions::Edit;
use crate::contract::types::{Block, StopReason};
use crate::session::{Kind, Projection, prompts_of, text_of};

#[derive(Clone, Debug)]
enum Step {
    Prompt(usize),
    /// Calls and, unless aborted, their results.
    Calls {
        count: usize,
        result: usize,
        aborted: bool,
        image: bool,
        steering: bool,
    },
    /// A result somewhere out of order.
    Stray(usize),
    Answer(usize),
    Notice,
    Shell,
    Compact(prop::sample::Index),
    Foreign(prop::sample::Index, bool),
    Pass {
        small: f64,
        exchange: Vec<f64>,
        heard: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let calls = (1usize..4, prop_oneof![Just(10usize), Just(700)], 0usize..8, any::<bool>(), 0usize..6);
    prop_oneof![
        4 => (0usize..300).prop_map(Step::Prompt),
        6 => calls.prop_map(|(count, result, abort, image, steer)| Step::Calls {
            count,
            result,
            aborted: abort == 0,
            image,
            steering: steer == 0,
        }),
        1 => (0usize..40).prop_map(Step::Stray),
        4 => (0usize..1_500).prop_map(Step::Answer),
        1 => Just(Step::Notice),
        1 => Just(Step::Shell),
        1 => any::<prop::sample::Index>().prop_map(Step::Compact),
        1 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, omit)| Step::Foreign(at, omit)),
        3 => (0.0..1.0f64, prop::collection::vec(0.0..0.4f64, 1..9), prop::bool::weighted(0.9))
            .prop_map(|(small, exchange, heard)| Step::Pass { small, exchange, heard }),
    ]
}

/// A session that grows. Ids are places, as the fixtures give them.
#[derive(Default)]
struct Growing {
    items: Vec<Item>,
    next_call: usize,
    /// Call ids start again with every prompt, as some providers have it.
    restart: bool,
}

impl Growing {
    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Prompt(length) => {
                if self.restart {
                    self.next_call = 0;
                }
                self.items.push(u(&"p".repeat(length + 1)));
            }
            Step::Calls { count, result, aborted, image, steering } => {
                let ids: Vec<String> = (0..count).map(|at| format!("c{}", self.next_call + at)).collect();
                self.next_call += count;
                let reply = ids.iter().fold(a("Going on."), |reply, id| reply.call(id, "bash", "{}"));
                self.items.push(if aborted { reply.stop(StopReason::Aborted) } else { reply });
                for id in ids.iter().filter(|_| !aborted) {
                    let result = r(id, &"r".repeat(result));
                    self.items.push(if image { result.block(png(900, 900)) } else { result });
                }
                self.items.extend(steering.then(|| u("also docs")));
            }
            Step::Stray(call) => self.items.push(r(&format!("c{call}"), &"s".repeat(600))),
            Step::Answer(length) => self.items.push(a(&"a".repeat(length + 1))),
            Step::Notice => self.items.push(n("notice")),
            Step::Shell => self.items.push(fixed(90)),
            Step::Compact(to) => {
                let to = to.index(self.items.len() + 1);
                for item in &mut self.items[..to] {
                    *item = item.clone().compacted();
                }
                self.items.push(compaction("so far"));
            }
            Step::Foreign(at, omit) => self.edit_as_somebody_else(at, omit),
            Step::Pass { small, exchange, heard } => self.pass(small, &exchange, heard)?,
        }
        Ok(())
    }

    fn edit_as_somebody_else(&mut self, at: prop::sample::Index, omit: bool) {
        let mirror = session(self.items.clone());
        let projection = mirror.projection();
        // Only what keeps the context valid by itself: an answer without calls, or the text of a result.
        let free: Vec<_> = projection
            .iter()
            .filter(|item| match item.shown().map(|shown| shown.kind) {
                Some(Kind::Assistant(reply)) => omit && reply.stop_reason == StopReason::Stop,
                Some(Kind::ToolResult(_)) => !omit,
                _ => false,
            })
            .map(|item| item.id().to_owned())
            .collect();
        if let Some(id) = free.get(at.index(free.len().max(1))) {
            let place = place(id);
            let item = self.items[place].clone();
            self.items[place] = if omit { item.omitted() } else { item.replaced("rewritten") };
            self.items.push(edit(id));
        }
    }

    /// Runs a pass and appends what it did.
    fn pass(&mut self, small: f64, exchange: &[f64], heard: bool) -> Result<(), TestCaseError> {
        let mirror = session(self.items.clone());
        let projection = mirror.projection();
        let Some(run) = Run::of(projection) else { return Ok(()) };
        let settings =
            Settings { keep_recent_exchanges: 1, small_result_min_chars: 300, ..Settings::default() };
        let masks = Masks::default();
        let calls = Calls::of(&run, "/project", &settings, &masks);
        let outputs = Plan::new(small_outputs(outputs(&run, &settings), &calls, &settings), &settings);
        let exchanges = Plan::new(old_exchanges(projection, run.start, &settings), &settings);
        let reply = |answers: Reply| if heard { answers } else { Reply::Failed(Failure::Timeout) };
        let answers: Map<String, Value> = exchange
            .iter()
            .cycle()
            .take(60)
            .zip(1..)
            .map(|(p, at)| (format!("exchange_{at}"), json!({ "type": "bool", "probability": p })))
            .collect();

        let mut judged = outputs.judge(&vec![reply(all(small)); outputs.questions()], &settings);
        let replies = vec![reply(Reply::Answers(answers)); exchanges.questions()];
        judged.extend(exchanges.judge(&replies, &settings));
        if !heard {
            prop_assert!(judged.iter().all(|judgement| judgement.edits.is_empty()));
        }
        judged.extend(unless_edited(&old_images(projection, &settings), &judged));

        let edits: Vec<&Edit> = judged.iter().flat_map(|judgement| &judgement.edits).collect();
        let mut targets: Vec<&str> = edits.iter().map(|edit| edit.target.as_str()).collect();
        targets.sort_unstable();
        targets.dedup();
        prop_assert_eq!(targets.len(), edits.len(), "one edit per target");
        let size = crate::session::context_size(projection);
        let saved: u64 = judged.iter().map(Judgement::saved_chars).sum();

        let before = Pairs::of(projection);
        let starts = ids(projection, prompts_of(projection));
        let mut after = self.items.clone();
        for edit in &edits {
            let item = after[place(&edit.target)].clone();
            let recorded = mirror.projection().get(mirror.index(&edit.target).unwrap()).unwrap();
            after[place(&edit.target)] = match &edit.replacement {
                None => item.omitted(),
                Some(parts) => item.replaced_by(parts.iter().map(|part| match part {
                    Part::Text(text) => Block::Text(text.clone()),
                    Part::Recorded(at) => recorded.recorded().unwrap().blocks[*at as usize].clone(),
                })),
            };
            after.push(super::edit(&edit.target));
        }
        let results: Vec<_> = judged.iter().map(|judgement| judgement.result.clone()).collect();
        let written = crate::session::Record { results, ..crate::session::Record::default() };
        after.push(record(&written.to_json()));

        let committed = session(after.clone());
        let projection = committed.projection();
        before.are_kept_or_gone_together(projection)?;
        prop_assert_eq!(ids(projection, prompts_of(projection)), starts, "the same exchanges");
        prop_assert_eq!(crate::session::context_size(projection) as u64, size as u64 - saved);
        for edit in &edits {
            let item = projection.get(committed.index(&edit.target).unwrap()).unwrap();
            prop_assert!(item.ours(), "{} must count as ours", item.id());
        }
        let run = Run::of(projection).unwrap();
        let again: Vec<_> =
            old_exchanges(projection, run.start, &settings).iter().map(|old| old.prompt_id).collect();
        prop_assert!(again.iter().all(|id| !targets.contains(id)), "judged again: {:?}", again);
        prop_assert!(old_images(projection, &settings).iter().all(|old| !targets.contains(&old.entry)));
        self.items = after;
        Ok(())
    }
}

fn place(id: &str) -> usize {
    id[1..].parse().unwrap()
}

fn ids(projection: Projection<'_>, indices: Vec<usize>) -> Vec<String> {
    indices.into_iter().filter_map(|at| projection.get(at)).map(|item| item.id().to_owned()).collect()
}

/// The ids of the entries with a call, and of those with its result.
#[derive(Debug, PartialEq)]
struct Pairs(Vec<(Option<String>, String)>);

impl Pairs {
    fn of(projection: Projection<'_>) -> Pairs {
        let mut pairs = vec![];
        let items: Vec<_> = projection.iter().filter_map(|item| Some((item.id(), item.shown()?))).collect();
        for (at, (id, shown)) in items.iter().enumerate() {
            let Some(result) = shown.tool_result() else { continue };
            let call = items[..at].iter().rev().find(|(_, shown)| {
                shown.assistant().is_some()
                    && shown
                        .blocks
                        .iter()
                        .any(|block| matches!(block, Block::ToolCall(call) if call.id == result.call_id))
            });
            pairs.push((call.map(|(id, _)| (*id).to_owned()), (*id).to_owned()));
        }
        Pairs(pairs)
    }

    /// Checks that the context has lost only whole pairs, and that no result answers another call than before.
    fn are_kept_or_gone_together(&self, projection: Projection<'_>) -> Result<(), TestCaseError> {
        let shown: Vec<&str> =
            projection.iter().filter(|item| item.shown().is_some()).map(|item| item.id()).collect();
        for (call, result) in &self.0 {
            let call_shown = call.as_ref().map(|call| shown.contains(&call.as_str()));
            let result_shown = shown.contains(&result.as_str());
            prop_assert!(call_shown.unwrap_or(true) == result_shown, "{:?} and {}", call, result);
        }
        let left = self.0.iter().filter(|(_, result)| shown.contains(&result.as_str())).cloned().collect();
        prop_assert_eq!(Pairs::of(projection), Pairs(left));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn after_any_passes_every_call_still_has_its_one_result(
        steps in prop::collection::vec(step(), 1..50),
        restart: bool,
    ) {
        let mut growing = Growing { restart, ..Growing::default() };
        for step in steps {
            growing.take(step)?;
        }
    }

    #[test]
    fn a_failing_output_that_shrinks_keeps_its_last_five_lines(
        lines in prop::collection::vec(prop_oneof![
            Just(String::new()), "[a-z ]{0,90}", Just("error: it broke".to_owned()), Just("😀\r".to_owned()),
        ], 1..40),
    ) {
        let output = lines.join("\n");
        let mirror = session([u("p"), a("").call("c1", "bash", "{}"), r("c1", &output).failed(), a("Done.")]);
        let settings = Settings::default();
        let run = Run::of(mirror.projection()).unwrap();
        let masks = Masks::default();
        let calls = Calls::of(&run, "", &settings, &masks);
        let plan = Plan::new(small_outputs(outputs(&run, &settings), &calls, &settings), &settings);
        for judgement in plan.judge(&[all(0.0)], &settings) {
            let shown: Vec<&str> = text(&judgement).split('\n').collect();
            let spoken = lines.iter().rev().filter(|line| !line.trim().is_empty());
            prop_assert!(spoken.take(5).all(|line| shown.contains(&line.as_str())));
            prop_assert!(shown[1..].iter().all(|line| lines.iter().any(|own| own == line)));
            prop_assert!(judgement.result.after_chars < judgement.result.before_chars);
            prop_assert!(text_of(&[Block::Text(text(&judgement).into())]).starts_with("[context-guard]"));
        }
    }
}
