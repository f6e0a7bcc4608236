//! Conversations in which the guest asks a classifier, while the other side goes on talking.

use super::serve;
use crate::engine::Limits;
use crate::gate::Names;
use crate::runner::{Options, Runner};
use crate::settings::SettingsFile;
use crate::testing::{SILENCE, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeWriter, Write, pipe};
use std::sync::Arc;
use tokio::sync::mpsc;

/// A runner in this process, and both ends of its pipes.
struct Conversation {
    input: PipeWriter,
    lines: mpsc::UnboundedReceiver<Value>,
}

impl Conversation {
    fn start(allow: &[&str]) -> Self {
        let (input, (reader, writer)) = (pipe().unwrap(), pipe().unwrap());
        let options = Options {
            allow: allow.iter().map(|origin| origin.parse().unwrap()).collect(),
            warnings: vec![],
            names: Names::System,
            settings: SettingsFile::at("/nonexistent/context-guard.json"),
            limits: Limits::default(),
        };
        let runner = Arc::new(Runner::new(options).unwrap());
        tokio::spawn(serve(runner, input.0, writer));
        let (sender, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines() {
                let _ = sender.send(serde_json::from_str(&line.unwrap()).unwrap());
            }
        });
        Self { input: input.1, lines }
    }

    fn send(&mut self, id: u32, method: &str, params: Value) {
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
    }

    async fn line(&mut self) -> Value {
        self.lines.recv().await.unwrap()
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.send(0, method, params);
        self.line().await
    }
}

fn service(origin: &str) -> Value {
    let base_url = format!("{origin}/v1");
    json!({"api": "typesafe-system-one", "base_url": base_url, "model": "m", "headers": [], "input_price": 0.0})
}

fn asking(origin: &str, timeout_ms: u32) -> Value {
    let questions = json!([{"id": 7, "body": "{\"state\":{},\"questions\":{}}"}]);
    let credential = json!({"api_key": "s3cret", "headers": []});
    let budget = json!({"timeout_ms": timeout_ms, "concurrency": 1});
    json!({"service": service(origin), "credential": credential, "questions": questions, "budget": budget})
}

/// A finished run whose tool output is large enough to be judged.
fn run() -> Value {
    let output = "INFO worker heartbeat ok\n".repeat(1000);
    let usage = Value::Null;
    let entries = [
        ("prompt", json!({"User": [{"Text": "Where does the login fail?"}]})),
        (
            "call",
            json!({"Assistant": {
                "blocks": [{"ToolCall": {"id": "1", "name": "bash", "arguments": "{\"command\":\"cat log\"}"}}],
                "stop_reason": "ToolUse", "model": "a/b", "usage": usage,
            }}),
        ),
        (
            "result",
            json!({"ToolResult": {"call_id": "1", "tool_name": "bash", "is_error": false, "blocks": [{"Text": output}]}}),
        ),
        (
            "answer",
            json!({"Assistant": {"blocks": [{"Text": "In auth.rs."}], "stop_reason": "Stop", "model": "a/b", "usage": usage}}),
        ),
    ];
    let entry = |(id, message): &(&str, Value)| json!({"id": id, "time": 1, "body": {"Message": message}});
    let visible = |(id, _): &(&str, Value)| json!({"id": id, "view": "AsRecorded"});
    json!({
        "keep_branch": 0, "branch": entries.iter().map(entry).collect::<Vec<_>>(),
        "keep_context": 0, "context": entries.iter().map(visible).collect::<Vec<_>>(),
    })
}

fn pass(service: Value) -> Value {
    let model = json!({"name": "a/b", "cache": "Other", "prices": null, "cache_lifetime": 300, "thinking": "Unbound"});
    json!({"delta": run(), "phase": "RunEnd", "model": model, "now": 2, "service": service, "credential": null})
}

fn ready() -> Value {
    json!({"problem": null, "destination": null, "recall_active": true, "working_directory": "/w"})
}

#[tokio::test]
async fn a_question_reaches_a_granted_service_with_its_credential() {
    let mut server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[&server.origin]);
    conversation.send(1, "ask", asking(&server.origin, 60_000));
    let request = server.requests.recv().await.unwrap();
    assert!(request.starts_with("POST /v1/"), "{request}");
    assert!(request.contains("authorization: Bearer s3cret\r\n"), "{request}");
    conversation.send(2, "cancel", json!({}));
    assert_eq!(conversation.line().await["id"], 2);
    assert_eq!(conversation.line().await["result"][0]["reply"], json!({"Failed": "Aborted"}));
}

#[tokio::test]
async fn status_is_answered_while_a_service_is_silent_and_the_rest_in_order() {
    let mut server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[&server.origin]);
    conversation.send(1, "ask", asking(&server.origin, 60_000));
    server.requests.recv().await.unwrap();
    conversation.send(2, "observe", ready());
    conversation.send(3, "status", json!({}));
    conversation.send(4, "cancel", json!({}));
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(conversation.line().await["id"].clone());
    }
    assert_eq!(ids, [3, 4, 1, 2]);
}

