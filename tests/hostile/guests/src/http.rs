//! Requests over `wasi:http`, one at a time and without any of the guard's restraint.

use crate::contract::classifier::Verdict;
use crate::contract::sessions::Reply;
use crate::contract::wasi::http::outgoing_handler;
use crate::contract::wasi::http::types::{
    Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
};

/// An answer of a server.
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Where a redirect leads.
    pub location: Option<String>,
    /// The body, as far as it is text.
    pub body: String,
}

/// Posts a body and waits for the answer. An error is the host's word for what it did not like.
pub fn post(url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Answer, String> {
    let fields = Fields::new();
    for (name, value) in headers {
        fields.append(name, value.as_bytes()).map_err(|error| format!("header {name}: {error:?}"))?;
    }
    let (scheme, rest) = url.split_once("://").ok_or("no scheme")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.into()),
    };
    let request = OutgoingRequest::new(fields);
    request
        .set_method(&Method::Post)
        .and_then(|()| request.set_scheme(Some(&scheme)))
        .and_then(|()| request.set_authority(Some(authority)))
        .and_then(|()| request.set_path_with_query(Some(path)))
        .map_err(|()| "an address that no request can have")?;
    let outgoing = request.body().map_err(|()| "no body")?;
    let future = outgoing_handler::handle(request, None).map_err(|code| format!("{code:?}"))?;
    let written = write(&outgoing, body);
    // A body that the host cut off cannot be finished; the response says why.
    let _ = written.and_then(|()| OutgoingBody::finish(outgoing, None).map_err(|code| format!("{code:?}")));
    future.subscribe().block();
    let response = future.get().ok_or("no response")?.map_err(|()| "taken twice")?;
    let response = response.map_err(|code| format!("{code:?}"))?;
    let status = response.status();
    let location = response.headers().get("location").into_iter().next();
    let location = location.map(|value| String::from_utf8_lossy(&value).into_owned());
    Ok(Answer { status, location, body: read(&response) })
}

fn write(body: &OutgoingBody, mut bytes: &[u8]) -> Result<(), String> {
    let stream = body.write().map_err(|()| "no stream")?;
    while !bytes.is_empty() {
        let (now, later) = bytes.split_at(bytes.len().min(4_096));
        stream.blocking_write_and_flush(now).map_err(|error| format!("{error:?}"))?;
        bytes = later;
    }
    Ok(())
}

fn read(response: &IncomingResponse) -> String {
    let mut bytes = vec![];
    let Ok(body) = response.consume() else { return String::new() };
    if let Ok(stream) = body.stream() {
        while let Ok(more) = stream.blocking_read(1 << 16) {
            bytes.extend(more);
        }
    }
    drop::<IncomingBody>(body);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Tells the test what became of a request, as the answer to a question.
pub fn told(id: u32, outcome: Result<Answer, String>) -> Verdict {
    let text = match outcome {
        Ok(Answer { status, body, .. }) => format!("{status} {body}"),
        Err(error) => error,
    };
    Verdict { id, reply: Reply::Answers(text), sent_bytes: 0, input_tokens: 0, cost_usd: 0.0 }
}
