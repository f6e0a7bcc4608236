//! Pi for one answer: in print mode, or with a command of its own.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Longest life of a Pi that a test started.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// What a run printed.
#[derive(Debug)]
pub struct Printed {
    /// Pi's exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The answer.
    pub stdout: String,
    /// What Pi and its extensions reported.
    pub stderr: String,
}

pub(super) fn run(mut pi: Command, longest: Duration) -> Result<Printed> {
    let mut child = pi
        // Pi reads a prompt from a pipe to its end.
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("Pi cannot be started")?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let (Ok(stdout), Ok(stderr)) = (out.recv_timeout(longest), err.recv_timeout(longest)) else {
        child.kill()?;
        bail!("Pi did not end within {longest:?}: {pi:?}");
    };
    Ok(Printed { code: child.wait()?.code(), stdout, stderr })
}

fn reader(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is all there is.
            let _ = stream.read_to_end(&mut bytes);
        }
        // A test that gave up does not listen any more.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
