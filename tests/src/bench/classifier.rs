//! A classifier on loopback, in this process: it speaks System One and takes as long as it is told.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

/// Where a fake classifier listens. Its threads live as long as the process.
#[derive(Debug)]
pub struct Classifier {
    origin: String,
}

impl Classifier {
    /// Starts one whose answers take that long each, however many are asked for at once.
    ///
    /// # Errors
    ///
    /// Fails where nothing may listen on loopback.
    pub fn start(takes: Duration) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("loopback")?;
        let origin = format!("http://{}", listener.local_addr()?);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // A connection that breaks concerns only its own request, which then fails.
                thread::spawn(move || serve(connection, takes));
            }
        });
        Ok(Self { origin })
    }

    /// Such as `http://127.0.0.1:40123`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The service as a `pass` or an `ask` names it.
    pub fn service(&self) -> Value {
        json!({
            "api": "typesafe-system-one", "base_url": format!("{}/v1", self.origin), "model": "jev", "headers": [],
            "input_price": 0.0,
        })
    }
}

fn serve(connection: TcpStream, takes: Duration) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut input = BufReader::new(connection.try_clone()?);
    let mut output = connection;
    while let Some(body) = body(&mut input)? {
        thread::sleep(takes);
        let answer = answer(&serde_json::from_slice(&body)?);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        output.write_all((head + &answer).as_bytes())?;
    }
    Ok(())
}

/// Reads a request and returns its body; none at the end of the connection.
fn body(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(body))
}

fn answer(request: &Value) -> String {
    let answers = answers(request);
    json!({"answers": answers, "usage": {"input_tokens": 8_000, "output_tokens": 40}}).to_string()
}

/// Answers a request: of parts and items every fifth is needed, no output as a whole, and of choices the last is taken.
///
/// An answer has the type of its question, which is `noul` on the wire and `bool` within the guard.
fn answers(request: &Value) -> Map<String, Value> {
    let questions = request.get("questions").and_then(Value::as_object).into_iter().flatten();
    let answer = |(at, (id, question)): (usize, (&String, &Value))| {
        let kind = question.get("type").and_then(Value::as_str).unwrap_or_default();
        let options = question.get("criteria").and_then(Value::as_object);
        let p = if at % 5 == 4 { 0.9 } else { 0.02 };
        let answer = match (kind, options) {
            ("choice", Some(options)) => choice(options),
            ("noul", _) => json!({"type": "noul", "noul": p}),
            _ => json!({"type": kind, "probability": p}),
        };
        (id.clone(), answer)
    };
    questions.enumerate().map(answer).collect()
}

fn choice(options: &Map<String, Value>) -> Value {
    let chosen = options.keys().next_back();
    let others = 0.1 / options.len().saturating_sub(1).max(1) as f64;
    let p = |option| if Some(option) == chosen { 0.9 } else { others };
    let probabilities: Map<String, Value> =
        options.keys().map(|option| (option.clone(), p(option).into())).collect();
    json!({"type": "choice", "choice": chosen, "probabilities": probabilities})
}

/// Answers the questions of an inquiry at once, as the verdicts that `finish` takes.
pub fn verdicts(inquiry: &Value) -> Value {
    let questions = inquiry["questions"].as_array().into_iter().flatten();
    let verdict = |question: &Value| {
        let body = question["body"].as_str().unwrap_or_default();
        let answers = answers(&serde_json::from_str(body).unwrap_or_default());
        json!({
            "id": question["id"], "reply": {"Answers": Value::from(answers).to_string()}, "sent_bytes": body.len(),
            "input_tokens": 8_000, "cost_usd": 0.0,
        })
    };
    questions.map(verdict).collect()
}
