//! A runner with a hostile guest in it, a session for it to spoil, and a server for it to reach.

use context_guard_pi::contract::classifier::Service;
use context_guard_pi::contract::sessions::{Budget, Circumstances, Delta, Phase, Question, Reply, Verdict};
use context_guard_pi::contract::types::{
    Assistant, Block, CacheScheme, Entry, EntryBody, Message, Model, StopReason, ThinkingBinding, ToolCall,
    ToolResult, View, Visible,
};
use context_guard_pi::engine::{Failure, Limits, Sandbox};
use context_guard_pi::gate::{Credential, Names};
use context_guard_pi::runner::{Asking, Options, Pass, Passed, Runner};
use context_guard_pi::settings::SettingsFile;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// What the credential's key reads; it must never be seen by a guest.
pub(crate) const KEY: &str = "s3cret-of-the-user";

/// A hostile guest before it is loaded, and what it is given.
pub(crate) struct Stage {
    name: &'static str,
    code: &'static [u8],
    pub(crate) limits: Limits,
    pub(crate) names: Names,
    pub(crate) allow: Vec<String>,
}

impl Stage {
    pub(crate) fn new(name: &'static str, code: &'static [u8]) -> Self {
        Self { name, code, limits: Limits::default(), names: Names::System, allow: vec![] }
    }

    /// The same guest as it was at first.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.name, self.code)
    }

    /// Gives the guest less than a second, so that a test of one which never returns is short.
    pub(crate) fn impatient(mut self) -> Self {
        self.limits.call = Duration::from_millis(300);
        self.limits.ask_grace = Duration::from_millis(100);
        self
    }

    pub(crate) fn granting(mut self, origin: &str) -> Self {
        self.allow.push(origin.to_owned());
        self
    }

    /// Loads the guest.
    pub(crate) fn load(self) -> Result<Runner, String> {
        // SAFETY: this package's build compiled the code with the wasmtime that loads it.
        let sandbox = unsafe { Sandbox::with_code(self.code, self.limits.clone()) };
        let sandbox = sandbox.map_err(|error| format!("{error:#}"))?;
        let allow = self.allow.iter().map(|origin| origin.parse().unwrap()).collect();
        let settings = SettingsFile::at("/nonexistent/context-guard.json");
        let options = Options { allow, warnings: vec![], names: self.names, settings, limits: self.limits };
        Ok(Runner::with_sandbox(sandbox, options))
    }

    /// Loads a guest that a runner takes.
    pub(crate) fn runner(self) -> Runner {
        let name = self.name;
        self.load().unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Loads the guest and has it ask `question` of the service; returns its verdict's text.
    pub(crate) async fn asks(self, base_url: &str, question: &str) -> String {
        let verdicts = self.runner().ask(&asking(base_url, question), std::future::pending()).await;
        text(&verdicts)
    }
}

pub(crate) fn service(base_url: &str) -> Service {
    let (api, model) = ("typesafe-system-one".into(), "m".into());
    Service { api, base_url: base_url.into(), model, headers: vec![], input_price: 0.0 }
}

pub(crate) fn asking(base_url: &str, question: &str) -> Asking {
    let questions = vec![Question { id: 0, body: question.into() }];
    let budget = Budget { timeout_ms: 20_000, concurrency: 1 };
    Asking { service: service(base_url), credential: credential(), questions, budget }
}

fn credential() -> Option<Credential> {
    Some(json!({"api_key": KEY, "headers": []}).try_into().unwrap())
}

/// What a guest says of the request that it tried.
pub(crate) fn text(verdicts: &[Verdict]) -> String {
    match &verdicts[0].reply {
        Reply::Answers(text) => text.clone(),
        Reply::Failed(failure) => format!("{failure:?}"),
    }
}

