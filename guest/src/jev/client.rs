//! The transport over `wasi:http`: the only code of the guard that reaches out.
//!
//! It holds no credential, follows no redirect, and never waits for one request alone: uploads, responses
//! and the clock are polled together. Outside a component its calls panic, so nothing native may call it.

use crate::contract::sessions::Budget;
use crate::contract::wasi::clocks::monotonic_clock;
use crate::contract::wasi::http::outgoing_handler;
use crate::contract::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method, OutgoingBody,
    OutgoingRequest, RequestOptions, Scheme, http_error_code,
};
use crate::contract::wasi::io::poll::{self, Pollable};
use crate::contract::wasi::io::streams::{InputStream, OutputStream, StreamError};

use super::schedule::{self, End, Exchange, Transport};
use super::system_one::{MAX_RESPONSE, retry_after};

const NANOS_PER_MS: u64 = 1_000_000;

/// Most bytes taken from a response at once.
const READ: u64 = 64 * 1024;

/// Posts every body to `url` and returns what became of each, in order.
pub fn post(url: &str, headers: &[(String, String)], bodies: &[String], budget: Budget) -> Vec<Exchange> {
    let began = monotonic_clock::now();
    let ends = u64::from(budget.timeout_ms).saturating_mul(NANOS_PER_MS).saturating_add(began);
    schedule::run(&mut Client { url, headers, bodies, began, ends }, bodies.len(), budget)
}

struct Client<'a> {
    url: &'a str,
    headers: &'a [(String, String)],
    bodies: &'a [String],
    /// In nanoseconds of the monotonic clock, as `ends`.
    began: u64,
    ends: u64,
}

/// A request under way.
///
/// The host traps when a resource is dropped before one that came out of it. Fields drop in the order in
/// which they stand here and in the structs below (children first), bindings of a pattern in the reverse
/// order: so these are moved as a whole, and taken apart only to be dropped one by one.
struct Task<'a> {
    upload: Option<Upload<'a>>,
    download: Download,
    sent_bytes: u64,
}

struct Upload<'a> {
    writable: Pollable,
    stream: OutputStream,
    body: OutgoingBody,
    rest: &'a [u8],
    flushing: bool,
}

enum Download {
    /// The request could not even be made.
    None(End),
    Head(Head),
    Body(Body),
    Over,
}

struct Head {
    arrived: Pollable,
    future: FutureIncomingResponse,
}

struct Body {
    readable: Pollable,
    stream: InputStream,
    _body: IncomingBody,
    _response: IncomingResponse,
    status: u16,
    bytes: Vec<u8>,
}

impl<'a> Transport for Client<'a> {
    type Task = Task<'a>;

    fn now(&mut self) -> u64 {
        monotonic_clock::now().saturating_sub(self.began) / NANOS_PER_MS
    }

    fn start(&mut self, question: usize) -> Task<'a> {
        let mut task = match self.send(&self.bodies[question]) {
            Ok((head, upload)) => {
                Task { upload: Some(upload), download: Download::Head(head), sent_bytes: 0 }
            }
            Err(end) => Task { upload: None, download: Download::None(end), sent_bytes: 0 },
        };
        task.write();
        task
    }

    fn wait(&mut self, tasks: &[&Task<'a>], until: u64, ready: &mut Vec<usize>) {
        ready.extend((0..tasks.len()).filter(|&at| tasks[at].pollables().next().is_none()));
        if !ready.is_empty() {
            return;
        }
        let until = until.saturating_mul(NANOS_PER_MS).saturating_add(self.began);
        let alarm = monotonic_clock::subscribe_instant(until);
        let (owners, mut pollables): (Vec<usize>, Vec<&Pollable>) = tasks
            .iter()
            .enumerate()
            .flat_map(|(at, task)| task.pollables().map(move |pollable| (at, pollable)))
            .unzip();
        pollables.push(&alarm);
        // The alarm comes last and has no owner.
        ready.extend(poll::poll(&pollables).iter().filter_map(|&at| owners.get(at as usize)));
    }

    fn advance(&mut self, task: &mut Task<'a>) -> Option<End> {
        task.write();
        task.read()
    }

    fn sent_bytes(&self, task: &Task<'a>) -> u64 {
        task.sent_bytes
    }
}

