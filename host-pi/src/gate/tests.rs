//! Requests as the guest would make them, against a server of each test's own.

use super::client::Client;
use super::hooks::Hooks;
use super::resolver::Resolver;
use super::*;
use crate::testing::{OK, Server};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::proxy::matcher::Matcher;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr};
use wasmtime_wasi_http::{Error, WasiBody, WasiHttpHooks};

/// A gate that grants those origins, with every name leading to `leads`.
struct Setting {
    limits: Limits,
    grant: Vec<String>,
    proxies: Matcher,
    leads: IpAddr,
}

impl Setting {
    fn granting(origins: &[&str]) -> Self {
        Self {
            limits: Limits::default(),
            grant: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            proxies: Matcher::builder().build(),
            leads: Ipv4Addr::LOCALHOST.into(),
        }
    }

    fn hooks(self, base_url: &str) -> Hooks {
        let client = Client::new(self.proxies, Resolver::new(Names::Fixed(vec![self.leads])), &self.limits);
        let allow = self.grant.iter().map(|text| text.parse().unwrap()).collect();
        let credential = json!({"api_key": "s3cret", "headers": [["x-team", "t"]]}).try_into().unwrap();
        Gate::with_client(allow, client, Arc::new(self.limits)).hooks(base_url, Some(&credential)).unwrap()
    }
}

fn request(method: Method, url: &str, body: &'static str) -> Request<WasiBody> {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
    Request::builder().method(method).uri(url).header("authorization", "guest").body(body).unwrap()
}

async fn send(hooks: &mut Hooks, request: Request<WasiBody>) -> Result<Response<WasiBody>, Error> {
    let answer = hooks.send_request(request, None, Box::new(async { Ok(()) }));
    Ok(Box::into_pin(answer).await?.0)
}