#[tokio::test]
async fn the_end_of_the_input_ends_a_pass_at_once() {
    let mut server = Server::start(SILENCE).await;
    let Conversation { mut lines, input } = {
        let mut conversation = Conversation::start(&[&server.origin]);
        conversation.send(1, "ask", asking(&server.origin, 60_000));
        conversation
    };
    server.requests.recv().await.unwrap();
    drop(input);
    assert_eq!(lines.recv().await.unwrap()["result"][0]["reply"], json!({"Failed": "Aborted"}));
    assert_eq!(lines.recv().await, None);
}

#[tokio::test]
async fn a_silent_service_is_a_timeout() {
    let server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[&server.origin]);
    let answer = conversation.call("ask", asking(&server.origin, 50)).await;
    assert_eq!(answer["result"][0]["reply"], json!({"Failed": "Timeout"}));
}

#[tokio::test]
async fn what_was_not_granted_is_denied() {
    let mut server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[]);
    let answer = conversation.call("ask", asking(&server.origin, 60_000)).await;
    assert_eq!(answer["result"][0]["reply"], json!({"Failed": "Denied"}));
    assert_eq!(server.received(), "");
}

#[tokio::test]
async fn b42_a_refused_pass_keeps_all_and_names_the_remedy_once() {
    let mut conversation = Conversation::start(&[]);
    conversation.call("configure", json!({"project": null})).await;
    conversation.call("observe", ready()).await;
    conversation.send(1, "pass", pass(service("https://a.example")));
    let judging = conversation.line().await;
    assert_eq!(judging["method"], "judging");
    assert!(judging["params"]["questions"].as_u64().unwrap() > 0, "{judging}");
    let result = &conversation.line().await["result"];
    assert_eq!(result["outcome"]["edits"], json!([]));
    insta::assert_snapshot!(result["refusal"].as_str().unwrap(), @"https://a.example is not among the origins that the guard may reach; `/guard allow` or PI_CONTEXT_GUARD_ALLOW=https://a.example allows it");
}

#[tokio::test]
async fn a_cancelled_pass_keeps_all_and_did_not_time_out() {
    let mut server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[&server.origin]);
    conversation.call("observe", ready()).await;
    conversation.send(1, "pass", pass(service(&server.origin)));
    server.requests.recv().await.unwrap();
    conversation.send(2, "cancel", json!({}));
    let lines = [conversation.line().await, conversation.line().await, conversation.line().await];
    assert_eq!((&lines[0]["method"], &lines[1]["id"]), (&json!("judging"), &json!(2)));
    let outcome = &lines[2]["result"]["outcome"];
    assert_eq!(outcome["edits"], json!([]));
    let record: Value = serde_json::from_str(outcome["guard_record"].as_str().unwrap()).unwrap();
    assert_eq!(record["timedOut"], false);
}

#[tokio::test]
async fn b41_the_record_of_a_cancelled_pass_counts_the_bytes_that_left() {
    let mut server = Server::start(SILENCE).await;
    let mut conversation = Conversation::start(&[&server.origin]);
    let mut circumstances = ready();
    circumstances["destination"] = json!(server.origin);
    conversation.call("observe", circumstances).await;
    conversation.send(1, "pass", pass(service(&server.origin)));
    let questions = conversation.line().await["params"]["questions"].clone();
    assert_eq!(questions, 1, "so that there is one body to compare");
    // The head names the length of the body, which arrives with it or after it.
    let mut request = String::new();
    let body = loop {
        request += &server.requests.recv().await.unwrap();
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if length.parse() == Ok(body.len()) {
            break body.len();
        }
    };
    conversation.send(2, "cancel", json!({}));
    conversation.line().await;
    let outcome = conversation.line().await["result"]["outcome"].take();
    let record: Value = serde_json::from_str(outcome["guard_record"].as_str().unwrap()).unwrap();
    assert_eq!((&record["requests"], &record["origin"]), (&json!(1), &json!(server.origin)));
    assert_eq!(record["sentBytes"], body);
}

#[tokio::test]
async fn the_built_in_judge_needs_no_permission() {
    let mut conversation = Conversation::start(&[]);
    conversation.call("observe", ready()).await;
    let builtin =
        json!({"api": "builtin", "base_url": "", "model": "lexical", "headers": [], "input_price": 0.0});
    conversation.send(1, "pass", pass(builtin));
    assert_eq!(conversation.line().await["method"], "judging");
    let result = &conversation.line().await["result"];
    assert_eq!(result["refusal"], Value::Null);
    assert_eq!(result["outcome"]["edits"][0]["target"], "result");
}
