//! What holds over any sequence of passes, in any session and for any answers.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::contract::sessions::{Edit, Recalled};
use crate::contract::types::StopReason;
use crate::session::{Kind, Projection, context_size, text_of};

#[derive(Clone, Debug)]
enum Step {
    Prompt(usize),
    /// Calls and, unless aborted, their results.
    Calls {
        count: usize,
        lines: usize,
        failed: bool,
        aborted: bool,
        image: bool,
        steering: bool,
        /// Length of the signature of the thinking before them.
        thought: u32,
    },
    /// The model asks for something back, so many times.
    Recall(Index, usize),
    /// A result somewhere out of order.
    Stray(usize),
    Answer(usize),
    Notice,
    Shell,
    Compact(Index),
    /// Somebody else's edit; true omits.
    Foreign(Index, bool),
    /// The branch moves back.
    Back(Index),
    Pass(Passing),
}

#[derive(Clone, Debug)]
struct Passing {
    phase: Phase,
    thinking: ThinkingBinding,
    /// Probabilities for the questions, over and over.
    wanted: Vec<f64>,
    /// The classifier answers.
    heard: bool,
    /// The host has no classifier.
    problem: bool,
    cache: CacheScheme,
    now: u64,
}

fn step() -> impl Strategy<Value = Step> {
    let lines = prop_oneof![Just(1usize), Just(6), Just(45), Just(90)];
    let thought = prop_oneof![3 => Just(0u32), 1 => Just(90)];
    let calls = (1usize..4, lines, any::<bool>(), 0usize..8, any::<bool>(), 0usize..6, thought);
    prop_oneof![
        4 => (0usize..300).prop_map(Step::Prompt),
        6 => calls.prop_map(|(count, lines, failed, abort, image, steer, thought)| Step::Calls {
            count,
            lines,
            failed,
            aborted: abort == 0,
            image,
            steering: steer == 0,
            thought,
        }),
        3 => (any::<Index>(), 1usize..3).prop_map(|(at, times)| Step::Recall(at, times)),
        1 => (0usize..40).prop_map(Step::Stray),
        4 => (0usize..1_500).prop_map(Step::Answer),
        1 => Just(Step::Notice),
        1 => Just(Step::Shell),
        1 => any::<Index>().prop_map(Step::Compact),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(at, omit)| Step::Foreign(at, omit)),
        4 => passing().prop_map(Step::Pass),
        1 => any::<Index>().prop_map(Step::Back),
    ]
}

fn passing() -> impl Strategy<Value = Passing> {
    let cache =
        prop_oneof![Just(CacheScheme::Anthropic), Just(CacheScheme::OpenaiCodex), Just(CacheScheme::Other)];
    let probability = prop_oneof![Just(0.05), 0.0..1.0f64];
    let wanted = prop::collection::vec(probability, 1..9);
    let now = prop_oneof![Just(0u64), Just(900_000)];
    use ThinkingBinding::{Dropped, Refused, Unbound};
    let moment = (
        prop_oneof![Just(Phase::MidRun), Just(Phase::RunEnd)],
        prop_oneof![2 => Just(Unbound), 2 => Just(Dropped), 1 => Just(Refused)],
    );
    (moment, wanted, prop::bool::weighted(0.9), prop::bool::weighted(0.1), cache, now).prop_map(
        |((phase, thinking), wanted, heard, problem, cache, now)| Passing {
            phase,
            thinking,
            wanted,
            heard,
            problem,
            cache,
            now,
        },
    )
}

/// A session that grows. Ids are places, as the fixtures give them.
struct Growing {
    items: Vec<Item>,
    next_call: usize,
    settings: &'static str,
    /// A guard that is told of changes only.
    live: Guard,
    /// What it was told last.
    told: Delta,
}