impl<'a> Client<'a> {
    fn send(&self, body: &'a str) -> Result<(Head, Upload<'a>), End> {
        let headers = Fields::new();
        for (name, value) in super::system_one::headers(self.headers, body.len()) {
            // A header that the host will not have is the host's to set.
            let _ = headers.append(&name, &value);
        }
        let (scheme, rest) = self.url.split_once("://").ok_or(End::Failed)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let scheme = match scheme {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            other => Scheme::Other(other.to_owned()),
        };
        let request = OutgoingRequest::new(headers);
        let set = request
            .set_method(&Method::Post)
            .and_then(|()| request.set_scheme(Some(&scheme)))
            .and_then(|()| request.set_authority(Some(authority)))
            .and_then(|()| request.set_path_with_query(Some(path)));
        set.map_err(|()| End::Failed)?;
        let outgoing = request.body().map_err(|()| End::Failed)?;
        // Sent first, since the host reads the body while it is written.
        let future =
            outgoing_handler::handle(request, Some(self.options())).map_err(|code| end_of(&code).0)?;
        let stream = outgoing.write().map_err(|()| End::Failed)?;
        let head = Head { arrived: future.subscribe(), future };
        let writable = stream.subscribe();
        Ok((head, Upload { writable, stream, body: outgoing, rest: body.as_bytes(), flushing: false }))
    }

    /// Lets the host give up by itself, too, at the latest with the deadline.
    fn options(&self) -> RequestOptions {
        let left = Some(self.ends.saturating_sub(monotonic_clock::now()));
        let options = RequestOptions::new();
        // A host that knows no such timer relies on the guest's deadline.
        let _ = options.set_connect_timeout(left);
        let _ = options.set_first_byte_timeout(left);
        let _ = options.set_between_bytes_timeout(left);
        options
    }
}

impl Task<'_> {
    /// Returns what the task waits for; nothing if it is over.
    fn pollables(&self) -> impl Iterator<Item = &Pollable> {
        let download = match &self.download {
            Download::Head(head) => Some(&head.arrived),
            Download::Body(body) => Some(&body.readable),
            Download::None(_) | Download::Over => None,
        };
        let upload = self.upload.as_ref().filter(|_| download.is_some());
        download.into_iter().chain(upload.map(|upload| &upload.writable))
    }

    /// Writes as much of the request's body as the host takes now.
    fn write(&mut self) {
        let Some(upload) = &mut self.upload else { return };
        let before = upload.rest.len();
        let progress = upload.write();
        self.sent_bytes += (before - upload.rest.len()) as u64;
        match progress {
            Ok(false) => {}
            Ok(true) => {
                if let Some(upload) = self.upload.take() {
                    upload.finish();
                }
            }
            // The response tells why.
            Err(_) => self.upload = None,
        }
    }

    fn read(&mut self) -> Option<End> {
        loop {
            match std::mem::replace(&mut self.download, Download::Over) {
                Download::None(end) => return Some(end),
                Download::Over => return Some(End::Failed),
                Download::Head(head) => match head.future.get() {
                    None => {
                        self.download = Download::Head(head);
                        return None;
                    }
                    Some(Ok(Ok(response))) => match opened(response) {
                        Ok(body) => self.download = Download::Body(body),
                        Err(end) => return Some(end),
                    },
                    Some(Ok(Err(code))) => return Some(self.broken(&code)),
                    Some(Err(())) => return Some(End::Failed),
                },
                Download::Body(mut body) => match body.stream.read(READ) {
                    Ok(bytes) if bytes.is_empty() => {
                        self.download = Download::Body(body);
                        return None;
                    }
                    Ok(bytes) if body.bytes.len() + bytes.len() > MAX_RESPONSE => return Some(End::Failed),
                    Ok(bytes) => {
                        body.bytes.extend_from_slice(&bytes);
                        self.download = Download::Body(body);
                    }
                    Err(StreamError::Closed) => {
                        let bytes = std::mem::take(&mut body.bytes);
                        return Some(End::Response { status: body.status, retry_after: None, body: bytes });
                    }
                    Err(StreamError::LastOperationFailed(error)) => {
                        let code = http_error_code(&error);
                        return Some(code.map_or(End::Disconnected, |code| self.broken(&code)));
                    }
                },
            }
        }
    }

    fn broken(&mut self, code: &ErrorCode) -> End {
        let (end, left) = end_of(code);
        if !left {
            self.sent_bytes = 0;
        }
        end
    }
}

