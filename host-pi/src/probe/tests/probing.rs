//! Whole probes: with the built-in judge, and with a service on loopback.

use crate::probe::{Request, report, table};
use crate::replay::Judge;
use crate::replay::look::Look;
use crate::settings::SettingsFile;
use crate::testing::Server;
use serde_json::{Value, json};
use std::fs;
use std::future::Future;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

const KEY: &str = "probe-key";

fn request(directory: &TempDir, judge: Judge) -> Request {
    Request {
        judge,
        model: None,
        input_price: 0.05,
        key: Some(KEY.into()),
        allow: Vec::new(),
        settings: SettingsFile::at(directory.path().join("context-guard.json")),
        json: false,
    }
}

fn to(directory: &TempDir, origin: &str) -> Request {
    let judge = format!("{origin}/v1").parse().unwrap();
    Request { allow: vec![origin.parse().unwrap()], ..request(directory, judge) }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
}

/// A service that is sure of everything: what is asked about is needed, and no output as a whole.
async fn sure() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut connection = BufReader::new(connection);
                loop {
                    let mut head = String::new();
                    while connection.read_line(&mut head).await.unwrap_or(0) > 2 {}
                    let head = head.to_lowercase();
                    let length =
                        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                    let Some(length) = length else { return };
                    assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
                    let mut body = vec![0; length];
                    connection.read_exact(&mut body).await.unwrap();
                    let body: Value = serde_json::from_slice(&body).unwrap();
                    let answer = json!({
                        "answers": answers(&body["questions"]),
                        "usage": {"input_tokens": 1_000},
                    })
                    .to_string();
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", answer.len());
                    connection.write_all((head + &answer).as_bytes()).await.unwrap();
                }
            });
        }
    });
    origin
}

fn answers(questions: &Value) -> Value {
    let answer = |(id, question): (&String, &Value)| {
        let answer = match question["type"].as_str() {
            Some("choice") => {
                json!({"type": "choice", "choice": "chunk_1", "probabilities": {"chunk_1": 0.9, "whole": 0.05, "none": 0.05}})
            }
            _ => json!({"type": "noul", "noul": if id == "keep_whole" { 0.1 } else { 0.95 }}),
        };
        (id.clone(), answer)
    };
    Value::Object(questions.as_object().unwrap().iter().map(answer).collect())
}

#[test]
fn the_table_of_the_built_in_judge() {
    let directory = TempDir::new().unwrap();
    let mut report = run(report(request(&directory, Judge::Builtin))).unwrap();
    report.spent.ms = 0;
    insta::assert_snapshot!(table::table(&report, Look { width: 100, colour: false }));
}

#[test]
fn the_page_on_the_questions_has_the_figures_of_the_built_in_judge() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/JEV.md")).unwrap();
    let report = run(report(request(&TempDir::new().unwrap(), Judge::Builtin))).unwrap();
    for measured in &report.kinds {
        let default = measured.threshold.default;
        let at_default = measured.counts.iter().find(|counts| counts.threshold == default).unwrap();
        let row = format!(
            "| {} | {default} | {} | {} | {} | {} | {:.0} % |",
            measured.kind,
            at_default.kept_rightly,
            at_default.dropped_rightly,
            at_default.kept_wrongly,
            at_default.dropped_wrongly,
            at_default.accuracy * 100.0
        );
        assert!(page.lines().any(|line| line == row), "docs/JEV.md has no such row: {row}");
    }
}

#[test]
fn settings_of_the_user_change_nothing_but_the_permission() {
    let directory = TempDir::new().unwrap();
    let settings =
        r#"{"enabled": false, "minResultChars": 1, "historyExchanges": 0, "chunkKeepThreshold": 0}"#;
    fs::write(directory.path().join("context-guard.json"), settings).unwrap();
    let report = run(report(request(&directory, Judge::Builtin))).unwrap();
    assert!(report.kinds.iter().any(|kind| kind.kind == "chunks, with earlier conversation"));
    assert_eq!(report.kinds[0].threshold.default, 0.6);
}

#[test]
fn a_service_is_asked_with_the_key_and_its_answers_are_counted() {
    let directory = TempDir::new().unwrap();
    let report = run(async {
        let origin = sure().await;
        report(to(&directory, &origin)).await.unwrap()
    });
    let spent = &report.spent;
    assert!(spent.requests > 30 && spent.failed == 0, "{spent:?}");
    assert_eq!(spent.input_tokens, 1_000 * spent.requests as u64);
    assert!((spent.cost_usd - spent.input_tokens as f64 * 0.05 / 1e6).abs() < 1e-12);
    assert!(spent.sent_bytes > 100_000);
    // Everything is kept: right for what is needed, wrong for all the rest.
    let chunks = &report.kinds[0];
    let needed = chunks.items.iter().filter(|item| item.needed).count();
    for counts in &chunks.counts {
        assert_eq!(
            (counts.kept_rightly, counts.kept_wrongly, counts.dropped_rightly + counts.dropped_wrongly),
            (needed, chunks.items.len() - needed, 0)
        );
    }
    assert!(!format!("{report:?}").contains(KEY));
}

#[test]
fn json_holds_every_answer() {
    let directory = TempDir::new().unwrap();
    let text =
        run(crate::probe::probe(Request { json: true, ..request(&directory, Judge::Builtin) })).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["judge"]["heuristic"], true);
    let chunks = &report["kinds"][0];
    assert_eq!((&chunks["setting"], &chunks["default"]), (&json!("chunkKeepThreshold"), &json!(0.6)));
    let item = &chunks["items"][0];
    assert!(
        item["probability"].is_f64() && item["needed"].is_boolean() && item["kept"].is_boolean(),
        "{item}"
    );
    assert!(chunks["counts"][0]["accuracy"].is_f64());
}

#[test]
fn without_a_judge_there_is_nothing_to_measure() {
    let error = run(report(request(&TempDir::new().unwrap(), Judge::None))).unwrap_err().to_string();
    assert_eq!(error, "a probe needs somebody to ask: give --judge builtin or --judge URL");
}

#[test]
fn nothing_is_sent_without_a_grant() {
    let directory = TempDir::new().unwrap();
    let (error, received, origin) = run(async {
        let mut server = Server::start(crate::testing::OK).await;
        let request = Request { allow: Vec::new(), ..to(&directory, &server.origin) };
        let error = report(request).await.unwrap_err().to_string();
        (error, server.received(), server.origin)
    });
    assert_eq!(error, format!("nothing may be sent to {origin}; allow it with --allow-net {origin}"));
    assert_eq!(received, "");
}

#[test]
fn a_service_that_answers_nothing_is_an_error_after_the_first_batch() {
    let directory = TempDir::new().unwrap();
    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n";
    let error = run(async {
        let server = Server::start(refusal).await;
        let error = report(to(&directory, &server.origin)).await.unwrap_err().to_string();
        error.replace(&server.origin, "ORIGIN")
    });
    insta::assert_snapshot!(error, @r#"ORIGIN/v1 answered no question; check the key in CONTEXT_GUARD_KEY, the model "jev-latest" (--model) and the address"#);
}

#[test]
fn a_service_that_is_not_there_is_an_error() {
    let directory = TempDir::new().unwrap();
    let error = run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        report(to(&directory, &origin)).await.unwrap_err().to_string().replace(&origin, "ORIGIN")
    });
    insta::assert_snapshot!(error, @"no question reached ORIGIN/v1; check the address, and that a System One service answers there");
}
