//! Pi in a terminal, as a user has it: `script` makes one of two pipes.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::print::LONGEST;

/// A running Pi; its terminal is hung up when it is dropped.
pub struct Terminal {
    script: Child,
    keys: Option<ChildStdin>,
    incoming: Receiver<Vec<u8>>,
    /// What was written since the last text that was waited for.
    written: Vec<u8>,
}

impl Terminal {
    pub(super) fn start(pi: &Command) -> Result<Self> {
        let words: Vec<String> = std::iter::once(pi.get_program()).chain(pi.get_args()).map(quoted).collect();
        let mut command = Command::new("script");
        command.args(["-q", "-e", "-c"]).arg(format!("stty rows 40 cols 120 && exec {}", words.join(" ")));
        command.arg("/dev/null").env_clear().env("TERM", "xterm-256color");
        if let Some(directory) = pi.get_current_dir() {
            command.current_dir(directory);
        }
        command.envs(pi.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut script = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("`script` is missing; it is in util-linux or bsdutils")?;
        let keys = script.stdin.take();
        let (sender, incoming) = channel();
        if let Some(mut stdout) = script.stdout.take() {
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                    if sender.send(buffer.get(..length).unwrap_or_default().to_vec()).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { script, keys, incoming, written: Vec::new() })
    }

    /// Waits until a text has been written, colours and places left out.
    ///
    /// # Errors
    ///
    /// Fails when Pi ends or a minute passes; the message shows what was written instead.
    pub fn until(&mut self, text: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            let written = String::from_utf8_lossy(&self.written).into_owned();
            if written.contains(text) {
                self.written.clear();
                return Ok(());
            }
            match self.incoming.recv_timeout(LONGEST.saturating_sub(start.elapsed())) {
                Ok(bytes) => self.written.extend(bytes),
                Err(why) => bail!("expected {text:?}, but {why}\n{written}"),
            }
        }
    }

    /// Presses keys, as a terminal sends them.
    ///
    /// # Errors
    ///
    /// Fails when Pi has ended.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        let stream = self.keys.as_mut().context("the terminal is hung up")?;
        stream.write_all(keys.as_bytes()).and_then(|()| stream.flush()).context("Pi does not read")
    }

    /// Types a prompt.
    ///
    /// # Errors
    ///
    /// As [`Terminal::press`].
    pub fn enter(&mut self, prompt: &str) -> Result<()> {
        self.press(prompt)?;
        self.press("\r")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // With the end of `script` the terminal is gone, upon which Pi leaves.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// A word as the shell takes it.
fn quoted(word: &OsStr) -> String {
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}
