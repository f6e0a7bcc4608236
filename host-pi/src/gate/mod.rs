//! The gate between the guest and the network: which origins were granted, which addresses they may lead to, what is
//! added to a request and what is kept from the guest.
//!
//! Nothing leaves unless its origin was granted, and everything is decided again for each request.

mod address;
mod client;
mod credential;
mod hooks;
mod origin;
mod permission;
mod resolver;

pub use credential::{Credential, CredentialError};
pub use origin::{Origin, OriginError};
pub use permission::{State, VARIABLE as ALLOW_VARIABLE};
pub use resolver::Names;

pub(crate) use hooks::Hooks;

#[cfg(test)]
mod tests;

use crate::engine::Limits;
use crate::settings::Network;
use client::Client;
use permission::Permission;
use std::sync::{Arc, PoisonError, RwLock};

/// The network as one session may use it.
pub(crate) struct Gate {
    permission: Arc<RwLock<Permission>>,
    client: Arc<Client>,
    limits: Arc<Limits>,
}

impl Gate {
    /// Grants those origins for as long as the gate lives.
    pub(crate) fn new(allow: Vec<Origin>, names: Names, limits: Arc<Limits>) -> Self {
        let client = Client::from_env(names, &limits);
        Self::with_client(allow, client, limits)
    }

    fn with_client(allow: Vec<Origin>, client: Client, limits: Arc<Limits>) -> Self {
        let permission = Arc::new(RwLock::new(Permission::new(allow)));
        Self { permission, client: Arc::new(client), limits }
    }

    /// Replaces what the settings file grants and denies; returns a warning for each text that names no origin.
    pub(crate) fn grant_only(&self, network: &Network) -> Vec<String> {
        self.permission.write().unwrap_or_else(PoisonError::into_inner).replace(network)
    }

    /// Returns whether requests may go to that origin.
    pub(crate) fn state(&self, origin: &Origin) -> State {
        self.permission.read().unwrap_or_else(PoisonError::into_inner).state(origin)
    }

    /// Opens the gate for one `ask` of a service. Only requests to its origin, under its path, get the credential.
    ///
    /// # Errors
    ///
    /// When the service's address is none.
    pub(crate) fn hooks(
        &self,
        base_url: &str,
        credential: Option<&Credential>,
    ) -> Result<Hooks, OriginError> {
        let scope = credential.map(|credential| credential.within(base_url)).transpose()?;
        Ok(Hooks::open(
            Arc::clone(&self.permission),
            Arc::clone(&self.client),
            scope,
            Arc::clone(&self.limits),
        ))
    }
}
