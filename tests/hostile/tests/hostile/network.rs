//! Guests that reach for more of the network than the one service that was granted.

use super::stage::{INSIDE, KEY, Server, Stage, leads};

pub(crate) async fn calls_an_origin_not_granted(stage: Stage) {
    let (service, mut other) = (Server::silent().await, Server::silent().await);
    let told = stage.granting(&service.origin).asks(&service.origin, &other.origin).await;
    assert_eq!(told, "ErrorCode::HttpRequestDenied");
    assert_eq!(other.received(), "");
}

pub(crate) async fn calls_another_port(stage: Stage) {
    let (service, mut other) = (Server::silent().await, Server::silent().await);
    let told = stage.granting(&service.origin).asks(&service.origin, other.port()).await;
    assert_eq!(told, "ErrorCode::HttpRequestDenied");
    assert_eq!(other.received(), "");
}

pub(crate) async fn calls_another_scheme(stage: Stage) {
    let mut service = Server::silent().await;
    // What is no HTTP does not even come to the gate.
    for (scheme, code) in
        [("https", "HttpRequestDenied"), ("ftp", "HttpProtocolError"), ("file", "HttpProtocolError")]
    {
        let told = stage.again().granting(&service.origin).asks(&service.origin, scheme).await;
        assert_eq!(told, format!("ErrorCode::{code}"), "{scheme}");
    }
    assert_eq!(service.received(), "");
}

pub(crate) async fn calls_a_name_that_leads_inside(stage: Stage) {
    for address in INSIDE {
        let mut stage = stage.again().granting("https://service.example");
        stage.names = leads(address);
        let told = stage.asks("https://service.example/v1", "").await;
        assert_eq!(told, "ErrorCode::DestinationIpProhibited", "{address}");
    }
}

pub(crate) async fn follows_a_redirect(stage: Stage) {
    let mut elsewhere = Server::silent().await;
    let redirect = format!("HTTP/1.1 307 Go\r\nlocation: {}/\r\ncontent-length: 0\r\n\r\n", elsewhere.origin);
    let mut service = Server::start(&redirect).await;
    let told = stage.granting(&service.origin).asks(&service.origin, "").await;
    assert_eq!(told, "ErrorCode::HttpRequestDenied");
    assert!(service.received().contains(KEY), "the service itself gets the key");
    assert_eq!(elsewhere.received(), "");
}

pub(crate) async fn sets_authorization(stage: Stage) {
    let mut service = Server::silent().await;
    for header in ["authorization", "cookie", "proxy-authorization", "x-api-key"] {
        let told = stage.again().granting(&service.origin).asks(&service.origin, header).await;
        assert_eq!(told, format!("header {header}: HeaderError::Forbidden"));
    }
    assert_eq!(service.received(), "");
}

pub(crate) async fn floods_requests(mut stage: Stage) {
    stage.limits.requests = 20;
    let mut service = Server::silent().await;
    let told = stage.granting(&service.origin).asks(&service.origin, "").await;
    assert_eq!(told, "ErrorCode::HttpRequestDenied");
    assert_eq!(service.received().matches("POST / ").count(), 20);
}

pub(crate) async fn sends_10_mib(stage: Stage) {
    let mut service = Server::start("").await;
    let told = stage.granting(&service.origin).asks(&service.origin, "").await;
    assert!(told.contains("HttpRequestBodySize"), "{told}");
    assert!(service.received().len() <= 9 << 20);
}
