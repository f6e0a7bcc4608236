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

/// Finds every fifth part needed, and no output as a whole.
fn answer(request: &Value) -> String {
    let questions = request.get("questions").and_then(Value::as_object).into_iter().flatten();
    let answers: Map<String, Value> = questions
        .enumerate()
        .map(|(at, (id, question))| {
            let options = question.get("criteria").and_then(Value::as_object);
            let answer = match (question.get("type").and_then(Value::as_str), options) {
                (Some("choice"), Some(options)) => {
                    let choice = options.keys().next();
                    json!({"type": "choice", "choice": choice, "probabilities": {}})
                }
                _ => json!({"type": "noul", "noul": if at % 5 == 0 { 0.9 } else { 0.02 }}),
            };
            (id.clone(), answer)
        })
        .collect();
    json!({"answers": answers, "usage": {"input_tokens": 8_000, "output_tokens": 40}}).to_string()
}