impl Growing {
    fn new(settings: &'static str) -> Self {
        let live = guard_with(settings, whole([]));
        Growing { items: vec![], next_call: 0, settings, live, told: whole([]) }
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Prompt(length) => self.items.push(u(&"p".repeat(length + 1))),
            Step::Calls { count, lines, failed, aborted, image, steering, thought } => {
                let ids: Vec<String> = (0..count).map(|at| format!("c{}", self.next_call + at)).collect();
                self.next_call += count;
                let said = a("Going on.");
                let said = if thought > 0 { said.block(thinking("hm", thought)) } else { said };
                let reply = ids.iter().fold(said, |reply, id| {
                    reply.call(id, "bash", &json!({ "command": format!("cat {id}.log") }).to_string())
                });
                self.items.push(if aborted { reply.stop(StopReason::Aborted) } else { reply });
                for id in ids.iter().filter(|_| !aborted) {
                    let result = r(id, &log(lines));
                    let result = if image { result.block(png(900, 900)) } else { result };
                    self.items.push(if failed { result.failed() } else { result });
                }
                self.items.extend(steering.then(|| u("also docs")));
            }
            Step::Recall(at, times) => {
                let target = format!("e{}", at.index(self.items.len().max(1)));
                for _ in 0..times {
                    let id = format!("c{}", self.next_call);
                    self.next_call += 1;
                    let arguments = json!({ "entryId": target }).to_string();
                    self.items.extend([a("").call(&id, "recall", &arguments), r(&id, "back")]);
                }
            }
            Step::Stray(call) => self.items.push(r(&format!("c{call}"), &log(7))),
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
            Step::Back(to) => self.go_back(to.index(self.items.len() + 1)),
            Step::Pass(passing) => self.pass(&passing)?,
        }
        Ok(())
    }

    /// Only goes back where nothing would have to be shown as before an edit or a compaction.
    fn go_back(&mut self, to: usize) {
        let gone = whole(self.items.clone()).branch.split_off(to);
        use crate::contract::types::EntryBody::{Compaction, Edit, GuardRecord};
        if !gone.iter().any(|entry| matches!(entry.body, Edit(_) | GuardRecord(_) | Compaction(_))) {
            self.items.truncate(to);
        }
    }

    fn edit_as_somebody_else(&mut self, at: Index, omit: bool) {
        let mirror = session(self.items.clone());
        // Only what keeps the context valid by itself: an answer without calls, or the text of a result.
        let free: Vec<_> = mirror
            .projection()
            .iter()
            .filter(|item| match item.shown().map(|shown| shown.kind) {
                Some(Kind::Assistant(reply)) => omit && reply.stop_reason == StopReason::Stop,
                Some(Kind::ToolResult(_)) => !omit,
                _ => false,
            })
            .map(|item| item.position)
            .collect();
        if let Some(&place) = free.get(at.index(free.len().max(1))) {
            let item = self.items[place].clone();
            self.items[place] = if omit { item.omitted() } else { item.replaced("rewritten") };
            self.items.push(edit(&format!("e{place}")));
        }
    }

    /// Tells the live guard what changed since it was told last.
    fn tell(&mut self) {
        fn common<T: PartialEq>(old: &[T], new: &[T]) -> usize {
            old.iter().zip(new).take_while(|(old, new)| old == new).count()
        }
        let now = whole(self.items.clone());
        let branch = common(&self.told.branch, &now.branch);
        // After going back, ids come again for other entries.
        let kept: HashSet<&str> = now.branch[..branch].iter().map(|entry| entry.id.as_str()).collect();
        let context = now.context.iter().take_while(|item| kept.contains(item.id.as_str())).count();
        let context = context.min(common(&self.told.context, &now.context));
        let delta = Delta {
            keep_branch: u32::try_from(branch).unwrap(),
            branch: now.branch[branch..].to_vec(),
            keep_context: u32::try_from(context).unwrap(),
            context: now.context[context..].to_vec(),
        };
        self.live.update(delta).unwrap();
        self.told = now;
    }

    /// Runs a pass, checks it, and appends what it did.
    fn pass(&mut self, passing: &Passing) -> Result<(), TestCaseError> {
        self.tell();
        let model = || Model { cache: passing.cache, thinking: passing.thinking, ..model() };
        let problem = passing.problem.then(|| "no openrouter key".to_owned());
        let mut fresh = guard_with(self.settings, whole(self.items.clone()));
        for guard in [&mut fresh, &mut self.live] {
            guard.observe(Circumstances { problem: problem.clone(), ..circumstances() });
        }
        let inquiry = fresh.begin(passing.phase, model(), passing.now).unwrap();
        prop_assert_eq!(&self.live.begin(passing.phase, model(), passing.now).unwrap(), &inquiry);
        let Some(inquiry) = inquiry else { return Ok(()) };
        let verdicts = passing.verdicts(&inquiry);
        let outcome = fresh.finish(verdicts.clone(), 5, false).unwrap();
        prop_assert_eq!(&self.live.finish(verdicts, 5, false).unwrap(), &outcome, "however the log was sent");

        let before = session(self.items.clone());
        if outcome.guard_record.is_none() {
            prop_assert_eq!(&outcome.edits, &vec![]);
            return Ok(());
        }
        let results = record_of(&outcome)["results"].as_array().unwrap().clone();
        self.check_edits(&outcome, &results, passing)?;
        let after = applied(&self.items, &outcome);
        let committed = session(after.clone());

        if passing.thinking == ThinkingBinding::Refused {
            nothing_is_refused(&before, &committed, &outcome)?;
        }
        Pairs::of(before.projection()).are_kept_together(committed.projection(), &results)?;
        let saved = context_size(before.projection()) as i64 - context_size(committed.projection()) as i64;
        prop_assert_eq!(&record_of(&outcome)["savedChars"], &json!(saved));
        let mut guard = guard_with(self.settings, whole(after.clone()));
        for result in results.iter().filter(|result| result["outcome"] != "kept") {
            comes_back(&guard, &committed, result)?;
        }
        guard.observe(Circumstances { problem, ..circumstances() });
        if let Some(inquiry) = guard.begin(passing.phase, model(), passing.now).unwrap() {
            let again = guard.finish(passing.verdicts(&inquiry), 5, false).unwrap();
            let done = changed(&results);
            let again = again.guard_record.map(|json| serde_json::from_str::<Value>(&json).unwrap());
            let again = again.map_or(vec![], |record| record["results"].as_array().unwrap().clone());
            prop_assert!(changed(&again).is_disjoint(&done), "twice: {:?}", again);
        }
        self.items = after;
        Ok(())
    }

    fn check_edits(
        &self,
        outcome: &Outcome,
        results: &[Value],
        passing: &Passing,
    ) -> Result<(), TestCaseError> {
        let mut told: Vec<&str> = vec![];
        for result in results {
            let lifted = result["reason"] == "recalled";
            let (before, after) = (result["beforeChars"].as_u64(), result["afterChars"].as_u64());
            if result["outcome"] == "kept" {
                prop_assert_eq!(before, after);
            } else {
                prop_assert!(after < before, "{}", result);
                prop_assert!(
                    passing.heard && !passing.problem || result["kind"] == "image",
                    "without an answer: {}",
                    result
                );
            }
            if result["outcome"] != "kept" || lifted {
                told.push(result["entryId"].as_str().unwrap());
                let rest = result["omitted"].as_array().into_iter().flatten();
                told.extend(rest.map(|id| id.as_str().unwrap()));
            }
        }
        let made = targets(outcome);
        let distinct: HashSet<&str> = made.iter().copied().collect();
        prop_assert_eq!(distinct.len(), made.len(), "one edit per target");
        prop_assert!(told.iter().all(|id| distinct.contains(id)), "{:?} but {:?}", told, made);
        let lifts = |edit: &Edit| {
            edit.replacement
                .as_ref()
                .is_some_and(|parts| matches!(parts.first(), None | Some(Part::Recorded(_))))
        };
        let untold = |edit: &&Edit| !told.contains(&edit.target.as_str());
        prop_assert!(
            outcome.edits.iter().filter(untold).all(lifts),
            "only a lifted exchange is told in short"
        );
        let order = ["large", "small", "exchange", "image"];
        let kinds = results.iter().map(|result| order.iter().position(|kind| result["kind"] == *kind));
        prop_assert!(kinds.is_sorted());
        Ok(())
    }
}

