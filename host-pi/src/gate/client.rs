//! The HTTP client: connections that are kept, the system's root certificates, proxies from the environment.

use super::resolver::{Names, Prohibited, Resolver};
use crate::engine::Limits;
use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{self, Client as Pool};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::collections::HashMap;
use std::error::Error as StdError;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use wasmtime_wasi_http::{Error, WasiBody};

type Direct = Pool<HttpsConnector<HttpConnector<Resolver>>, WasiBody>;
type Proxied = Pool<HttpsConnector<Tunnel<HttpConnector>>, WasiBody>;

/// A pooled client for HTTP/1.1 and HTTP/2. Follows no redirect: the guest sees it as an answer like any other.
pub(super) struct Client {
    proxies: Matcher,
    resolver: Resolver,
    connect: Duration,
    idle: Duration,
    /// Made by the first request, since reading the root certificates takes longer than all else at the start.
    tls: OnceLock<Result<rustls::ClientConfig, String>>,
    direct: OnceLock<Direct>,
    proxied: Mutex<HashMap<Uri, Proxied>>,
}

/// Why a request brought no response.
#[derive(Debug)]
pub(super) enum Failed {
    /// What the guest is told.
    Error(Error),
    /// A name led to an address it must not lead to.
    Prohibited(Arc<Prohibited>),
    /// There are no root certificates.
    NoRoots(String),
}

impl Client {
    /// Takes its proxies from `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
    pub(super) fn from_env(names: Names, limits: &Limits) -> Self {
        Self::new(Matcher::from_env(), Resolver::new(names), limits)
    }

    pub(super) fn new(proxies: Matcher, resolver: Resolver, limits: &Limits) -> Self {
        Self {
            proxies,
            resolver,
            connect: limits.connect,
            idle: limits.idle,
            tls: OnceLock::new(),
            direct: OnceLock::new(),
            proxied: Mutex::new(HashMap::new()),
        }
    }

    /// Returns the proxy that requests to that address go through.
    pub(super) fn proxy(&self, uri: &Uri) -> Option<Intercept> {
        self.proxies.intercept(uri)
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        &self,
        request: Request<WasiBody>,
        proxy: Option<&Intercept>,
    ) -> Result<Response<Incoming>, Failed> {
        let response = match proxy {
            Some(proxy) => self.proxied(proxy)?.request(request).await,
            None => self.direct()?.request(request).await,
        };
        response.map_err(|error| classify(&error))
    }

    fn direct(&self) -> Result<&Direct, Failed> {
        if let Some(direct) = self.direct.get() {
            return Ok(direct);
        }
        let mut tcp = HttpConnector::new_with_resolver(self.resolver.clone());
        prepare(&mut tcp, self.connect);
        let pool = self.pool(tcp)?;
        Ok(self.direct.get_or_init(|| pool))
    }

    fn proxied(&self, proxy: &Intercept) -> Result<Proxied, Failed> {
        let mut proxied = self.proxied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = proxied.get(proxy.uri()) {
            return Ok(pool.clone());
        }
        // The user's own proxy may well be on the inside: its address is not checked. It resolves the service's name
        // by itself, so there TLS alone says who answers.
        let mut tcp = HttpConnector::new();
        prepare(&mut tcp, self.connect);
        let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let pool = self.pool(tunnel)?;
        proxied.insert(proxy.uri().clone(), pool.clone());
        Ok(pool)
    }

    fn pool<C>(&self, connector: C) -> Result<Pool<HttpsConnector<C>, WasiBody>, Failed>
    where
        HttpsConnector<C>: legacy::connect::Connect + Clone,
    {
        let tls = self.tls.get_or_init(tls).as_ref().map_err(|error| Failed::NoRoots(error.clone()))?;
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls.clone())
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let mut builder = Pool::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(self.idle);
        Ok(builder.build(connector))
    }
}

fn prepare<R>(tcp: &mut HttpConnector<R>, connect: Duration) {
    // TLS is laid on top.
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(connect));
}

/// The roots are the system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, so that a company's own CA works.
fn tls() -> Result<rustls::ClientConfig, String> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(loaded.certs);
    if roots.is_empty() {
        let reason = loaded.errors.first().map_or_else(String::new, |error| format!(" ({error})"));
        return Err(format!(
            "this machine has no root certificates{reason}; install ca-certificates or name them in SSL_CERT_FILE"
        ));
    }
    // Named, so that it does not depend on which providers other crates bring.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Ok(builder.map_err(|error| error.to_string())?.with_root_certificates(roots).with_no_client_auth())
}

/// Finds the cause in an error of the client, as WASI names it.
fn classify(error: &legacy::Error) -> Failed {
    if let Some(found) = look(error) {
        return found;
    }
    Failed::Error(if error.is_connect() { Error::DestinationUnavailable } else { Error::HttpProtocolError })
}

/// `io::Error::source` skips the error inside it, where TLS errors and ours are: those are looked into as well.
fn look(error: &(dyn StdError + 'static)) -> Option<Failed> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(Failed::Error(match error {
            rustls::Error::InvalidCertificate(_) => Error::TlsCertificateError,
            _ => Error::TlsProtocolError,
        }));
    }
    if let Some(prohibited) = error.downcast_ref::<Arc<Prohibited>>() {
        return Some(Failed::Prohibited(Arc::clone(prohibited)));
    }
    if let Some(error) = error.downcast_ref::<Error>() {
        return matches!(error, Error::HttpRequestBodySize(_))
            .then_some(Failed::Error(Error::HttpRequestBodySize(None)));
    }
    if let Some(error) = error.downcast_ref::<std::io::Error>() {
        if let Some(found) = error.get_ref().and_then(|inner| look(inner)) {
            return Some(found);
        }
        match error.kind() {
            ErrorKind::ConnectionRefused => return Some(Failed::Error(Error::ConnectionRefused)),
            ErrorKind::TimedOut => return Some(Failed::Error(Error::ConnectionTimeout)),
            ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => {
                return Some(Failed::Error(Error::ConnectionTerminated));
            }
            _ => {}
        }
    }
    error.source().and_then(look)
}

#[cfg(test)]
mod tests;
