//! Sessions to measure on, made from a seed: prompts, replies, calls, searches, reads, logs, and the edits and
//! records that earlier passes left.

use std::collections::HashSet;

use context_guard::contract::sessions::{Delta, Outcome, Part};
use context_guard::contract::types::{
    Assistant, Block, Entry, EntryBody, Message, StopReason, ToolCall, ToolResult, Usage, View, Visible,
};
use context_guard::session::{ItemKind, ItemOutcome, ItemResult, Phase, Record};
use fastrand::Rng;

use serde_json::Value;

use super::{request, text};

/// From this length the guard judges an output in parts, with default settings.
const LARGE: usize = 4_000;
/// Calls of the last run, which is the same in every session of several runs.
const LAST_RUN: usize = 12;
/// Entries of the last run: prompt, a reply and a result per call, answer.
const LAST_RUN_ENTRIES: usize = 2 + 2 * LAST_RUN;

/// A session as a host would tell it, and the last change to it.
#[derive(Debug)]
pub struct Session {
    random: Rng,
    branch: Vec<Entry>,
    context: Vec<Visible>,
    /// How much of the branch and the context was told already.
    told: (usize, usize),
}

impl Session {
    /// A session of exactly that many entries (at least 60), made of judged runs and one more, whose outputs were not
    /// judged yet.
    pub fn of_entries(entries: usize) -> Self {
        let mut session = Self::new();
        session.judged_runs(entries.saturating_sub(LAST_RUN_ENTRIES));
        session.last_run(LAST_RUN);
        session
    }

    /// A session of exactly that many entries (at least 120) that ends with a run of so many small outputs (at most 40),
    /// and a checkpoint in it that found all that came before relevant. So nothing is due that was not due then.
    pub fn of_quiet_entries(entries: usize, calls: usize) -> Self {
        let mut session = Self::new();
        // Prompt and record, and two entries a call.
        session.judged_runs(entries.saturating_sub(2 + 2 * calls));
        let (prompts, first) = (session.prompts(), session.branch.len());
        session.prompt();
        for call in 0..calls {
            session.quiet_step();
            if call == 0 {
                session.found_relevant(&prompts);
            }
        }
        debug_assert_eq!(session.branch.len() - first, 2 + 2 * calls);
        session
    }

    /// One run of about that many characters, of which nothing was judged yet.
    pub fn of_one_run(characters: usize) -> Self {
        let mut session = Self::new();
        session.prompt();
        while session.characters() < characters {
            session.step();
        }
        session.answer();
        session
    }

    /// A session without entries.
    pub fn empty() -> Self {
        Self::new()
    }

    fn new() -> Self {
        Self { random: Rng::with_seed(1), branch: vec![], context: vec![], told: (0, 0) }
    }

    /// Returns the whole session.
    pub fn whole(&mut self) -> Delta {
        self.told = (0, 0);
        self.news()
    }

    /// Ends the last run, and returns the change.
    pub fn end(&mut self) -> Delta {
        self.answer();
        self.news()
    }

    /// Returns when the last entry was made.
    pub fn now(&self) -> u64 {
        self.branch.last().map_or(0, |entry| entry.time)
    }

    /// Adds a run with outputs of every size, of which nothing was judged yet, and returns the change.
    pub fn mixed_run(&mut self, calls: usize) -> Delta {
        self.prompt();
        for _ in 0..calls {
            self.step();
        }
        self.answer();
        self.news()
    }

    /// Does what a host does with an outcome: shows the edited entries anew, and appends the edits and the record.
    pub fn apply(&mut self, outcome: &Outcome) {
        for edit in &outcome.edits {
            let Some(index) = self.context.iter().position(|visible| visible.id == edit.target) else {
                continue;
            };
            let recorded = self.branch.iter().find(|entry| entry.id == edit.target).map_or(&[][..], blocks);
            let block = |part: &Part| match part {
                Part::Text(text) => Some(Block::Text(text.clone())),
                Part::Recorded(at) => recorded.get(*at as usize).cloned(),
            };
            let parts = edit.replacement.as_ref();
            let view =
                parts.map_or(View::Omitted, |parts| View::Replaced(parts.iter().filter_map(block).collect()));
            if let Some(visible) = self.context.get_mut(index) {
                visible.view = view;
            }
            self.told.1 = self.told.1.min(index);
        }
        for edit in &outcome.edits {
            self.append(EntryBody::Edit(edit.target.clone()));
        }
        if let Some(record) = &outcome.guard_record {
            self.append(EntryBody::GuardRecord(record.clone()));
        }
    }

