//! JSON-RPC messages, both ways.

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// A call, or without an ID a notification.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) method: String,
    pub(super) params: Option<Box<RawValue>>,
}

/// Why a call failed, as the protocol says it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Error {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Data {
    kind: &'static str,
}

/// What a call came to: its result, already written.
pub(super) type Answer = Result<Box<RawValue>, Error>;

impl Error {
    pub(super) fn parse(message: impl ToString) -> Self {
        Self { code: -32700, message: message.to_string(), data: None }
    }

    pub(super) fn request(message: impl ToString) -> Self {
        Self { code: -32600, message: message.to_string(), data: None }
    }

    pub(super) fn method(name: &str, known: &[&str]) -> Self {
        let message = format!("there is no method {name:?}; there are {}", known.join(", "));
        Self { code: -32601, message, data: None }
    }

    pub(super) fn params(message: impl ToString) -> Self {
        Self { code: -32602, message: message.to_string(), data: None }
    }

    pub(super) fn other(message: impl ToString) -> Self {
        Self::of_kind(-32003, "other", message)
    }

    pub(super) fn of_kind(code: i32, kind: &'static str, message: impl ToString) -> Self {
        Self { code, message: message.to_string(), data: Some(Data { kind }) }
    }
}

impl Request {
    /// Reads a line. On an error there may still be an ID to answer to.
    pub(super) fn read(line: &str) -> Result<Self, (Option<Box<RawValue>>, Error)> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object with jsonrpc, id, method and params; batches are not read")]
        struct Loose<'a> {
            jsonrpc: Option<&'a str>,
            #[serde(borrow)]
            id: Option<&'a RawValue>,
            method: Option<String>,
            #[serde(borrow)]
            params: Option<&'a RawValue>,
        }
        let loose: Loose<'_> = match serde_json::from_str(line) {
            Ok(loose) => loose,
            Err(error) if error.is_data() => {
                return Err((None, Error::request(format!("not a request: {error}"))));
            }
            Err(error) => return Err((None, Error::parse(format!("not JSON: {error}")))),
        };
        let id = loose.id.map(ToOwned::to_owned);
        if loose.jsonrpc != Some("2.0") {
            return Err((id, Error::request("not JSON-RPC 2.0: \"jsonrpc\":\"2.0\" is missing")));
        }
        if id.as_deref().is_some_and(|id| id.get().starts_with(['{', '[', 't', 'f'])) {
            return Err((None, Error::request("an id is a text, a number or null")));
        }
        let Some(method) = loose.method else { return Err((id, Error::request("\"method\" is missing"))) };
        Ok(Self { id, method, params: loose.params.map(ToOwned::to_owned) })
    }
}

/// Writes the response to a call, with its line end.
pub(super) fn response(id: Option<&RawValue>, answer: &Answer) -> String {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a Error>,
    }
    line(&Response { jsonrpc: "2.0", id, result: answer.as_deref().ok(), error: answer.as_ref().err() })
}

/// Writes the notification that a pass begins to ask.
pub(super) fn judging(questions: usize, timeout_ms: u32) -> String {
    let params = serde_json::json!({"questions": questions, "timeout_ms": timeout_ms});
    line(&serde_json::json!({"jsonrpc": "2.0", "method": "judging", "params": params}))
}

/// Writes a result.
pub(super) fn result(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(Error::other)
}

fn line(message: &impl Serialize) -> String {
    // Nothing in these messages can fail to be written: all their keys are texts.
    let mut line = serde_json::to_string(message).unwrap_or_default();
    line.push('\n');
    line
}
