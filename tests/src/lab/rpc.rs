//! Pi in RPC mode: commands go in, records come out, dialogs are answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::print::LONGEST;
use super::process;

/// A running Pi, killed when it is dropped before it ended.
pub struct Rpc {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Value>,
    records: Vec<Value>,
    stderr: Arc<Mutex<String>>,
    sent: u32,
}

impl Rpc {
    pub(super) fn start(mut pi: Command, arguments: &[&str]) -> Result<Self> {
        let mut child = pi
            .args(["--mode", "rpc"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("Pi cannot be started")?;
        let stdin = child.stdin.take();
        let (sender, incoming) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let record = serde_json::from_str(&line).unwrap_or_else(|_| json!({ "not_json": line }));
                    if sender.send(record).is_err() {
                        break;
                    }
                }
            });
        }
        let stderr = Arc::new(Mutex::new(String::new()));
        if let Some(mut stream) = child.stderr.take() {
            let stderr = Arc::clone(&stderr);
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    if let Ok(mut text) = stderr.lock() {
                        text.push_str(&String::from_utf8_lossy(buffer.get(..length).unwrap_or_default()));
                    }
                }
            });
        }
        Ok(Self { child, stdin, incoming, records: Vec::new(), stderr, sent: 0 })
    }

    /// The number of records so far: a place in time for [`Rpc::until`].
    pub fn mark(&mut self) -> usize {
        self.records.extend(self.incoming.try_iter());
        self.records.len()
    }

    /// Waits for the first record at or after `mark` that fits.
    ///
    /// # Errors
    ///
    /// Fails when Pi ends or a minute pass; the message names what was expected and shows what came instead.
    pub fn until(&mut self, mark: usize, expected: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        let mut next = mark;
        loop {
            while let Some(record) = self.records.get(next) {
                if fits(record) {
                    return Ok(record.clone());
                }
                next += 1;
            }
            match self.incoming.recv_timeout(LONGEST.saturating_sub(start.elapsed())) {
                Ok(record) => self.records.push(record),
                Err(why) => bail!("expected {expected}, but {why}\n{}", self.evidence(mark)),
            }
        }
    }

    /// Waits until the guard's piece of the status bar reads `text`.
    ///
    /// # Errors
    ///
    /// As [`Rpc::until`].
    pub fn until_status(&mut self, mark: usize, text: &str) -> Result<()> {
        self.until(mark, &format!("the status {text:?}"), |record| status(record) == Some(text)).map(drop)
    }

    /// Waits until the guard's piece of the status bar says that one output was distilled.
    ///
    /// # Errors
    ///
    /// As [`Rpc::until`].
    pub fn until_saved(&mut self, mark: usize) -> Result<()> {
        self.until(mark, "a status like \"🛡 −4.2k · 1\"", |record| {
            status(record).is_some_and(|text| text.starts_with("🛡 −") && text.ends_with(" · 1"))
        })
        .map(drop)
    }

    /// Every text that the guard's piece of the status bar had since `mark`.
    pub fn statuses(&mut self, mark: usize) -> Vec<String> {
        self.mark();
        self.records.iter().skip(mark).filter_map(status).map(str::to_owned).collect()
    }

    /// Waits for a notification that contains `text`, and returns its level with the whole text.
    ///
    /// # Errors
    ///
    /// As [`Rpc::until`].
    pub fn until_notified(&mut self, mark: usize, text: &str) -> Result<(String, String)> {
        let record = self.until(mark, &format!("a notification with {text:?}"), |record| {
            record["method"] == "notify"
                && record["message"].as_str().is_some_and(|message| message.contains(text))
        })?;
        let field = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        Ok((field("notifyType"), field("message")))
    }

    /// Waits for a dialog and answers it.
    ///
    /// # Errors
    ///
    /// As [`Rpc::until`].
    pub fn confirm(&mut self, mark: usize, answer: bool) -> Result<Value> {
        let dialog = self.until(mark, "a dialog", |record| record["method"] == "confirm")?;
        self.write(&json!({ "type": "extension_ui_response", "id": dialog["id"], "confirmed": answer }))?;
        Ok(dialog)
    }

    /// Sends a command and returns its response.
    ///
    /// # Errors
    ///
    /// Fails when Pi refuses the command, and as [`Rpc::until`].
    pub fn send(&mut self, command: &str, fields: Value) -> Result<Value> {
        self.sent += 1;
        let id = format!("lab-{}", self.sent);
        let mut message: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
        message.insert("id".into(), json!(id));
        message.insert("type".into(), json!(command));
        let mark = self.mark();
        self.write(&Value::Object(message))?;
        let response = self.until(mark, &format!("the response to {command}"), |record| {
            record["type"] == "response" && record["id"] == json!(id)
        })?;
        if response["success"] != true {
            bail!("Pi refused {command}: {response}");
        }
        Ok(response)
    }

    /// Sends a prompt and waits until its run has settled; a command of an extension is over with its response.
    ///
    /// # Errors
    ///
    /// As [`Rpc::send`].
    pub fn prompt(&mut self, text: &str) -> Result<()> {
        let mark = self.mark();
        let response = self.send("prompt", json!({ "message": text }))?;
        if response["data"]["disposition"] != "handled" {
            self.until(mark, "the end of the run", |record| record["type"] == "agent_settled")?;
        }
        Ok(())
    }

    /// Whether a dialog was ever shown.
    pub fn asked(&mut self) -> bool {
        self.count(|record| record["method"] == "confirm") > 0
    }

    /// The number of records so far that fit.
    pub fn count(&mut self, fits: impl Fn(&Value) -> bool) -> usize {
        self.mark();
        self.records.iter().filter(|record| fits(record)).count()
    }

    /// The warnings that were shown since `mark`.
    pub fn warnings(&mut self, mark: usize) -> Vec<String> {
        self.mark();
        let warnings = self.records.iter().skip(mark).filter(|record| record["notifyType"] == "warning");
        warnings.filter_map(|record| record["message"].as_str()).map(str::to_owned).collect()
    }

    /// Sends Pi a signal, named as `kill` names it (`TERM`).
    ///
    /// # Errors
    ///
    /// Fails when Pi has ended and was waited for.
    pub fn signal(&self, name: &str) -> Result<()> {
        process::signal(self.child.id(), name)
    }

    /// Every failure that Pi reported of an extension.
    pub fn extension_errors(&mut self) -> Vec<Value> {
        self.mark();
        self.records.iter().filter(|record| record["type"] == "extension_error").cloned().collect()
    }

    /// Ends Pi by closing its input, and returns its exit code.
    ///
    /// # Errors
    ///
    /// Fails when Pi cannot be waited for.
    pub fn close(mut self) -> Result<Option<i32>> {
        drop(self.stdin.take());
        self.ended()
    }

    /// Waits for Pi's end, and returns its exit code; none when a signal ended it.
    ///
    /// # Errors
    ///
    /// Fails when Pi is still there after a minute.
    pub fn ended(mut self) -> Result<Option<i32>> {
        let mark = self.mark();
        // The output ends with Pi; a Pi that stays makes this fail with what it last said.
        let start = Instant::now();
        while self.incoming.recv_timeout(LONGEST.saturating_sub(start.elapsed())).is_ok() {}
        if start.elapsed() >= LONGEST {
            bail!("Pi did not end\n{}", self.evidence(mark));
        }
        Ok(self.child.wait()?.code())
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the input of Pi is closed")?;
        writeln!(stdin, "{message}").context("Pi does not read")
    }

    fn evidence(&self, mark: usize) -> String {
        let records: Vec<String> = self.records.iter().skip(mark).map(Value::to_string).collect();
        let stderr = self.stderr.lock().map(|text| text.clone()).unwrap_or_default();
        format!("--- records since\n{}\n--- stderr\n{stderr}", records.join("\n"))
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        // A Pi that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(record: &Value) -> Option<&str> {
    let ours = record["method"] == "setStatus" && record["statusKey"] == "context-guard";
    ours.then(|| record["statusText"].as_str()).flatten()
}
