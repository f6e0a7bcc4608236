//! Name resolution that refuses addresses a name must not lead to.

use super::address::{is_loopback, is_public};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;
use tower_service::Service;

/// Who says where names lead.
#[derive(Clone, Debug, Default)]
pub enum Names {
    /// The system's resolver.
    #[default]
    System,
    /// Every name leads to these addresses, as for a machine whose names are settled elsewhere, or for a test of what
    /// happens when a granted name leads inside. The rule on addresses holds for them as well.
    Fixed(Vec<IpAddr>),
}

/// A resolver with the rule behind it. The connector gets no other addresses, so what was checked is what
/// is connected to. Hosts that are written as addresses never come here: they were granted as such.
#[derive(Clone, Debug)]
pub(super) struct Resolver(Source);

#[derive(Clone, Debug)]
enum Source {
    System(GaiResolver),
    Fixed(Vec<SocketAddr>),
}

/// A name leads where it must not.
#[derive(Debug, thiserror::Error)]
#[error("{name} leads to {address}, which is not on the public internet")]
pub(super) struct Prohibited {
    pub(super) name: String,
    pub(super) address: IpAddr,
}

impl Resolver {
    pub(super) fn new(names: Names) -> Self {
        Self(match names {
            Names::System => Source::System(GaiResolver::new()),
            Names::Fixed(addresses) => {
                Source::Fixed(addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
            }
        })
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let mut source = self.0.clone();
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = match &mut source {
                Source::System(system) => system.call(name.clone()).await?.collect(),
                Source::Fixed(addresses) => addresses.clone(),
            };
            check(name.as_str(), &addresses).map_err(|error| io::Error::other(Arc::new(error)))?;
            Ok(addresses.into_iter())
        })
    }
}

/// One bad address spoils the answer: an honest name has none.
fn check(name: &str, addresses: &[SocketAddr]) -> Result<(), Prohibited> {
    let allowed =
        |address: IpAddr| if name == "localhost" { is_loopback(address) } else { is_public(address) };
    match addresses.iter().map(SocketAddr::ip).find(|address| !allowed(*address)) {
        Some(address) => Err(Prohibited { name: name.to_owned(), address }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(name: &str, addresses: &[&str]) -> Result<(), String> {
        let addresses: Vec<SocketAddr> =
            addresses.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect();
        check(name, &addresses).map_err(|error| error.to_string())
    }

    #[test]
    fn a_public_name_leads_to_public_addresses_only() {
        assert_eq!(leads("openrouter.ai", &["104.18.2.115", "2606:4700::6812:273"]), Ok(()));
        insta::assert_snapshot!(leads("rebound.example", &["104.18.2.115", "127.0.0.1"]).unwrap_err(), @"rebound.example leads to 127.0.0.1, which is not on the public internet");
    }

    #[test]
    fn localhost_leads_to_this_machine_only() {
        assert_eq!(leads("localhost", &["127.0.0.1", "::1"]), Ok(()));
        assert!(leads("localhost", &["104.18.2.115"]).is_err());
        assert!(leads("sub.localhost", &["127.0.0.1"]).is_err());
    }
}
