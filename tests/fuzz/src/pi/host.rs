//! The session and two guards: one is told of changes only, the other of everything each time.

use context_guard::guard::Guard;
use context_guard::jev;
use context_guard::session::Mirror;
use serde_json::{Map, Value, json};

use super::answer;
use super::mapping::{Recorded, Role};
use super::projection;
use super::promises;
use super::requests;
use super::session_file;
use crate::contract::sessions::{
    Circumstances, Delta, Edit, Failure, Inquiry, Outcome, Part, Phase, Question, RecallRequest, Reply,
    Usage, Verdict,
};
use crate::contract::types::{Block, CacheScheme, Entry, EntryBody, Error, Message, Model, ThinkingBinding};

/// A pass: its moment, its model, and how it is answered.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    pub(crate) phase: Phase,
    pub(crate) cache: CacheScheme,
    pub(crate) thinking: ThinkingBinding,
    pub(crate) answering: Answering,
    pub(crate) timed_out: bool,
}

/// What comes back for the questions of a pass.
#[derive(Clone, Debug)]
pub(crate) enum Answering {
    /// Probabilities for the questions, over and over.
    Wanted(Vec<f64>),
    /// The built-in judge's.
    Builtin,
    /// The same text for every question.
    Raw(String),
    /// None.
    Failed(Failure),
}

pub(crate) struct Host {
    pub(super) branch: Vec<Recorded>,
    live: Guard,
    fresh: Guard,
    told: Delta,
    now: u64,
    problem: Option<String>,
    next: usize,
}

const NOTHING: Delta = Delta { keep_branch: 0, branch: vec![], keep_context: 0, context: vec![] };

impl Host {
    pub(crate) fn new() -> Self {
        let mut host = Host {
            branch: vec![],
            live: Guard::new(),
            fresh: Guard::new(),
            told: NOTHING,
            now: 1_777_000_000_000,
            problem: None,
            next: 0,
        };
        host.observe(None);
        host
    }

    /// Opens a session file; none where it is none.
    pub(crate) fn open(file: &[u8]) -> Option<Self> {
        let file = session_file::read(file).ok()?;
        let mut host = Host { branch: file.branch, ..Host::new() };
        host.tell();
        Some(host)
    }

    pub(crate) fn configure(&mut self, user: &str, project: Option<&str>) {
        let configuration = self.live.configure(user, project);
        assert_eq!(self.fresh.configure(user, project), configuration);
    }

    pub(crate) fn observe(&mut self, problem: Option<String>) {
        for guard in [&mut self.live, &mut self.fresh] {
            guard.observe(Circumstances {
                problem: problem.clone(),
                destination: Some("https://openrouter.ai".into()),
                recall_active: true,
                working_directory: "/home/dev/project".into(),
            });
        }
        self.problem = problem;
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now = self.now.saturating_add(seconds.saturating_mul(1_000));
    }

    pub(super) fn append(&mut self, body: EntryBody, role: Role) {
        let id = format!("e{}", self.next);
        self.next += 1;
        self.branch.push(Recorded { entry: Entry { id, time: self.now, body }, role });
    }

    pub(super) fn say(&mut self, message: Message) {
        self.append(EntryBody::Message(message), Role::Editable);
    }

    pub(super) fn back(&mut self, entries: usize) {
        self.branch.truncate(entries);
    }

    /// The session whole.
    pub(super) fn whole(&self) -> Delta {
        let context = projection::context(&self.branch);
        Delta {
            branch: self.branch.iter().map(|recorded| recorded.entry.clone()).collect(),
            context: context.into_iter().filter_map(|place| place.visible(&self.branch)).collect(),
            ..NOTHING
        }
    }

    pub(super) fn mirror(&self) -> Mirror {
        let mut mirror = Mirror::default();
        mirror.update(self.whole()).expect("what Pi holds is in sync");
        mirror
    }

