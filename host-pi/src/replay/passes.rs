//! The passes of a session, one after another, each on what the earlier ones left.

use super::hints;
use super::mapping::{Recorded, Role};
use super::projection::{self, Place};
use super::record::{self, Kind, Record};
use super::report::{Item, Pass, Run};
use super::runs::{self, Ending};
use super::turns::Variants;
use crate::contract::classifier::Service;
use crate::contract::sessions::{Delta, Edit, Outcome, Part, Phase, Question};
use crate::contract::types::{Block, CacheScheme, Entry, EntryBody, Message, Model, ThinkingBinding};
use crate::engine::Failure;
use crate::gate::Credential;
use crate::runner::{self, Passed, Runner};
use std::collections::HashSet;
use std::future;

/// The shortest lifetime that providers document for a cache entry, in seconds; the extension assumes the same.
const CACHE_LIFETIME: u32 = 300;

/// So long after the last entry no provider's cache is left: a day, in milliseconds.
const LONG_AFTER: u64 = 86_400_000;

/// What every pass asks.
#[derive(Debug)]
pub(super) struct Asked {
    /// Without one nothing is asked: what could be judged is found, and nothing decided.
    pub(super) service: Option<Service>,
    pub(super) credential: Option<Credential>,
}

/// A session that is being replayed: what happened so far, with what the passes made of it.
pub(super) struct Replay<'a> {
    pub(super) runner: &'a Runner,
    asked: Asked,
    pub(super) variants: Variants,
    branch: Vec<Recorded>,
    told: Told,
    /// Ids of the items that a pass looked at.
    seen: HashSet<String>,
}

/// What the guest holds of the branch and the context.
#[derive(Default)]
struct Told {
    branch: usize,
    context: Vec<Place>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(runner: &'a Runner, asked: Asked, variants: Variants) -> Self {
        let (branch, told, seen) = (Vec::new(), Told::default(), HashSet::new());
        Self { runner, asked, variants, branch, told, seen }
    }

    /// Replays a branch run by run. `watch` hears of each run's number before its passes, and how many questions they
    /// ask.
    pub(super) async fn runs(mut self, branch: Vec<Recorded>, watch: &impl Watch) -> Vec<Run> {
        let runs = runs::runs(&branch);
        let mut rest = branch.into_iter();
        let mut taken = 0;
        let mut replayed = Vec::new();
        watch.runs(runs.len());
        for (number, run) in (1..).zip(runs) {
            watch.run(number);
            let mut turns = Vec::new();
            for (number, end) in (1..).zip(run.turns) {
                self.branch.extend(rest.by_ref().take(end - taken));
                taken = end;
                turns.extend(self.turn(number, watch).await);
            }
            self.branch.extend(rest.by_ref().take(run.end - taken));
            taken = run.end;
            let pass = match run.ending {
                Ending::Completed => self.pass(Phase::RunEnd, watch).await,
                _ => None,
            };
            replayed.push(Run { number, question: run.question, ending: run.ending, turns, pass });
        }
        replayed
    }

    pub(super) async fn pass(&mut self, phase: Phase, watch: &impl Watch) -> Option<Pass> {
        let mut hints = Vec::new();
        let judging = |questions: &[Question], _: u32| {
            watch.questions(questions.len());
            hints = hints::superseded(questions);
        };
        let (service, credential) = (self.asked.service.clone(), self.asked.credential.clone());
        match self.passed(phase, service, credential, judging).await {
            Ok(passed) => self.apply(phase, passed, hints),
            Err(failure) => Some(Pass { failure: Some(failure.to_string()), ..Pass::default() }),
        }
    }

    /// Runs a pass on the branch as it is and leaves it as it is.
    pub(super) async fn passed(
        &mut self,
        phase: Phase,
        service: Option<Service>,
        credential: Option<Credential>,
        judging: impl FnOnce(&[Question], u32),
    ) -> Result<Passed, Failure> {
        let context = projection::context(&self.branch);
        let last = self.branch.last().map_or(0, |recorded| recorded.entry.time);
        // Edits of a cold cache are free, so that no item is passed over for its price where none is judged. When a
        // checkpoint is due depends on its price, though.
        let weighed = self.asked.service.is_some() || phase == Phase::MidRun;
        let now = if weighed { last } else { last.saturating_add(LONG_AFTER) };
        let pass = runner::Pass {
            delta: Some(self.delta(&context)),
            phase,
            model: self.model(),
            now,
            service,
            credential,
        };
        let passed = self.runner.pass(pass, judging, future::pending()).await;
        // Whatever the guest holds after a failure, the next pass tells it everything.
        self.told = match &passed {
            Ok(_) => Told { branch: self.branch.len(), context },
            Err(_) => Told::default(),
        };
        passed
    }

    pub(super) fn model(&self) -> Model {
        model(&self.branch)
    }

    fn delta(&self, context: &[Place]) -> Delta {
        let keep_context =
            self.told.context.iter().zip(context).take_while(|(told, now)| told == now).count();
        let entries = self.branch.iter().skip(self.told.branch).map(|recorded| recorded.entry.clone());
        let visible = context.iter().skip(keep_context).filter_map(|place| place.visible(&self.branch));
        Delta {
            keep_branch: self.told.branch as u32,
            branch: entries.collect(),
            keep_context: keep_context as u32,
            context: visible.collect(),
        }
    }

