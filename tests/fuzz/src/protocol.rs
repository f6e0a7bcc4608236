//! The runner's readers of lines and messages: its very files, since the crate as a whole brings wasmtime along, which
//! would have to be compiled for the fuzzer as well.

#[path = "../../../host-pi/src/protocol/lines.rs"]
mod lines;
#[expect(dead_code, reason = "only what reads is called here")]
#[path = "../../../host-pi/src/protocol/message.rs"]
mod message;

use serde_json::value::RawValue;

/// Returns the lines of a stream that can be read, by the runner's rules.
pub(crate) fn lines(mut stream: impl std::io::BufRead, limit: usize) -> Vec<Option<String>> {
    let mut found = vec![];
    while let Some(line) = lines::next(&mut stream, limit).unwrap() {
        found.push(line.ok());
    }
    found
}

/// Reads a message; its method and parameters, or the response that says what was wrong.
pub(crate) fn request(line: &str) -> Result<(String, Option<Box<RawValue>>), String> {
    match message::Request::read(line) {
        Ok(request) => Ok((request.method, request.params)),
        Err((id, error)) => Err(message::response(id.as_deref(), &Err(error))),
    }
}