    /// Tells both guards of the session as it is now.
    fn tell(&mut self) -> answer::Mirror {
        fn common<T: PartialEq>(old: &[T], new: &[T]) -> usize {
            old.iter().zip(new).take_while(|(old, new)| old == new).count()
        }
        let now = self.whole();
        let branch = common(&self.told.branch, &now.branch);
        let kept = |id: &str| now.branch.iter().take(branch).any(|entry| entry.id == id);
        let context = common(&self.told.context, &now.context);
        let gone = now
            .context
            .iter()
            .take(context)
            .position(|item| branch < self.told.branch.len() && !kept(&item.id));
        let context = gone.unwrap_or(context);
        let delta = Delta {
            keep_branch: u32::try_from(branch).unwrap(),
            branch: now.branch.get(branch..).unwrap_or_default().to_vec(),
            keep_context: u32::try_from(context).unwrap(),
            context: now.context.get(context..).unwrap_or_default().to_vec(),
        };
        let mut runner = answer::Mirror::default();
        runner.update(&now);
        self.told = now.clone();
        self.live.update(delta).expect("a change of what was told is in sync");
        self.fresh.update(now).expect("a session whole is in sync");
        runner
    }

    /// Runs a pass, checks it, and appends what it did.
    pub(crate) fn pass(&mut self, passing: &Passing) {
        let runner = self.tell();
        let Some((inquiry, verdicts, outcome)) = self.judged(passing) else { return };
        // Sessions here are far too short for the runner's limit on the number of edits.
        let checked = answer::checked(&runner, outcome.clone(), usize::MAX);
        assert_eq!(checked, outcome, "the runner applies every answer");
        let before = self.mirror();
        let heard = self.problem.is_none() && promises::heard(&verdicts);
        promises::edits(&before, &outcome, heard);
        drop(inquiry);
        self.apply(&outcome);
        let after = self.mirror();
        let results = promises::results(&outcome);
        promises::context(&before, &after, &outcome, &results, passing.thinking);
        self.tell();
        for result in results.iter().filter(|result| result["outcome"] != "kept") {
            promises::comes_back(&self.live, &after, result);
        }
        if let Some((_, _, again)) = self.judged(passing) {
            let done = promises::changed(&results);
            let twice = promises::changed(&promises::results(&again));
            assert!(twice.is_disjoint(&done), "what was judged is not judged again at once: {twice:?}");
        }
    }

    fn judged(&mut self, passing: &Passing) -> Option<(Inquiry, Vec<Verdict>, Outcome)> {
        let model = model(passing);
        let inquiry = self.live.begin(passing.phase, model.clone(), self.now).expect("begin has no error");
        let fresh = self.fresh.begin(passing.phase, model, self.now).expect("begin has no error");
        assert_eq!(fresh, inquiry, "however the session was told");
        let inquiry = inquiry?;
        let verdicts = passing.answering.verdicts(&inquiry.questions);
        let outcome = self.live.finish(verdicts.clone(), 5, passing.timed_out).expect("a pass is under way");
        let fresh = self.fresh.finish(verdicts.clone(), 5, passing.timed_out).expect("a pass is under way");
        assert_eq!(fresh, outcome, "however the session was told");
        Some((inquiry, verdicts, outcome))
    }

    fn apply(&mut self, outcome: &Outcome) {
        for Edit { target, replacement } in &outcome.edits {
            let recorded = self.branch.iter().find(|recorded| recorded.entry.id == *target);
            let recorded =
                recorded.map(|recorded| blocks(&recorded.entry).to_vec()).expect("edits are checked");
            let block = |part: &Part| match part {
                Part::Text(text) => Block::Text(text.clone()),
                Part::Recorded(at) => recorded.get(*at as usize).cloned().expect("edits are checked"),
            };
            let replacement = replacement.as_ref().map(|parts| parts.iter().map(block).collect());
            self.append(EntryBody::Edit(target.clone()), Role::Edit { target: target.clone(), replacement });
        }
        if let Some(record) = &outcome.guard_record {
            self.append(EntryBody::GuardRecord(record.clone()), Role::Unseen);
        }
    }

