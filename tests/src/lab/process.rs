//! The processes of a laboratory: whatever has its home in the environment, so also what Pi's children started.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::print::LONGEST;

/// A process of a laboratory.
#[derive(Clone, Debug)]
pub struct Process {
    id: u32,
    /// Its words, separated by blanks.
    pub command: String,
}

impl Process {
    /// Sends a signal, named as `kill` names it (`STOP`).
    ///
    /// # Errors
    ///
    /// Fails when the process is gone.
    pub fn signal(&self, name: &str) -> Result<()> {
        signal(self.id, name)
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    ///
    /// Fails when it still lives after a minute.
    pub fn until_ended(&self) -> Result<()> {
        // A process that ended has no environment any more, also while nobody has waited for it.
        let environment = format!("/proc/{}/environ", self.id);
        until(|| Ok(fs::read(&environment).map_or(true, |text| text.is_empty())))
            .with_context(|| format!("{self:?} lives on"))
    }
}

/// Sends a signal to the process with that id.
pub(super) fn signal(id: u32, name: &str) -> Result<()> {
    // The shell's own, since a small system has no program of that name.
    let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {id}")).status()?;
    ensure!(status.success(), "process {id} took no {name}");
    Ok(())
}

/// The processes with this home in their environment.
pub(super) fn with_home(home: &Path) -> Result<Vec<Process>> {
    let variable = format!("PI_CODING_AGENT_DIR={}", home.display());
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("only Linux tells of its processes in /proc")? {
        let path = entry?.path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // One that ended meanwhile does not count.
        let (Ok(environment), Ok(command)) = (fs::read(path.join("environ")), fs::read(path.join("cmdline")))
        else {
            continue;
        };
        if environment.split(|&byte| byte == 0).any(|set| set == variable.as_bytes()) {
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(Process { id, command });
        }
    }
    Ok(found)
}

/// Waits until no process has this home in its environment.
pub(super) fn until_none_with_home(home: &Path) -> Result<()> {
    until(|| Ok(with_home(home)?.is_empty())).with_context(|| format!("orphans: {:#?}", with_home(home)))
}

/// Asks until the answer is yes: nothing tells of the end of a process that is not one's own child.
fn until(holds: impl Fn() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        ensure!(start.elapsed() < LONGEST, "waited for {LONGEST:?}");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