impl Upload<'_> {
    /// Tells whether all is written and on its way.
    fn write(&mut self) -> Result<bool, StreamError> {
        loop {
            let room = usize::try_from(self.stream.check_write()?).unwrap_or(usize::MAX);
            if room == 0 {
                return Ok(false);
            }
            if self.flushing {
                return Ok(true);
            }
            let (now, later) = self.rest.split_at(room.min(self.rest.len()));
            self.stream.write(now)?;
            self.rest = later;
            if later.is_empty() {
                self.stream.flush()?;
                self.flushing = true;
            }
        }
    }

    fn finish(self) {
        // One by one, since the body may be finished only after its stream is gone.
        let Self { writable, stream, body, .. } = self;
        drop(writable);
        drop(stream);
        // If it fails, the response tells why.
        let _ = OutgoingBody::finish(body, None);
    }
}

/// Opens the body of a response; an end where nobody needs the body.
fn opened(response: IncomingResponse) -> Result<Body, End> {
    let status = response.status();
    if !(200..300).contains(&status) {
        let wish = response.headers().get("retry-after");
        let retry_after = wish.first().and_then(|value| retry_after(value));
        return Err(End::Response { status, retry_after, body: Vec::new() });
    }
    let body = response.consume().map_err(|()| End::Failed)?;
    let stream = body.stream().map_err(|()| End::Failed)?;
    let readable = stream.subscribe();
    Ok(Body { readable, stream, _body: body, _response: response, status, bytes: Vec::new() })
}

/// Returns how a request ends with this error, and whether any of it can have left.
fn end_of(code: &ErrorCode) -> (End, bool) {
    match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => (End::Denied, false),
        ErrorCode::DnsTimeout
        | ErrorCode::DnsError(_)
        | ErrorCode::DestinationUnavailable
        | ErrorCode::ConnectionRefused
        | ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionLimitReached => (End::Disconnected, false),
        ErrorCode::DestinationNotFound
        | ErrorCode::DestinationIpUnroutable
        | ErrorCode::TlsProtocolError
        | ErrorCode::TlsCertificateError
        | ErrorCode::TlsAlertReceived(_)
        | ErrorCode::HttpRequestMethodInvalid
        | ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestUriTooLong => (End::Failed, false),
        ErrorCode::ConnectionTerminated
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseIncomplete
        | ErrorCode::HttpResponseTimeout
        | ErrorCode::HttpProtocolError
        | ErrorCode::InternalError(_) => (End::Disconnected, true),
        _ => (End::Failed, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b42_a_refusal_by_the_permission_is_told_apart_and_sends_nothing() {
        assert_eq!(end_of(&ErrorCode::HttpRequestDenied), (End::Denied, false));
        assert_eq!(end_of(&ErrorCode::DestinationIpProhibited), (End::Denied, false));
    }

    #[test]
    fn only_a_reason_that_may_pass_is_worth_a_retry() {
        assert_eq!(end_of(&ErrorCode::ConnectionRefused), (End::Disconnected, false));
        assert_eq!(end_of(&ErrorCode::ConnectionTerminated), (End::Disconnected, true));
        assert_eq!(end_of(&ErrorCode::TlsCertificateError), (End::Failed, false));
    }
}