    /// Sends a request of the present context, whose answer reads that much from the cache.
    pub(crate) fn request(&mut self, cache_read: u64, replay: bool) {
        self.tell();
        let shape = requests::shape(&self.mirror(), replay);
        let passing = Passing {
            phase: Phase::RunEnd,
            cache: CacheScheme::Anthropic,
            thinking: ThinkingBinding::Unbound,
            answering: Answering::Builtin,
            timed_out: false,
        };
        let model = model(&passing);
        let marks = self.live.request(model.clone(), shape.clone(), self.now);
        assert_eq!(
            self.fresh.request(model.clone(), shape.clone(), self.now),
            marks,
            "however the session was told"
        );
        assert_eq!(answer::checked_breakpoints(&shape, marks.clone()), marks);
        if !replay {
            let usage = Usage { input: 900, output: 120, cache_read, cache_write: 900 };
            self.live.response(model.name.clone(), usage);
            self.fresh.response(model.name, usage);
        }
    }

    pub(crate) fn recall(&mut self, entry: &str, pattern: Option<&str>, offset: u32, column: u32) {
        self.tell();
        let request = RecallRequest {
            entry_id: entry.into(),
            pattern: pattern.map(str::to_owned),
            offset: Some(offset),
            limit: None,
            column: Some(column),
            image: None,
        };
        let recalled = self.live.recall(request.clone());
        assert_eq!(self.fresh.recall(request), recalled, "however the session was told");
        let known = self.branch.iter().any(|recorded| recorded.entry.id == entry.trim());
        assert!(
            known || matches!(recalled, Err(Error::Invalid(_))),
            "an id that the session lacks is refused"
        );
    }

    /// Reads everything that is said to people.
    pub(crate) fn report(&mut self) {
        self.tell();
        assert_eq!(self.fresh.status(), self.live.status());
        for topic in ["status", "preview", "explain", "ledger"] {
            let text = self.live.report(topic).expect("the topic is known");
            assert_eq!(self.fresh.report(topic).expect("the topic is known"), text);
        }
    }
}

fn model(passing: &Passing) -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: passing.cache,
        prices: None,
        cache_lifetime: 300,
        thinking: passing.thinking,
    }
}

pub(super) fn blocks(entry: &Entry) -> &[Block] {
    match &entry.body {
        EntryBody::Message(Message::User(blocks)) => blocks,
        EntryBody::Message(Message::Assistant(reply)) => &reply.blocks,
        EntryBody::Message(Message::ToolResult(result)) => &result.blocks,
        EntryBody::Message(Message::Note(note)) => &note.blocks,
        _ => &[],
    }
}

impl Answering {
    fn verdicts(&self, questions: &[Question]) -> Vec<Verdict> {
        let verdict = |question: &Question, reply| Verdict {
            id: question.id,
            reply,
            sent_bytes: question.body.len() as u64,
            input_tokens: 1_000,
            cost_usd: 0.000_042,
        };
        match self {
            Answering::Builtin => {
                questions.iter().flat_map(|question| judged(std::slice::from_ref(question))).collect()
            }
            Answering::Raw(text) => {
                questions.iter().map(|question| verdict(question, Reply::Answers(text.clone()))).collect()
            }
            Answering::Failed(failure) => {
                questions.iter().map(|question| verdict(question, Reply::Failed(*failure))).collect()
            }
            Answering::Wanted(wanted) => {
                let mut wanted = wanted.iter().copied().cycle();
                let mut next = || wanted.next().unwrap_or(0.0);
                questions
                    .iter()
                    .map(|question| verdict(question, Reply::Answers(answers(&question.body, &mut next))))
                    .collect()
            }
        }
    }
}

fn judged(questions: &[Question]) -> Vec<Verdict> {
    let service = context_guard::contract::classifier::Service {
        api: jev::builtin::API.into(),
        base_url: String::new(),
        model: jev::builtin::MODEL.into(),
        headers: vec![],
        input_price: 0.0,
    };
    jev::ask(&service, questions, crate::contract::sessions::Budget { timeout_ms: 1, concurrency: 1 })
}

fn answers(body: &str, next: &mut impl FnMut() -> f64) -> String {
    let body: Value = serde_json::from_str(body).expect("a question is JSON");
    let mut answers = Map::new();
    for (id, question) in body["questions"].as_object().expect("a question has questions") {
        let p = next();
        let answer = if question["type"] == "choice" {
            json!({ "type": "choice", "choice": "none", "probabilities": { "none": 1.0 - p } })
        } else {
            json!({ "type": "bool", "probability": p })
        };
        answers.insert(id.clone(), answer);
    }
    Value::Object(answers).to_string()
}