impl Passing {
    fn verdicts(&self, inquiry: &Inquiry) -> Vec<Verdict> {
        if !self.heard {
            return failing(inquiry, Failure::Timeout, 9);
        }
        let mut wanted = self.wanted.iter().copied().cycle();
        let answers = |body: &str| {
            let body: Value = serde_json::from_str(body).unwrap();
            let mut answers = Map::new();
            for (id, question) in body["questions"].as_object().unwrap() {
                let p = wanted.next().unwrap();
                let answer = if question["type"] == "choice" {
                    json!({ "type": "choice", "choice": "none", "probabilities": { "none": 1.0 - p } })
                } else {
                    json!({ "type": "bool", "probability": p })
                };
                answers.insert(id.clone(), answer);
            }
            Value::Object(answers).to_string()
        };
        let mut answers = answers;
        let verdict = |question: &crate::contract::sessions::Question| Verdict {
            id: question.id,
            reply: Reply::Answers(answers(&question.body)),
            sent_bytes: 9,
            input_tokens: 9,
            cost_usd: 0.1,
        };
        inquiry.questions.iter().map(verdict).collect()
    }
}

/// The kinds and ids of what was edited.
fn changed(results: &[Value]) -> HashSet<(String, String)> {
    let changed =
        results.iter().filter(|result| result["outcome"] != "kept" || result["reason"] == "recalled");
    changed.map(|result| (result["kind"].to_string(), result["entryId"].to_string())).collect()
}