    /// Adds a reply with one call and its small result to the last run, and returns the change.
    pub fn turn(&mut self) -> Delta {
        self.small_step();
        self.news()
    }

    /// Returns the shape of a request that sends the whole context.
    pub fn request(&self) -> Value {
        // The context keeps the order of the branch here.
        let visible: HashSet<&str> = self.context.iter().map(|visible| visible.id.as_str()).collect();
        request::shape(self.branch.iter().filter(|entry| visible.contains(entry.id.as_str())))
    }

    /// Returns the number of entries on the branch.
    pub fn entries(&self) -> usize {
        self.branch.len()
    }

    /// Returns the characters of recorded text.
    pub fn characters(&self) -> usize {
        self.branch.iter().map(|entry| blocks(entry).iter().map(length).sum::<usize>()).sum()
    }

    fn news(&mut self) -> Delta {
        let (branch, context) = self.told;
        self.told = (self.branch.len(), self.context.len());
        Delta {
            keep_branch: counted(branch),
            branch: self.branch.get(branch..).unwrap_or_default().to_vec(),
            keep_context: counted(context),
            context: self.context.get(context..).unwrap_or_default().to_vec(),
        }
    }

    fn last_run(&mut self, calls: usize) {
        // What a pass on it costs is to be compared between sessions.
        self.random = Rng::with_seed(2);
        self.prompt();
        for _ in 0..calls {
            self.step();
        }
        self.answer();
    }

    /// Adds runs that were judged, up to that many entries.
    fn judged_runs(&mut self, entries: usize) {
        // No run of six calls adds more: two entries a call, prompt, answer, an edit a call, record.
        while self.branch.len() + 21 <= entries {
            self.judged_run(6);
        }
        while self.branch.len() < entries {
            self.append(EntryBody::Other);
        }
    }

    fn prompts(&self) -> Vec<String> {
        let prompts =
            self.branch.iter().filter(|entry| matches!(entry.body, EntryBody::Message(Message::User(_))));
        prompts.map(|entry| entry.id.clone()).collect()
    }

    /// Adds the record of a checkpoint that asked about those exchanges and kept them.
    fn found_relevant(&mut self, prompts: &[String]) {
        let kept = |prompt: &String| ItemResult {
            kind: ItemKind::Exchange,
            entry_id: prompt.clone(),
            tool: "exchange".into(),
            reason: "relevant".into(),
            jev: vec!["p.90".into()],
            ..ItemResult::default()
        };
        let results = prompts.iter().map(kept).collect();
        let record = Record { phase: Phase::MidRun, requests: 1, results, ..Record::default() };
        self.append(EntryBody::GuardRecord(record.to_json()));
    }

    fn judged_run(&mut self, calls: usize) {
        let (branch, context) = (self.branch.len(), self.context.len());
        self.prompt();
        for _ in 0..calls {
            self.step();
        }
        self.answer();
        self.judge(branch, context);
    }

    /// Replaces the large outputs of the run that starts there, as a pass would have done.
    fn judge(&mut self, branch: usize, context: usize) {
        let mut results = vec![];
        for (entry, visible) in self.branch[branch..].iter().zip(&mut self.context[context..]) {
            let (EntryBody::Message(Message::ToolResult(result)), [Block::Text(output)]) =
                (&entry.body, blocks(entry))
            else {
                continue;
            };
            if output.len() < LARGE {
                continue;
            }
            let note = format!(
                "[context-guard] Distilled the output of bash: the rest was judged not needed for the answer. Full \
                 output: recall({{\"entryId\":\"{}\"}}).\n{}",
                entry.id,
                text::excerpt(output)
            );
            results.push(ItemResult {
                entry_id: entry.id.clone(),
                tool: result.tool_name.clone().unwrap_or_default(),
                label: "bash".into(),
                outcome: ItemOutcome::Distilled,
                reason: "chunks".into(),
                before_chars: output.len() as u64,
                after_chars: note.len() as u64,
                jev: vec!["whole 0.02, focus parts 0.90, none 0.02; kept 3 of 15".into()],
                ..ItemResult::default()
            });
            visible.view = View::Replaced(vec![Block::Text(note)]);
        }
        if results.is_empty() {
            return;
        }
        for result in &results {
            self.append(EntryBody::Edit(result.entry_id.clone()));
        }
        let saved = |result: &ItemResult| result.before_chars as i64 - result.after_chars as i64;
        let record = Record {
            model: "openrouter/~typesafe/jev-latest".into(),
            saved_chars: results.iter().map(saved).sum(),
            requests: results.len() as u64,
            ms: 700,
            results,
            ..Record::default()
        };
        self.append(EntryBody::GuardRecord(record.to_json()));
    }

