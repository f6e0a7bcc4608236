//! A judge on the network: a scripted service on loopback, so that what is kept can be worked out by hand.

use super::replaying::{replayed, request};
use super::*;
use crate::replay::Judge;
use crate::replay::record::Outcome;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use tempfile::TempDir;

/// Answers every request with "only chunk_2 is needed" and hands on what it was asked: headers and body.
fn service() -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (asked, heard) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let asked = asked.clone();
            thread::spawn(move || serve(&stream, &asked));
        }
    });
    (url, heard)
}

fn serve(stream: &TcpStream, asked: &mpsc::Sender<(String, Value)>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while reader.read_line(&mut head).unwrap_or(0) > 2 {}
        let length =
            head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let Some(length) = length else { return };
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let answer =
            json!({"answers": answers(&body["questions"]), "usage": {"input_tokens": 2_000_000}}).to_string();
        asked.send((head, body)).ok();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        let mut stream = stream;
        stream.write_all((head + &answer).as_bytes()).unwrap();
    }
}

fn answers(questions: &Value) -> Value {
    let answer = |(id, question): (&String, &Value)| {
        let answer = match question["type"].as_str() {
            Some("choice") => {
                let names = question["criteria"].as_object().unwrap().keys();
                let probabilities: serde_json::Map<_, _> = names
                    .map(|name| (name.clone(), json!(if name == "chunk_2" { 0.9 } else { 0.01 })))
                    .collect();
                json!({"type": "choice", "choice": "chunk_2", "probabilities": probabilities, "confidence": 0.9})
            }
            _ => json!({"type": "noul", "noul": if id == "chunk_2" { 0.95 } else { 0.03 }}),
        };
        (id.clone(), answer)
    };
    Value::Object(questions.as_object().unwrap().iter().map(answer).collect())
}

/// 90 lines of 60 characters: 5,489 in all, so that chunks aim at 800 characters, which is 13 lines.
fn store() -> String {
    (201..=290).map(|number| format!("{number:_<60}")).collect::<Vec<_>>().join("\n")
}

fn reading_the_store() -> String {
    lines([
        user("How is the store opened?"),
        calling("c1", "read", json!({"path": "src/store.rs", "offset": 201})),
        result("c1", "read", &store()),
        assistant("With a lock."),
    ])
}

#[test]
fn a_replay_that_can_be_worked_out_by_hand() {
    let (url, heard) = service();
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("context-guard.json"), r#"{"minRunChars": 0}"#).unwrap();
    let mut request = request(&directory, &reading_the_store());
    request.judge = url.parse().unwrap();
    request.allow = vec![url.trim_end_matches("/v1").parse().unwrap()];
    request.key = Some("replay-key".into());
    request.input_price = 0.05;
    let report = replayed(request).unwrap();

    let pass = report.runs[0].pass.as_ref().unwrap();
    let item = &pass.items[0];
    assert_eq!(
        (item.outcome, item.reason.as_str(), item.kept_lines, item.lines),
        (Some(Outcome::Distilled), "chunks", 13, 90)
    );
    let kept: Vec<_> = store().lines().skip(13).take(13).map(str::to_owned).collect();
    assert_eq!(
        item.replacement.as_ref().unwrap(),
        &format!(
            "[context-guard] Distilled the output of read src/store.rs: kept 13 of 90 lines (792 of 5.5k chars); the \
             rest was judged not needed for the answer. Full output: recall({{\"entryId\":\"e3\"}}).\n\
             [… 13 lines omitted (lines 201–213 of src/store.rs) …]\n\
             {}\n\
             [… 64 lines omitted (lines 227–290 of src/store.rs) …]",
            kept.join("\n")
        )
    );
    assert_eq!(
        (item.before_chars, pass.requests, pass.input_tokens, pass.cost_usd),
        (5_489, 1, 2_000_000, 0.1)
    );
    assert!(pass.sent_bytes > 5_489);

    let (head, body) = heard.recv().unwrap();
    assert!(head.starts_with("POST /v1/systemone "), "{head}");
    assert!(head.to_lowercase().contains("authorization: bearer replay-key\r\n"), "{head}");
    assert_eq!(body["model"], "jev-latest");
    assert!(!format!("{report:?}").contains("replay-key"));
}

#[test]
fn nothing_is_sent_without_a_grant() {
    let (url, heard) = service();
    let directory = TempDir::new().unwrap();
    let mut request = request(&directory, &reading_the_store());
    request.judge = url.parse().unwrap();
    let origin = url.trim_end_matches("/v1");
    let error = replayed(request).unwrap_err().to_string();
    assert_eq!(error, format!("nothing may be sent to {origin}; allow it with --allow-net {origin}"));
    assert!(heard.try_recv().is_err());
}

#[test]
fn a_service_that_cannot_be_reached_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("context-guard.json"), r#"{"minRunChars": 0}"#).unwrap();
    let mut request = request(&directory, &reading_the_store());
    request.judge = origin.parse().unwrap();
    request.allow = vec![origin.parse().unwrap()];
    let error = replayed(request).unwrap_err().to_string();
    assert!(error.starts_with(&format!("no question reached {origin}; ")), "{error}");
}

#[test]
fn a_key_that_no_header_can_carry_is_an_error_without_the_key() {
    let directory = TempDir::new().unwrap();
    let mut request = request(&directory, &reading_the_store());
    request.judge = "http://127.0.0.1:9".parse().unwrap();
    request.allow = vec!["http://127.0.0.1:9".parse().unwrap()];
    request.key = Some("s3cret\ns3cret".into());
    let error = format!("{:#}", replayed(request).unwrap_err());
    assert!(error.starts_with("CONTEXT_GUARD_KEY: ") && !error.contains("s3cret"), "{error}");
}

#[test]
fn a_judge_is_builtin_or_a_url() {
    assert_eq!("builtin".parse::<Judge>().unwrap(), Judge::Builtin);
    assert_eq!("none".parse::<Judge>().unwrap(), Judge::None);
    let judge: Judge = "https://api.typesafe.ai/v1".parse().unwrap();
    assert_eq!(judge.destination().unwrap().to_string(), "https://api.typesafe.ai");
    let errors = ["jev", "ftp://host", "https://"].map(|text| text.parse::<Judge>().unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r#"
    "jev" is no judge; write builtin, none, or the base URL of a System One service such as https://api.typesafe.ai/v1
    "ftp" is no scheme that the guard speaks; write https:// or http:// before the host
    "https://" is no origin (there is no host); write scheme://host or scheme://host:port
    "#);
}
