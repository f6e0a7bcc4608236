//! Whole conversations with the embedded guest.

use super::*;
use crate::engine::Limits;
use crate::gate::Names;
use crate::runner::{Options, Runner};
use crate::settings::SettingsFile;
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::sync::Arc;
use tempfile::TempDir;

struct Setting {
    directory: TempDir,
    limits: Limits,
}

impl Setting {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), limits: Limits::default() }
    }

    fn settings(&self) -> SettingsFile {
        SettingsFile::at(self.directory.path().join("context-guard.json"))
    }

    /// Sends those lines and returns what comes back until the end.
    async fn talk(&self, input: impl Into<Vec<u8>>) -> Vec<Value> {
        let options = Options {
            allow: vec![],
            warnings: vec![],
            names: Names::System,
            settings: self.settings(),
            limits: self.limits.clone(),
        };
        let mut output = Vec::new();
        serve(Arc::new(Runner::new(options).unwrap()), Cursor::new(input.into()), &mut output).await.unwrap();
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        self.talk(line).await.remove(0)
    }
}

async fn talk(input: &str) -> Vec<Value> {
    Setting::new().talk(input).await
}

fn model() -> Value {
    json!({"name": "a/b", "cache": "Other", "prices": null, "cache_lifetime": 300, "thinking": "Unbound"})
}

#[tokio::test]
async fn hello_tells_what_runs() {
    let answer = Setting::new().call("hello", json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["contract"], "context-guard:guard@0.1.0");
    assert_eq!(result["apis"], json!(["typesafe-system-one", "cloudflare-workers-ai-system-one", "builtin"]));
    assert_eq!(result["guest"]["sha256"].as_str().unwrap().len(), 64);
}

#[tokio::test]
async fn calls_are_answered_in_order_with_their_own_ids() {
    let answers = talk(concat!(
        r#"{"jsonrpc":"2.0","id":"one","method":"hello"}"#, "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"update","params":{"keep_branch":0,"branch":[],"keep_context":0,"context":[]}}"#, "\r\n",
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"update","params":{"keep_branch":9,"branch":[],"keep_context":0,"context":[]}}"#,
    ))
    .await;
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!("one"), json!(2), json!(3)]);
    assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": 2, "result": null}));
    assert_eq!(answers[2]["error"]["code"], -32001);
    assert_eq!(answers[2]["error"]["data"]["kind"], "out-of-sync");
}

