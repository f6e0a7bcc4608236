//! Lines of the runner's protocol.

use std::collections::HashMap;
use std::io::BufReader;

use context_guard::guard::Guard;
use serde_json::value::RawValue;

use crate::contract::sessions::{Delta, RecallRequest, Verdict};
use crate::protocol;

/// Bytes that a line may have here.
const LIMIT: usize = 200;

/// Takes the bytes for a stream, which comes in parts of any size.
pub(crate) fn run(data: &[u8]) {
    let lines: Vec<Option<String>> = data
        .strip_suffix(b"\n")
        .unwrap_or(data)
        .split(|byte| *byte == b'\n')
        .map(|line| String::from_utf8(line.to_vec()).ok().filter(|line| line.len() <= LIMIT))
        .collect();
    let lines = if data.is_empty() { vec![] } else { lines };
    for size in [1, 7, 4_096] {
        assert_eq!(protocol::lines(BufReader::with_capacity(size, data), LIMIT), lines);
    }
    for line in protocol::lines(data, usize::MAX).into_iter().flatten() {
        message(&line);
    }
}

fn message(line: &str) {
    let (_, params) = match protocol::request(line) {
        Ok(request) => request,
        Err(response) => {
            // An id comes back as it was, also with the escape of half a character, which only JavaScript reads.
            let response: HashMap<&str, &RawValue> =
                serde_json::from_str(&response).expect("a response is JSON");
            let error: serde_json::Value =
                serde_json::from_str(response["error"].get()).expect("an error is JSON");
            assert!(error["message"].is_string());
            return;
        }
    };
    let Some(params) = params else { return };
    let mut guard = Guard::new();
    if let Ok(delta) = serde_json::from_str::<Delta>(params.get()) {
        // What is wrong with it is an error, and the guard goes on.
        if guard.update(delta.clone()).is_ok() {
            let again = serde_json::to_string(&delta).expect("a delta has a JSON form");
            assert_eq!(serde_json::from_str::<Delta>(&again).ok(), Some(delta));
        }
        guard.status();
    }
    if let Ok(request) = serde_json::from_str::<RecallRequest>(params.get()) {
        let _: Result<_, _> = guard.recall(request);
    }
    if let Ok(verdicts) = serde_json::from_str::<Vec<Verdict>>(params.get()) {
        assert!(guard.finish(verdicts, 0, false).is_err(), "no pass is under way");
    }
}
