//! Session files: read by the runner, told to the guard, and judged.

use crate::contract::sessions::Phase;
use crate::contract::types::{CacheScheme, ThinkingBinding};
use crate::pi::{Answering, Host, Passing};

/// Takes the bytes for a session file and runs some passes on it.
pub(crate) fn run(data: &[u8]) {
    let Some(mut host) = Host::open(data) else { return };
    host.configure(
        r#"{"exchangeBreakEven":false,"keepRecentExchanges":0,"minRunChars":0,"midRunBatchChars":0}"#,
        None,
    );
    let pass = |phase, answering| Passing {
        phase,
        cache: CacheScheme::Other,
        thinking: ThinkingBinding::Unbound,
        answering,
        timed_out: false,
    };
    host.request(0, false);
    host.pass(&pass(Phase::RunEnd, Answering::Builtin));
    host.pass(&pass(Phase::MidRun, Answering::Wanted(vec![0.05, 0.9])));
    host.pass(&pass(Phase::RunEnd, Answering::Wanted(vec![0.05])));
    host.report();
}