/// Checks that no thinking that is still sent stands behind an edit.
fn nothing_is_refused(
    before: &crate::session::Mirror,
    after: &crate::session::Mirror,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    let first = outcome.edits.iter().filter_map(|edit| before.index(&edit.target)).min();
    let Some(first) = first else { return Ok(()) };
    for item in after.projection().after(first).iter() {
        let Some(shown) = item.shown() else { continue };
        let sent = shown.assistant().is_some_and(|reply| reply.stop_reason != StopReason::Aborted);
        let thinks = shown.blocks.iter().any(|block| matches!(block, Block::Thinking(_)));
        prop_assert!(!(sent && thinks), "{} would be refused", item.id());
    }
    Ok(())
}

/// Checks that `recall` gives back what an item held.
fn comes_back(guard: &Guard, mirror: &Mirror, result: &Value) -> Result<(), TestCaseError> {
    let id = result["entryId"].as_str().unwrap();
    let (text, images) = recall_all(guard, id);
    let recorded = |id: &str| {
        let item = mirror.projection().get(mirror.index(id).unwrap()).unwrap();
        item.recorded().unwrap().blocks.to_vec()
    };
    let images_of = |blocks: &[Block]| blocks.iter().filter(|block| matches!(block, Block::Image(_))).count();
    if result["kind"] == "exchange" {
        let rest = result["omitted"].as_array().into_iter().flatten().map(|id| id.as_str().unwrap());
        for id in std::iter::once(id).chain(rest) {
            for line in text_of(&recorded(id)).lines() {
                prop_assert!(text.lines().any(|shown| shown == line), "{} of {}", line, id);
            }
            if id.starts_with('e') && images_of(&recorded(id)) > 0 {
                prop_assert!(text.contains(id), "the images of {} have no id to ask for", id);
                prop_assert_eq!(recall_all(guard, id).1, images_of(&recorded(id)));
            }
        }
    } else {
        let blocks = recorded(id);
        let whole = text_of(&blocks);
        prop_assert_eq!(text.trim_end(), whole.trim_end());
        prop_assert_eq!(images, images_of(&recorded(id)));
    }
    Ok(())
}

/// Reads all pages, and counts the images.
fn recall_all(guard: &Guard, id: &str) -> (String, usize) {
    let (mut text, mut images, mut offset) = (String::new(), 0, 1);
    loop {
        let request = RecallRequest {
            entry_id: id.into(),
            pattern: None,
            offset: Some(offset),
            limit: Some(500),
            column: None,
            image: None,
        };
        let mut page = String::new();
        for part in guard.recall(request).unwrap() {
            match part {
                Recalled::Text(part) => page = part,
                Recalled::Image(_) => images += 1,
            }
        }
        text.push_str(&page);
        text.push('\n');
        let Some((_, next)) = page.rsplit_once("Continue with offset ") else { return (text, images) };
        offset = next.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    }
}

/// Each visible result with the entry of the nearest call before it that it answers.
#[derive(Debug, PartialEq)]
struct Pairs(Vec<(Option<String>, String)>);

impl Pairs {
    fn of(projection: Projection<'_>) -> Pairs {
        let items: Vec<_> = projection.iter().filter_map(|item| Some((item.id(), item.shown()?))).collect();
        let mut pairs = vec![];
        for (at, (id, shown)) in items.iter().enumerate() {
            let Some(result) = shown.tool_result() else { continue };
            let answers = |block: &Block| matches!(block, Block::ToolCall(call) if call.id == result.call_id);
            let call = items[..at]
                .iter()
                .rev()
                .find(|(_, shown)| shown.assistant().is_some() && shown.blocks.iter().any(answers));
            pairs.push((call.map(|(id, _)| (*id).to_owned()), (*id).to_owned()));
        }
        Pairs(pairs)
    }