async fn get(hooks: &mut Hooks, url: &str) -> Result<String, Error> {
    let response = send(hooks, request(Method::GET, url, "")).await?;
    let bytes = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The sentence for the user, with the server's changing port taken out.
async fn refusal(mut hooks: Hooks, url: &str) -> String {
    let refusals = hooks.refusals();
    assert!(matches!(get(&mut hooks, url).await, Err(Error::HttpRequestDenied)), "{url}");
    refusals.take().unwrap()
}

#[tokio::test]
async fn a_granted_origin_gets_the_request_with_the_credential() {
    let mut server = Server::start(OK).await;
    let mut hooks = Setting::granting(&[&server.origin]).hooks(&format!("{}/v1", server.origin));
    assert_eq!(get(&mut hooks, &format!("{}/v1/decide?x=1", server.origin)).await.unwrap(), "ok");
    let received = server.received().replace(&server.origin.replace("http://", ""), "HOST");
    let mut lines: Vec<_> = received.trim_end().lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"), @r"
    GET /v1/decide?x=1 HTTP/1.1
    authorization: Bearer s3cret
    host: HOST
    x-team: t
    ");
    assert_eq!(hooks.refusals().take(), None);
}

#[tokio::test]
async fn another_granted_origin_or_path_gets_no_credential() {
    let (mut service, mut other) = (Server::start(OK).await, Server::start(OK).await);
    let mut hooks =
        Setting::granting(&[&service.origin, &other.origin]).hooks(&format!("{}/v1", service.origin));
    get(&mut hooks, &format!("{}/v1/decide", other.origin)).await.unwrap();
    get(&mut hooks, &format!("{}/v1/../admin", service.origin)).await.unwrap();
    for received in [other.received(), service.received()] {
        assert!(received.starts_with("GET /"), "{received}");
        assert!(!received.contains("s3cret"), "{received}");
    }
}

#[tokio::test]
async fn what_was_not_granted_hears_nothing() {
    let mut server = Server::start(OK).await;
    let hooks = Setting::granting(&["https://openrouter.ai"]).hooks(&server.origin);
    let sentence = refusal(hooks, &server.origin).await.replace(&server.origin, "ORIGIN");
    insta::assert_snapshot!(sentence, @"ORIGIN is not among the origins that the guard may reach; `/guard allow` or PI_CONTEXT_GUARD_ALLOW=ORIGIN allows it");
    assert_eq!(server.received(), "");
}

#[tokio::test]
async fn a_closed_gate_lets_nothing_out() {
    let mut server = Server::start(OK).await;
    assert!(matches!(get(&mut Hooks::closed(), &server.origin).await, Err(Error::HttpRequestDenied)));
    assert_eq!(server.received(), "");
}

#[tokio::test]
async fn a_refused_origin_says_how_to_lift_that() {
    let client =
        Client::new(Matcher::builder().build(), Resolver::new(Names::Fixed(vec![])), &Limits::default());
    let gate = Gate::with_client(vec![], client, Arc::default());
    gate.grant_only(&Network { allow: vec![], deny: vec!["https://a.example".into()] });
    let hooks = gate.hooks("https://a.example", None).unwrap();
    insta::assert_snapshot!(refusal(hooks, "https://a.example/").await, @"https://a.example is denied in the settings; take it out of network.deny there, or use `/guard allow`");
}

#[tokio::test]
async fn the_clear_is_for_this_machine() {
    let hooks = Setting::granting(&["http://a.example"]).hooks("http://a.example");
    insta::assert_snapshot!(refusal(hooks, "http://a.example/").await, @"http://a.example would be spoken to in the clear, which is done only on this machine; use https");
}

#[tokio::test]
async fn a_user_in_the_address_is_refused() {
    let server = Server::start(OK).await;
    let url = server.origin.replace("http://", "http://me:s3cret@");
    let sentence = refusal(Setting::granting(&[&server.origin]).hooks(&server.origin), &url).await;
    assert!(sentence.starts_with("an origin has no user") && !sentence.contains("s3cret"), "{sentence}");
}

#[tokio::test]
async fn a_public_name_must_not_lead_inside() {
    let mut hooks = Setting::granting(&["https://rebound.example"]).hooks("https://rebound.example");
    let refusals = hooks.refusals();
    let answer = get(&mut hooks, "https://rebound.example/").await;
    assert!(matches!(answer, Err(Error::DestinationIpProhibited)), "{answer:?}");
    insta::assert_snapshot!(refusals.take().unwrap(), @"rebound.example leads to 127.0.0.1, which is not on the public internet; if that is meant, grant that address itself");
}

#[tokio::test]
async fn localhost_must_lead_to_this_machine() {
    let server = Server::start(OK).await;
    let origin = server.origin.replace("127.0.0.1", "localhost");
    let mut setting = Setting::granting(&[&origin]);
    assert_eq!(get(&mut Setting::granting(&[&origin]).hooks(&origin), &origin).await.unwrap(), "ok");
    setting.leads = Ipv4Addr::new(192, 168, 0, 1).into();
    let answer = get(&mut setting.hooks(&origin), &origin).await;
    assert!(matches!(answer, Err(Error::DestinationIpProhibited)), "{answer:?}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let mut elsewhere = Server::start(OK).await;
    let redirect = format!("HTTP/1.1 307 Go\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", elsewhere.origin);
    let server = Server::start(redirect).await;
    let mut hooks = Setting::granting(&[&server.origin, &elsewhere.origin]).hooks(&server.origin);
    let response = send(&mut hooks, request(Method::GET, &server.origin, "")).await.unwrap();
    assert_eq!(response.status(), 307);
    assert_eq!(elsewhere.received(), "");
}

#[tokio::test]
async fn bodies_have_a_limit_both_ways() {
    let server = Server::start(OK).await;
    let hooks = |request_bytes, response_bytes| {
        let mut setting = Setting::granting(&[&server.origin]);
        setting.limits = Limits { request_bytes, response_bytes, ..Limits::default() };
        setting.hooks(&server.origin)
    };
    assert_eq!(get(&mut hooks(0, 2), &server.origin).await.unwrap(), "ok");
    let long = get(&mut hooks(0, 1), &server.origin).await;
    assert!(matches!(long, Err(Error::HttpResponseBodySize(_))), "{long:?}");
    let long = send(&mut hooks(3, 2), request(Method::POST, &server.origin, "four")).await;
    assert!(matches!(long, Err(Error::HttpRequestBodySize(_))), "{long:?}");
}

#[tokio::test]
async fn the_number_of_requests_has_a_limit() {
    let server = Server::start(OK).await;
    let mut setting = Setting::granting(&[&server.origin]);
    setting.limits.requests = 1;
    let mut hooks = setting.hooks(&server.origin);
    get(&mut hooks, &server.origin).await.unwrap();
    insta::assert_snapshot!(refusal(hooks, &server.origin).await, @"the guard made more than 1 requests in one pass");
}

/// TRACE would show the guest what the gate added.
#[tokio::test]
async fn only_get_and_post_leave() {
    let mut server = Server::start(OK).await;
    let mut hooks = Setting::granting(&[&server.origin]).hooks(&server.origin);
    let answer = send(&mut hooks, request(Method::TRACE, &server.origin, "")).await;
    assert!(matches!(answer, Err(Error::HttpRequestMethodInvalid)), "{answer:?}");
    assert_eq!(server.received(), "");
}

#[test]
fn credentials_and_cookies_are_the_hosts_business() {
    let filter = Hooks::closed().forbidden_header_filter();
    for name in [
        "authorization",
        "cookie",
        "set-cookie",
        "proxy-authorization",
        "proxy-anything",
        "x-api-key",
        "host",
    ] {
        assert!(filter(&name.parse().unwrap()), "{name}");
    }
    for name in ["content-type", "accept", "x-title", "http-referer"] {
        assert!(!filter(&name.parse().unwrap()), "{name}");
    }
}

fn behind(proxy: &str, grant: &[&str]) -> Hooks {
    let mut setting = Setting::granting(grant);
    setting.proxies = Matcher::builder().all(proxy).build();
    setting.hooks("https://a.example")
}

#[tokio::test]
async fn a_proxy_needs_a_grant_too() {
    let mut proxy = Server::start("HTTP/1.1 403 No\r\n\r\n").await;
    let sentence = refusal(behind(&proxy.origin, &["https://a.example"]), "https://a.example/").await;
    insta::assert_snapshot!(sentence.replace(&proxy.origin, "PROXY"), @"the proxy in the environment: PROXY is not among the origins that the guard may reach; PI_CONTEXT_GUARD_ALLOW=PROXY allows it");
    assert_eq!(proxy.received(), "");

    let mut hooks = behind(&proxy.origin, &["https://a.example", &proxy.origin]);
    assert!(get(&mut hooks, "https://a.example/").await.is_err());
    let received = proxy.received();
    assert!(received.starts_with("CONNECT a.example:443 "), "{received}");
    assert!(!received.contains("s3cret"), "{received}");
}

#[tokio::test]
async fn this_machine_needs_no_proxy() {
    let (server, mut proxy) = (Server::start(OK).await, Server::start(OK).await);
    let mut hooks = behind(&proxy.origin, &[&server.origin]);
    assert_eq!(get(&mut hooks, &server.origin).await.unwrap(), "ok");
    assert_eq!(proxy.received(), "");
}
