//! What happens to each request of the guest.

use super::client::{Client, Failed};
use super::credential::Scope;
use super::origin::{self, Origin, Scheme};
use super::permission::{Permission, State, VARIABLE};
use crate::engine::Limits;
use crate::log;
use http::header::{AUTHORIZATION, COOKIE, HOST, SET_COOKIE};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use url::Url;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpHooks,
};

type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Answer = Result<(Response<WasiBody>, Io), Error>;

/// The gate as one instance meets it.
pub(crate) struct Hooks {
    /// Without one, nothing leaves.
    open: Option<Open>,
    refusals: Refusals,
    sent: Sent,
}

struct Open {
    permission: Arc<RwLock<Permission>>,
    client: Arc<Client>,
    scope: Option<Scope>,
    limits: Arc<Limits>,
    requests: u32,
}

/// Why the gate refused, for the user: the first reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals(Arc<Mutex<Option<String>>>);

/// What left, by request: body bytes handed to the connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<u64>>>);

/// A request that may leave, as it will.
struct Departure {
    request: Request<WasiBody>,
    client: Arc<Client>,
    limits: Arc<Limits>,
    proxy: Option<hyper_util::client::proxy::matcher::Intercept>,
}

impl Refusals {
    /// Returns the sentence, if there was a refusal.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn add(&self, sentence: String) {
        log::line(format_args!("refused: {sentence}"));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(sentence);
    }
}

impl Sent {
    /// Returns the bytes of each request of which anything left, in the order in which they were made.
    pub(crate) fn by_request(&self) -> Vec<u64> {
        let sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.iter().copied().filter(|bytes| *bytes > 0).collect()
    }

    /// Returns what counts the bytes of one more request.
    fn request(&self) -> impl FnMut(usize) + Send + 'static {
        let sent = Arc::clone(&self.0);
        let place = {
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.push(0);
            sent.len() - 1
        };
        move |bytes| {
            if let Some(sum) = sent.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place) {
                *sum += bytes as u64;
            }
        }
    }
}

impl Hooks {
    /// Lets nothing out.
    pub(crate) fn closed() -> Self {
        Self { open: None, refusals: Refusals::default(), sent: Sent::default() }
    }

    pub(super) fn open(
        permission: Arc<RwLock<Permission>>,
        client: Arc<Client>,
        scope: Option<Scope>,
        limits: Arc<Limits>,
    ) -> Self {
        let open = Open { permission, client, scope, limits, requests: 0 };
        Self { open: Some(open), refusals: Refusals::default(), sent: Sent::default() }
    }

    /// Returns where refusals are noted; it outlives the instance.
    pub(crate) fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Returns where the bytes that leave are counted; it outlives the instance.
    pub(crate) fn sent(&self) -> Sent {
        self.sent.clone()
    }
}

impl Open {
    /// Decides on a request. An `Err` holds what the guest is told and what the user is.
    fn admit(&mut self, mut request: Request<WasiBody>) -> Result<Departure, (Error, Option<String>)> {
        let denied = |sentence: String| (Error::HttpRequestDenied, Some(sentence));
        self.requests += 1;
        if self.requests > self.limits.requests {
            return Err(denied(format!(
                "the guard made more than {} requests in one pass",
                self.limits.requests
            )));
        }
        // Others have no use here, and TRACE would show the guest its own request, credential included.
        if !matches!(*request.method(), Method::GET | Method::POST) {
            return Err((Error::HttpRequestMethodInvalid, None));
        }
        let (origin, url) =
            origin::parse(&request.uri().to_string()).map_err(|error| denied(error.to_string()))?;
        let remedy = format!("`/guard allow` or {VARIABLE}={origin} allows it");
        self.permitted(&origin, &remedy).map_err(denied)?;
        if origin.scheme() == Scheme::Http && !origin.is_loopback() {
            return Err(denied(format!(
                "{origin} would be spoken to in the clear, which is done only on this machine; use https"
            )));
        }
        let uri = canonical(&url, &origin).ok_or((Error::HttpRequestUriInvalid, None))?;
        // On this machine there is nothing to go through.
        let proxy = if origin.is_loopback() { None } else { self.client.proxy(&uri) };
        if let Some(proxy) = &proxy {
            let through = Origin::of_url(&proxy.uri().to_string())
                .map_err(|error| denied(format!("the proxy: {error}")))?;
            let remedy = format!("{VARIABLE}={through} allows it");
            self.permitted(&through, &remedy)
                .map_err(|sentence| denied(format!("the proxy in the environment: {sentence}")))?;
        }
        if let Ok(host) = HeaderValue::from_str(&origin.authority()) {
            request.headers_mut().insert(HOST, host);
        }
        if let Some(scope) = &self.scope {
            scope.add(&origin, &url, request.headers_mut());
        }
        *request.uri_mut() = uri;
        Ok(Departure { request, client: Arc::clone(&self.client), limits: Arc::clone(&self.limits), proxy })
    }