/// A session of four entries: `prompt`, `call`, `result` and `answer`.
pub(crate) fn session() -> Delta {
    let text = |text: &str| vec![Block::Text(text.into())];
    let assistant = |blocks, stop_reason| {
        Message::Assistant(Assistant { blocks, stop_reason, model: "a/b".into(), usage: None })
    };
    let call = Block::ToolCall(ToolCall { id: "1".into(), name: "bash".into(), arguments: "{}".into() });
    let result = ToolResult {
        call_id: "1".into(),
        tool_name: Some("bash".into()),
        is_error: false,
        blocks: text("output"),
    };
    let messages = [
        ("prompt", Message::User(text("Why?"))),
        ("call", assistant(vec![call], StopReason::ToolUse)),
        ("result", Message::ToolResult(result)),
        ("answer", assistant(text("So."), StopReason::Stop)),
    ];
    let entry = |(id, message): &(&str, Message)| {
        let body = EntryBody::Message(message.clone());
        Entry { id: (*id).into(), time: 1, body }
    };
    let visible = |(id, _): &(&str, Message)| Visible { id: (*id).into(), view: View::AsRecorded };
    Delta {
        keep_branch: 0,
        branch: messages.iter().map(entry).collect(),
        keep_context: 0,
        context: messages.iter().map(visible).collect(),
    }
}

pub(crate) fn model() -> Model {
    let (cache, thinking) = (CacheScheme::Other, ThinkingBinding::Unbound);
    Model { name: "a/b".into(), cache, prices: None, cache_lifetime: 300, thinking }
}

/// Runs a whole pass over the session, with a service that nobody may reach.
pub(crate) async fn pass(runner: &Runner) -> Result<Passed, Failure> {
    let pass = Pass {
        delta: Some(session()),
        phase: Phase::RunEnd,
        model: model(),
        now: 2,
        service: Some(service("https://nowhere.invalid/v1")),
        credential: credential(),
    };
    runner.pass(pass, |_, _| {}, std::future::pending()).await
}

/// Makes sure that the runner still takes a call, whatever the guest did before.
pub(crate) async fn lives_on(runner: &Runner) {
    let circumstances = Circumstances {
        problem: None,
        destination: None,
        recall_active: true,
        working_directory: "/".into(),
    };
    runner.observe(circumstances).await.unwrap();
    runner.status().await.unwrap();
}

/// Answers every request with the same bytes and passes on what it read.
pub(crate) struct Server {
    /// Such as `http://127.0.0.1:40123`.
    pub(crate) origin: String,
    requests: mpsc::UnboundedReceiver<Vec<u8>>,
}

impl Server {
    pub(crate) async fn start(answer: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        let answer = answer.to_owned();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let (sender, answer) = (sender.clone(), answer.clone());
                tokio::spawn(async move {
                    let mut buffer = vec![0; 1 << 16];
                    while let Ok(length @ 1..) = connection.read(&mut buffer).await {
                        let _ = sender.send(buffer[..length].to_vec());
                        let _ = connection.write_all(answer.as_bytes()).await;
                    }
                });
            }
        });
        Self { origin, requests }
    }

    /// An answer without content, after which the connection closes.
    pub(crate) async fn silent() -> Self {
        Self::start("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await
    }

    /// Everything that has arrived so far.
    pub(crate) fn received(&mut self) -> String {
        let mut all = vec![];
        while let Ok(bytes) = self.requests.try_recv() {
            all.extend(bytes);
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    pub(crate) fn port(&self) -> &str {
        self.origin.rsplit_once(':').map_or("", |(_, port)| port)
    }
}

/// Loopback, private, link-local, metadata, shared, unspecified, and the same in IPv6, mapped and embedded.
pub(crate) const INSIDE: [&str; 14] = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "::1",
    "fe80::1",
    "fd00:ec2::254",
    "::ffff:10.1.2.3",
    "::ffff:169.254.169.254",
    "64:ff9b::a01:203",
];

pub(crate) fn leads(address: &str) -> Names {
    Names::Fixed(vec![address.parse::<IpAddr>().unwrap()])
}
