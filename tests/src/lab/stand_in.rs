//! Runners that are none, or misbehave on cue.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use tempfile::TempDir;

use super::installed::Installed;
use crate::contract::repository;

/// An executable in place of the runner, removed when it is dropped.
pub struct StandIn(TempDir);

impl StandIn {
    /// A file with that content.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub fn file(content: impl AsRef<[u8]>, executable: bool) -> Result<Self> {
        Self(TempDir::new()?).holding(content, executable)
    }

    /// The real runner behind `lab/fault-runner.mjs`, which describes cues and faults. `once` has only the first process
    /// that comes to the cue misbehave.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written, or when Node or the runner is missing.
    pub fn faulty(cue: &str, fault: &str, once: bool) -> Result<Self> {
        let Installed { node, runner, .. } = Installed::find(None)?;
        let script = repository().join("tests/lab/fault-runner.mjs");
        let stand_in = Self(TempDir::new()?);
        let once = if once {
            format!("--once '{}'", stand_in.0.path().join("done").display())
        } else {
            String::new()
        };
        let text = format!(
            "#!/bin/sh\nexec '{}' '{}' --binary '{}' --at '{cue}' --fault {fault} {once} \"$@\"\n",
            node.display(),
            script.display(),
            runner.display(),
        );
        stand_in.holding(text, true)
    }

    fn holding(self, content: impl AsRef<[u8]>, executable: bool) -> Result<Self> {
        fs::write(self.path(), content)?;
        fs::set_permissions(self.path(), fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))?;
        Ok(self)
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.0.path().join("context-guard")
    }
}