    /// Appends what a pass decided to the branch, as Pi would. `hints` are those of its small outputs, in order.
    fn apply(&mut self, phase: Phase, passed: Passed, hints: Vec<Option<String>>) -> Option<Pass> {
        let Outcome { edits, guard_record, warnings } = passed.outcome?;
        let record = guard_record.as_deref().and_then(Record::parse).unwrap_or_default();
        let decided = self.asked.service.is_some();
        let mut hints = hints.into_iter();
        let mut items = Vec::new();
        for judged in record.results {
            let edit = edits.iter().find(|edit| edit.target == judged.entry_id);
            let original = text(self.recorded(&judged.entry_id));
            let again = !self.seen.insert(judged.entry_id.clone());
            let superseded = if judged.kind == Kind::Small { hints.next().flatten() } else { None };
            let item = Item::new(judged, original, edit.and_then(|edit| self.replacement(edit)));
            let item = if decided { item } else { item.undecided() };
            items.push(Item { superseded, again, ..item });
        }
        if !decided {
            // Its questions all failed, as they had to. A checkpoint's would be asked again after each turn.
            if phase == Phase::MidRun
                && let Some(json) = guard_record.as_deref().and_then(record::all_kept)
            {
                self.append(EntryBody::GuardRecord(json), Role::Unseen);
            }
            return Some(Pass { items, ..Pass::default() });
        }
        let pass = Pass {
            requests: record.requests,
            input_tokens: record.input_tokens,
            sent_bytes: record.sent_bytes,
            cost_usd: record.cost_usd,
            ms: passed.elapsed_ms,
            timed_out: record.timed_out,
            warnings: warnings.into_iter().chain(passed.refusal).collect(),
            failure: None,
            expected: record.expected,
            items,
        };
        for edit in edits {
            let role = Role::Edit { replacement: self.blocks(&edit), target: edit.target.clone() };
            self.append(EntryBody::Edit(edit.target), role);
        }
        if let Some(json) = guard_record {
            self.append(EntryBody::GuardRecord(json), Role::Unseen);
        }
        Some(pass)
    }

    fn append(&mut self, body: EntryBody, role: Role) {
        let time = self.branch.last().map_or(0, |recorded| recorded.entry.time);
        // No id of Pi's has this form, and places are used once.
        let id = format!("replayed {}", self.branch.len());
        self.branch.push(Recorded { entry: Entry { id, time, body }, role });
    }

    fn recorded(&self, id: &str) -> Option<&Recorded> {
        self.branch.iter().rev().find(|recorded| recorded.entry.id == id)
    }

    /// Returns the text that an edit shows instead of its target; none where it omits it.
    fn replacement(&self, edit: &Edit) -> Option<String> {
        let blocks = self.blocks(edit)?.into_iter().map(|block| match block {
            Block::Text(text) => text,
            Block::Image(_) => "[image]".into(),
            Block::Thinking(_) | Block::ToolCall(_) | Block::Opaque(_) => "[block as recorded]".into(),
        });
        Some(blocks.collect::<Vec<_>>().join("\n"))
    }

    /// Returns what an edit shows instead of its target; none where it omits it.
    fn blocks(&self, edit: &Edit) -> Option<Vec<Block>> {
        let recorded = self.recorded(&edit.target).map(blocks).unwrap_or_default();
        let block = |part: &Part| match part {
            Part::Text(text) => Some(Block::Text(text.clone())),
            Part::Recorded(place) => recorded.get(*place as usize).cloned(),
        };
        edit.replacement.as_ref().map(|parts| parts.iter().filter_map(block).collect())
    }
}

/// Hears how far a replay is.
pub(super) trait Watch {
    fn runs(&self, count: usize);
    fn run(&self, number: usize);
    fn questions(&self, count: usize);
}

fn blocks(recorded: &Recorded) -> &[Block] {
    match &recorded.entry.body {
        EntryBody::Message(Message::User(blocks)) => blocks,
        EntryBody::Message(Message::Assistant(reply)) => &reply.blocks,
        EntryBody::Message(Message::ToolResult(result)) => &result.blocks,
        EntryBody::Message(Message::Note(note)) => &note.blocks,
        _ => &[],
    }
}

/// The text of an entry, its blocks joined as the guard joins them.
fn text(recorded: Option<&Recorded>) -> String {
    let texts = recorded.map(blocks).unwrap_or_default().iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The chat model as far as a session file tells: it has no prices, and no word on how thinking is bound.
fn model(branch: &[Recorded]) -> Model {
    let name = branch.iter().rev().find_map(|recorded| match &recorded.entry.body {
        EntryBody::Message(Message::Assistant(reply)) => Some(reply.model.clone()),
        _ => None,
    });
    let name = name.unwrap_or_default();
    let cache = match name.split('/').next() {
        Some("anthropic") => CacheScheme::Anthropic,
        Some("openai-codex") => CacheScheme::OpenaiCodex,
        _ => CacheScheme::Other,
    };
    Model { name, cache, prices: None, cache_lifetime: CACHE_LIFETIME, thinking: ThinkingBinding::Unbound }
}