    /// Checks that calls and their results went and came back together, and that no result answers another call.
    fn are_kept_together(&self, after: Projection<'_>, results: &[Value]) -> Result<(), TestCaseError> {
        let shown: HashSet<&str> =
            after.iter().filter(|item| item.shown().is_some()).map(|item| item.id()).collect();
        let after = Pairs::of(after);
        for (call, result) in &self.0 {
            let call_shown = call.as_ref().map(|call| shown.contains(call.as_str()));
            prop_assert_eq!(
                call_shown.unwrap_or(true),
                shown.contains(result.as_str()),
                "{:?} {}",
                call,
                result
            );
        }
        let known = |pair: &(Option<String>, String)| self.0.contains(pair);
        let lifted = results.iter().any(|result| result["reason"] == "recalled");
        for pair in &after.0 {
            prop_assert!(known(pair) || lifted && pair.0.is_some(), "{:?} was no pair before", pair);
        }
        Ok(())
    }
}

/// Replies that no classifier should give.
fn broken_reply() -> impl Strategy<Value = Reply> {
    let answers = |p: Value| json!({ "keep_whole": { "type": "bool", "probability": p }, "focus": p });
    prop_oneof![
        Just(Reply::Failed(Failure::Timeout)),
        Just(Reply::Failed(Failure::Error)),
        Just(Reply::Failed(Failure::Denied)),
        Just(Reply::Failed(Failure::Aborted)),
        "\\PC{0,40}".prop_map(Reply::Answers),
        any::<f64>().prop_map(move |p| Reply::Answers(answers(json!(p)).to_string())),
        Just(Reply::Answers(answers(json!("none")).to_string())),
        Just(Reply::Answers(r#"{"focus":{"type":"choice","choice":"none","probabilities":{"none":1e999}}}"#.into())),
        Just(Reply::Answers(r#"{"keep_whole":{"type":"bool","probability":-1},"focus":{"type":"choice","choice":"none","probabilities":{"none":0.9}}}"#.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn after_any_passes_the_context_is_valid_and_everything_can_be_recalled(
        steps in prop::collection::vec(step(), 1..40),
        settings in prop_oneof![
            Just("{}"),
            Just(r#"{"exchangeBreakEven":false,"keepRecentExchanges":0,"midRunBatchChars":0,"midRunMinAgeTurns":1}"#),
            Just(r#"{"exchangeBreakEven":false,"keepRecentExchanges":0,"midRunBatchChars":0,
                "midRunBatchCharsOpenAI":0,"midRunMinAgeTurns":1,"midRunBreakEven":false}"#),
        ],
    ) {
        let mut growing = Growing::new(settings);
        for step in steps {
            growing.take(step)?;
        }
    }

    #[test]
    fn without_a_sound_answer_all_but_old_images_is_kept(
        steps in prop::collection::vec(step(), 1..30),
        replies in prop::collection::vec(broken_reply(), 0..6),
        timed_out in any::<bool>(),
    ) {
        let mut growing = Growing::new(r#"{"exchangeBreakEven":false,"keepRecentExchanges":0}"#);
        for step in steps.into_iter().filter(|step| !matches!(step, Step::Pass(_))) {
            growing.take(step)?;
        }
        let mut guard = guard_with(growing.settings, whole(growing.items));
        if let Some(inquiry) = begin(&mut guard) {
            let verdicts = replies.into_iter().zip(0..).map(|(reply, id)| Verdict {
                id,
                reply,
                sent_bytes: 1,
                input_tokens: u64::MAX,
                cost_usd: f64::NAN,
            });
            let outcome = guard.finish(verdicts.collect(), 0, timed_out).unwrap();
            drop(inquiry);
            let results = outcome.guard_record.as_ref().map_or(vec![], |_| {
                record_of(&outcome)["results"].as_array().unwrap().clone()
            });
            let gone = results.iter().filter(|result| result["outcome"] != "kept");
            prop_assert!(gone.clone().all(|result| result["kind"] == "image"));
            prop_assert_eq!(outcome.edits.len(), gone.count());
        }
    }
}
