//! A server for tests, one for each.

use std::net::Ipv4Addr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The shortest answer with a body.
pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/// No answer: the client waits.
pub(crate) const SILENCE: &str = "";

/// Answers every read with the same bytes and passes on what it read.
pub(crate) struct Server {
    /// Such as `http://127.0.0.1:40123`.
    pub(crate) origin: String,
    /// What arrived, read by read.
    pub(crate) requests: mpsc::UnboundedReceiver<String>,
}

impl Server {
    pub(crate) async fn start(answer: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::unbounded_channel();
        let answer = answer.into();
        tokio::spawn(async move {
            while let Ok((mut connection, _)) = listener.accept().await {
                let (sender, answer) = (sender.clone(), answer.clone());
                tokio::spawn(async move {
                    let mut buffer = vec![0; 1 << 16];
                    while let Ok(length @ 1..) = connection.read(&mut buffer).await {
                        let _ = sender.send(String::from_utf8_lossy(&buffer[..length]).into_owned());
                        let _ = connection.write_all(&answer).await;
                    }
                });
            }
        });
        Self { origin, requests }
    }

    /// Returns the next thing that arrived already; empty if nothing did.
    pub(crate) fn received(&mut self) -> String {
        self.requests.try_recv().unwrap_or_default()
    }
}