#[tokio::test]
async fn what_is_no_call_is_told_so_and_the_next_line_counts() {
    let mut setting = Setting::new();
    setting.limits.line_bytes = 120;
    let mut input = concat!(
        "hello\n",
        "[]\n",
        r#"{"id":1,"method":"hello"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":{},"method":"hello"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"constructor"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":4,"method":"observe","params":{"problem":7}}"#,
        "\n",
    )
    .to_owned();
    input.push_str(&" ".repeat(121));
    let mut input = input.into_bytes();
    input.extend_from_slice(b"\n\"\xff\"\n{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"hello\"}\n");
    let answers = setting.talk(input).await;
    let errors = answers.iter().map(|answer| {
        let error = &answer["error"];
        format!("{} {} {}", answer["id"], error["code"], error["message"].as_str().unwrap_or_default())
    });
    insta::assert_snapshot!(errors.collect::<Vec<_>>().join("\n"), @r#"
    null -32700 not JSON: expected value at line 1 column 1
    null -32600 not a request: invalid length 0, expected an object with jsonrpc, id, method and params; batches are not read at line 1 column 2
    1 -32600 not JSON-RPC 2.0: "jsonrpc":"2.0" is missing
    2 -32600 "method" is missing
    null -32600 an id is a text, a number or null
    3 -32601 there is no method "constructor"; there are hello, configure, observe, update, pass, begin, finish, ask, cancel, recall, status, report, request, response, permission, grant, enable
    4 -32602 problem: invalid type: integer `7`, expected a string at line 1 column 12
    null -32700 the line is longer than 120 bytes
    null -32700 the line is not UTF-8
    5 null
    "#);
}

#[tokio::test]
async fn a_notification_gets_no_answer() {
    assert_eq!(talk(r#"{"jsonrpc":"2.0","method":"hello"}"#).await, [Value::Null; 0]);
    assert_eq!(talk(r#"{"jsonrpc":"2.0","method":"cancel"}"#).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_pass_that_is_not_due_changes_nothing() {
    let setting = Setting::new();
    let params = json!({"delta": null, "phase": "RunEnd", "model": model(), "now": 1, "service": null, "credential": null});
    let answer = setting.call("pass", params).await;
    assert_eq!(answer["result"]["outcome"], Value::Null);
    assert_eq!(answer["result"]["refusal"], Value::Null);
}

#[tokio::test]
async fn a_request_to_anthropic_gets_a_breakpoint_and_its_response_is_taken() {
    let mark = r#"{"type":"ephemeral"}"#;
    let user = |kind: &str, mark: Value| {
        let block = json!({"kind": kind, "has_text": kind == "text", "cache_control": mark});
        json!({"role": "user", "blocks": [block]})
    };
    let shape = json!({"tools": [], "system": [], "messages": [user("text", Value::Null), user("image", json!(mark))], "replay": false});
    let mut anthropic = model();
    anthropic["cache"] = json!("Anthropic");
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "configure", "params": {"project": null}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "request", "params": {"model": anthropic, "shape": shape, "now": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "response", "params": {"model": "a/b", "usage": {"input": 1, "output": 1, "cache_read": 0, "cache_write": 0}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "request", "params": {"model": model(), "shape": shape, "now": 1}}),
    ];
    let answers = Setting::new().talk(lines.map(|line| line.to_string()).join("\n")).await;
    assert_eq!(answers[0]["result"]["configuration"]["breakpoints"], true);
    let expected = json!([{"section": "Messages", "message": 0, "block": 0, "cache_control": mark}]);
    assert_eq!(answers[1]["result"], expected);
    assert_eq!(answers[2]["result"], Value::Null);
    assert_eq!(answers[3]["result"], json!([]));
}

#[tokio::test]
async fn a_credential_of_the_wrong_form_is_not_repeated() {
    let params = json!({"phase": "RunEnd", "model": model(), "now": 1, "credential": "s3cret"});
    let answer = Setting::new().call("pass", params).await;
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("credential: a credential is an object") && !message.contains("s3cret"),
        "{message}"
    );
}

#[tokio::test]
async fn an_address_that_is_none_is_a_refusal_and_nothing_is_asked() {
    let service = json!({"api": "typesafe-system-one", "base_url": "openrouter.ai", "model": "m", "headers": [], "input_price": 0.0});
    let questions = json!([{"id": 7, "body": "{}"}]);
    let params = json!({"service": service, "credential": {"api_key": "k", "headers": []}, "questions": questions, "budget": {"timeout_ms": 1000, "concurrency": 1}});
    let answer = Setting::new().call("ask", params).await;
    assert_eq!(answer["result"][0]["reply"], json!({"Failed": "Denied"}));
    assert_eq!(answer["result"][0]["id"], 7);
}

#[tokio::test]
async fn a_grant_counts_at_once_and_is_written_down() {
    let setting = Setting::new();
    let permission = r#"{"jsonrpc":"2.0","id":0,"method":"permission","params":{"base_url":"https://openrouter.ai/api/v1"}}"#;
    let grant = |allow: bool| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "grant", "params": {"origin": "https://openrouter.ai:443", "allow": allow}}).to_string()
    };
    let input =
        [permission.to_owned(), grant(true), permission.to_owned(), grant(false), permission.to_owned()]
            .join("\n");
    let states: Vec<_> =
        setting.talk(input).await.iter().map(|answer| answer["result"]["state"].clone()).collect();
    assert_eq!(states, [json!("Unknown"), Value::Null, json!("Granted"), Value::Null, json!("Denied")]);
    let network = setting.settings().network();
    assert_eq!((network.allow, network.deny), (vec![], vec!["https://openrouter.ai".to_owned()]));
}

#[tokio::test]
async fn a_settings_file_that_does_not_parse_is_an_error_for_who_would_write() {
    let setting = Setting::new();
    std::fs::write(setting.settings().path(), "{,}").unwrap();
    let answer = setting.call("enable", json!({"enabled": false})).await;
    assert_eq!(answer["error"]["data"]["kind"], "other");
    assert!(answer["error"]["message"].as_str().unwrap().contains("was left as it is"), "{answer}");
}

#[tokio::test]
async fn enable_writes_the_switch() {
    let setting = Setting::new();
    assert_eq!(setting.call("enable", json!({"enabled": false})).await["result"], Value::Null);
    assert_eq!(setting.settings().read().json, "{\n  \"enabled\": false\n}\n");
}

/// As when the agent died.
#[tokio::test]
async fn an_output_that_cannot_be_written_ends_the_runner() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let setting = Setting::new();
    let options = Options {
        allow: vec![],
        warnings: vec![],
        names: Names::System,
        settings: setting.settings(),
        limits: Limits::default(),
    };
    let input = Cursor::new(r#"{"jsonrpc":"2.0","id":1,"method":"hello"}"#);
    let result = serve(Arc::new(Runner::new(options).unwrap()), input, Gone).await;
    assert_eq!(result.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}