    fn permitted(&self, origin: &Origin, remedy: &str) -> Result<(), String> {
        match self.permission.read().unwrap_or_else(PoisonError::into_inner).state(origin) {
            State::Granted => Ok(()),
            State::Unknown => {
                Err(format!("{origin} is not among the origins that the guard may reach; {remedy}"))
            }
            State::Denied => Err(format!(
                "{origin} is denied in the settings; take it out of network.deny there, or use `/guard allow`"
            )),
        }
    }
}

/// The address exactly as it was judged: no other spelling of it leaves.
fn canonical(url: &Url, origin: &Origin) -> Option<Uri> {
    let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
    format!("{origin}{}{query}", url.path()).parse().ok()
}

impl Departure {
    async fn send(
        self,
        options: Option<RequestOptions>,
        refusals: Refusals,
        mut count: impl FnMut(usize) + Send + 'static,
    ) -> Answer {
        let Self { request, client, limits, proxy } = self;
        let request = request.map(|body| {
            let limited = Limited::new(body, size(limits.request_bytes));
            let counted = limited.map_frame(move |frame| {
                count(frame.data_ref().map_or(0, |data| data.len()));
                frame
            });
            counted.map_err(|error| cut(error, Error::HttpRequestBodySize)).boxed_unsync()
        });
        let patience = options.and_then(|options| options.first_byte_timeout).unwrap_or(limits.first_byte);
        let sent =
            tokio::time::timeout(patience.min(limits.first_byte), client.send(request, proxy.as_ref())).await;
        let response = match sent.map_err(|_| Error::HttpResponseTimeout)? {
            Ok(response) => response,
            Err(Failed::Error(error)) => return Err(error),
            Err(Failed::Prohibited(prohibited)) => {
                refusals.add(format!("{prohibited}; if that is meant, grant that address itself"));
                return Err(Error::DestinationIpProhibited);
            }
            Err(Failed::NoRoots(sentence)) => {
                refusals.add(sentence);
                return Err(Error::ConfigurationError);
            }
        };
        let response = response.map(|body| {
            let limited = Limited::new(body, size(limits.response_bytes));
            limited.map_err(|error| cut(error, Error::HttpResponseBodySize)).boxed_unsync()
        });
        Ok((response, Box::new(async { Ok(()) })))
    }
}

fn size(bytes: u64) -> usize {
    bytes.try_into().unwrap_or(usize::MAX)
}

/// The error of a limited body: the limit's, or the body's own.
fn cut(error: Box<dyn StdError + Send + Sync>, limit: fn(Option<u64>) -> Error) -> Error {
    if error.is::<LengthLimitError>() {
        return limit(None);
    }
    match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => error
            .downcast::<hyper::Error>()
            .map_or(Error::HttpResponseIncomplete, |error| Error::Hyper(*error)),
    }
}

/// Headers that are the host's business: the guest can neither set nor see them.
fn is_forbidden(name: &HeaderName) -> bool {
    [AUTHORIZATION, COOKIE, SET_COOKIE].contains(name)
        || name == "x-api-key"
        || name.as_str().starts_with("proxy-")
        || DEFAULT_FORBIDDEN_HEADERS.contains(name)
}

impl WasiHttpHooks for Hooks {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _done: Io,
    ) -> Box<dyn Future<Output = Answer> + Send> {
        let Some(open) = &mut self.open else { return Box::new(async { Err(Error::HttpRequestDenied) }) };
        match open.admit(request) {
            Ok(departure) => Box::new(departure.send(options, self.refusals.clone(), self.sent.request())),
            Err((error, sentence)) => {
                if let Some(sentence) = sentence {
                    self.refusals.add(sentence);
                }
                Box::new(async { Err(error) })
            }
        }
    }
}
