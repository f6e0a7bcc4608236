//! The scripted servers: Node programs that take a free port and say which.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::installed::Installed;
use crate::contract::repository;

/// A server, ended when it is dropped.
pub(super) struct Server {
    child: Child,
    port: u64,
}

impl Server {
    /// Starts a script of `tests/lab` and waits until it listens.
    pub(super) fn start(
        installed: &Installed,
        script: &str,
        arguments: &[&OsStr],
        out: &Path,
    ) -> Result<Self> {
        let mut child = Command::new(&installed.node)
            .arg(repository().join("tests/lab").join(script))
            .args(arguments)
            .arg("--out")
            .arg(out)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{script} cannot be started"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let said: Value = serde_json::from_str(&line).with_context(|| format!("{script} said {line:?}"))?;
        let port = said
            .get("listening")
            .and_then(Value::as_u64)
            .with_context(|| format!("{script} said {line:?}"))?;
        Ok(Self { child, port })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Posts JSON and waits for the answer.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<()> {
        let port = u16::try_from(self.port).context("the port is no port")?;
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        let body = body.to_string();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: lab\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "{path} was answered with {answer:?}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that is gone already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
