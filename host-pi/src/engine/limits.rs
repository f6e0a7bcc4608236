//! All that the guest may use up, in one table.

use std::time::Duration;

/// Bounds on one runner and its guest. The defaults are generous for real sessions (the largest known has some
/// thousand entries) and keep a guest gone wrong from harming the agent beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Linear memory of one instance, in bytes; growing past it traps.
    pub memory_bytes: usize,
    /// Entries of one instance's function table, which does not grow at run time.
    pub table_elements: usize,
    /// Handles (requests, streams, pollables, …) of one instance; a pass needs some ten per request in flight.
    pub handles: usize,
    /// What the guest may hand to the host in one call, in bytes: more traps. The questions of a pass are the most.
    pub lifted_bytes: usize,
    /// Edits of one pass; an answer with more is refused whole.
    pub edits: usize,
    /// Time for one call into the guest, except `ask`; a new instance, where one is needed, included.
    pub call: Duration,
    /// Time that `ask` may take beyond its own budget, which the guest keeps by itself.
    pub ask_grace: Duration,
    /// How often a running guest gives way, so that the time limits can act.
    pub tick: Duration,
    /// Traps within `trap_window` that switch the guard off.
    pub traps: usize,
    /// See `traps`.
    pub trap_window: Duration,
    /// Requests in one `ask`, retries included.
    pub requests: u32,
    /// Body of one request, in bytes.
    pub request_bytes: u64,
    /// Body of one response, in bytes.
    pub response_bytes: u64,
    /// Time to open a connection, TLS included.
    pub connect: Duration,
    /// Time from sending a request to the head of its response, where the guest asks for none.
    pub first_byte: Duration,
    /// How long an unused connection stays open.
    pub idle: Duration,
    /// One line of the protocol, in bytes.
    pub line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            table_elements: 100_000,
            handles: 10_000,
            lifted_bytes: 64 << 20,
            edits: 20_000,
            call: Duration::from_secs(4),
            ask_grace: Duration::from_secs(1),
            tick: Duration::from_millis(10),
            traps: 3,
            trap_window: Duration::from_secs(600),
            requests: 1000,
            request_bytes: 8 << 20,
            response_bytes: 4 << 20,
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(90),
            line_bytes: 256 << 20,
        }
    }
}

impl Limits {
    /// Returns what each limit is called and its value, for people.
    pub fn table(&self) -> Vec<(&'static str, String)> {
        // Taken apart, so that a new limit cannot be forgotten here.
        let Self {
            memory_bytes,
            table_elements,
            handles,
            lifted_bytes,
            edits,
            call,
            ask_grace,
            tick,
            traps,
            trap_window,
            requests,
            request_bytes,
            response_bytes,
            connect,
            first_byte,
            idle,
            line_bytes,
        } = *self;
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        let seconds = |time: Duration| format!("{} s", time.as_secs_f64());
        vec![
            ("guest memory", mib(memory_bytes as u64)),
            ("guest table", table_elements.to_string()),
            ("guest handles", handles.to_string()),
            ("guest's answer to a call", mib(lifted_bytes as u64)),
            ("edits per pass", edits.to_string()),
            ("time per call", seconds(call)),
            ("a running guest gives way", format!("every {}", seconds(tick))),
            ("time per ask", format!("its budget + {}", seconds(ask_grace))),
            ("traps until off", format!("{} in {}", traps, seconds(trap_window))),
            ("requests per pass", requests.to_string()),
            ("request body", mib(request_bytes)),
            ("response body", mib(response_bytes)),
            ("time to connect", seconds(connect)),
            ("time to a response's head", seconds(first_byte)),
            ("idle connection", seconds(idle)),
            ("protocol line", mib(line_bytes as u64)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a constant of the extension, in milliseconds.
    fn extension(name: &str) -> Duration {
        let source = include_str!("../../extension/limits.ts");
        let value = source.split_once(&format!("const {name} = ")).unwrap().1.split(';').next().unwrap();
        Duration::from_millis(value.replace('_', "").parse().unwrap())
    }

    #[test]
    fn the_table_of_the_documentation_is_this_one() {
        let page = include_str!("../../../docs/SECURITY.md");
        let table = page.split("`context-guard inspect` prints the limits:").nth(1).unwrap();
        let rows = table.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2);
        let told: Vec<(&str, String)> = rows
            .map(|row| {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                (cells[1], cells[2].to_owned())
            })
            .collect();
        assert_eq!(told, Limits::default().table());
    }

    #[test]
    fn the_extension_waits_longer_than_the_guest_may_take() {
        let Limits { call, ask_grace, .. } = Limits::default();
        // A call can find the guest busy with one other.
        assert!(extension("ORDINARY") > 2 * call);
        // update and begin
        assert!(extension("PASS_BEGIN") > 2 * call);
        // finish can find the guest busy as well.
        assert!(extension("PASS_GRACE") > ask_grace + 2 * call);
    }
}
