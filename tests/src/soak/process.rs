//! What a process holds, as Linux tells it.

use std::fs;

use anyhow::{Context, Result};

/// What a process holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Memory that is in use, in kilobytes.
    pub memory_kb: u64,
    /// Open files, pipes and connections.
    pub handles: u64,
    /// Threads.
    pub threads: u64,
}

impl Holding {
    /// Looks at a process.
    ///
    /// # Errors
    ///
    /// Fails where it has ended, and on systems without `/proc`.
    pub fn of(process: u32) -> Result<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status"))
            .context("only Linux tells what a process holds")?;
        let figure = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            number.with_context(|| format!("/proc/{process}/status has no {name}"))
        };
        let handles = fs::read_dir(format!("/proc/{process}/fd"))?.count() as u64;
        Ok(Self { memory_kb: figure("VmRSS")?, handles, threads: figure("Threads")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_is_a_handle() {
        let id = std::process::id();
        let before = Holding::of(id).unwrap();
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let after = Holding::of(id).unwrap();
        assert!(before.memory_kb > 0 && before.threads > 0);
        // Other tests of this process open and close some as well.
        assert!(after.handles >= before.handles + files.len() as u64 - 20, "{before:?} {after:?}");
    }
}
