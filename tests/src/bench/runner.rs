//! The runner behind its pipe, as a host drives it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Hooks;

/// A running runner. It ends when it is dropped.
#[derive(Debug)]
pub struct Runner {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Runner {
    /// Starts the runner with no settings but the origins it may reach.
    ///
    /// # Errors
    ///
    /// Fails where the binary is missing or does not start.
    pub fn start(binary: &Path, allowed: &str) -> Result<Self> {
        let mut child = Command::new(binary)
            .arg("serve")
            .env_clear()
            .env("PI_CONTEXT_GUARD_CONFIG", "/nonexistent/context-guard.json")
            .env("PI_CONTEXT_GUARD_ALLOW", allowed)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start; make build makes it", binary.display()))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("the runner has no output")?);
        Ok(Self { child, input, output })
    }

    /// Returns the id of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Hooks for Runner {
    /// The time is that from writing the line to reading the answer.
    fn call(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        let line =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string() + "\n";
        let started = Instant::now();
        let input = self.input.as_mut().context("the runner has no input")?;
        input.write_all(line.as_bytes())?;
        input.flush()?;
        loop {
            let mut answer = String::new();
            if self.output.read_line(&mut answer)? == 0 {
                bail!("the runner ended during {method}");
            }
            let took = started.elapsed();
            let mut answer: Value = serde_json::from_str(&answer)?;
            if answer.get("id").is_none() {
                continue;
            }
            if let Some(error) = answer.get("error") {
                bail!("{method}: {error}");
            }
            return Ok((answer["result"].take(), took));
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // It leaves at the end of its input.
        self.input.take();
        let _ = self.child.wait();
    }
}
