use super::*;
use http_body_util::{BodyExt, Empty};
use rcgen::CertifiedKey;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::net::{IpAddr, Ipv4Addr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Serves a self-signed `localhost` over TLS; returns its port and the roots that trust it.
async fn server() -> (u16, RootCertStore) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let Ok(mut connection) = acceptor.accept(connection).await else { continue };
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        }
    });
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    (port, roots)
}

async fn get(port: u16, roots: RootCertStore) -> Result<Response<Incoming>, Failed> {
    let resolver = Resolver::new(Names::Fixed(vec![IpAddr::from(Ipv4Addr::LOCALHOST)]));
    let client = Client::new(Matcher::builder().build(), resolver, &Limits::default());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    client.tls.set(Ok(builder.with_root_certificates(roots).with_no_client_auth())).unwrap();
    let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
    client.send(Request::get(format!("https://localhost:{port}/")).body(body).unwrap(), None).await
}

#[tokio::test]
async fn a_trusted_certificate_opens_the_way() {
    let (port, roots) = server().await;
    assert_eq!(get(port, roots).await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_unknown_certificate_closes_it() {
    let (port, _) = server().await;
    let (_, others) = server().await;
    let answer = get(port, others).await;
    assert!(matches!(answer, Err(Failed::Error(Error::TlsCertificateError))), "{answer:?}");
}

#[tokio::test]
async fn a_closed_port_is_a_refused_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let answer = get(port, RootCertStore::empty()).await;
    assert!(matches!(answer, Err(Failed::Error(Error::ConnectionRefused))), "{answer:?}");
}