    fn prompt(&mut self) {
        let text = text::prose(&mut self.random, 40);
        self.say(Message::User(vec![Block::Text(text)]));
    }

    fn answer(&mut self) {
        let text = text::prose(&mut self.random, 150);
        self.reply(vec![Block::Text(text)], StopReason::Stop);
    }

    /// A reply with one call, and its result: half of them small, the others searches, reads and logs.
    fn step(&mut self) {
        let random = &mut self.random;
        let (tool, arguments, output) = match random.u32(0..20) {
            0..10 => return self.small_step(),
            10..14 => {
                let (pattern, hits) = (text::name(random), random.usize(20..150));
                ("bash", format!("{{\"command\":\"rg -n {pattern}\"}}"), text::search(random, hits))
            }
            14..17 => {
                let (path, lines) = (text::path(random), random.usize(40..250));
                ("read", format!("{{\"path\":\"{path}\"}}"), text::file(random, lines))
            }
            _ => {
                let (job, lines) = (text::name(random), random.usize(40..200));
                ("bash", format!("{{\"command\":\"make {job}\"}}"), text::log(random, lines))
            }
        };
        self.call(tool, arguments, output);
    }

    fn small_step(&mut self) {
        self.tail(15);
    }

    /// A call whose result is too small for any question.
    fn quiet_step(&mut self) {
        self.tail(4);
    }

    fn tail(&mut self, lines: usize) {
        let random = &mut self.random;
        let (path, lines) = (text::path(random), random.usize(1..lines));
        let output = text::log(random, lines);
        self.call("bash", format!("{{\"command\":\"tail {path}\"}}"), output);
    }

    fn call(&mut self, tool: &str, arguments: String, output: String) {
        let id = format!("call_{:08x}", self.branch.len());
        let words = self.random.usize(5..40);
        let note = text::prose(&mut self.random, words);
        let call = ToolCall { id: id.clone(), name: tool.into(), arguments };
        self.reply(vec![Block::Text(note), Block::ToolCall(call)], StopReason::ToolUse);
        self.say(Message::ToolResult(ToolResult {
            call_id: id,
            tool_name: Some(tool.into()),
            is_error: false,
            blocks: vec![Block::Text(output)],
        }));
    }

    fn reply(&mut self, blocks: Vec<Block>, stop_reason: StopReason) {
        let usage = Some(Usage { input: 900, output: 120, cache_read: 40_000, cache_write: 900 });
        let model = "anthropic/claude".into();
        self.say(Message::Assistant(Assistant { blocks, stop_reason, model, usage }));
    }

    fn say(&mut self, message: Message) {
        let id = self.append(EntryBody::Message(message));
        self.context.push(Visible { id, view: View::AsRecorded });
    }

    fn append(&mut self, body: EntryBody) -> String {
        let id = format!("{:08x}", self.branch.len());
        let time = 1_777_888_000_000 + self.branch.len() as u64 * 4_000;
        self.branch.push(Entry { id: id.clone(), time, body });
        id
    }
}

fn blocks(entry: &Entry) -> &[Block] {
    match &entry.body {
        EntryBody::Message(Message::User(blocks)) => blocks,
        EntryBody::Message(Message::Assistant(reply)) => &reply.blocks,
        EntryBody::Message(Message::ToolResult(result)) => &result.blocks,
        _ => &[],
    }
}

/// All generated text is ASCII, so that its bytes are its characters.
fn length(block: &Block) -> usize {
    match block {
        Block::Text(text) => text.len(),
        Block::ToolCall(call) => call.name.len() + call.arguments.len(),
        _ => 0,
    }
}

fn counted(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
