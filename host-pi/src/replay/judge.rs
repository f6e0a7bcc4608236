//! Who answers the questions of a replay.

use crate::contract::classifier::Service;
use crate::gate::{Credential, CredentialError, Origin, OriginError};
use serde_json::json;
use std::str::FromStr;

/// Holds the key for a judge on the network. The command line would show it to every process of the machine.
pub(crate) const KEY_VARIABLE: &str = "CONTEXT_GUARD_KEY";
/// What the services call the newest model.
const MODEL: &str = "jev-latest";

/// A judge as the command line names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Judge {
    /// Nobody: what could be judged is shown, and nothing is decided.
    None,
    /// The heuristic inside the guest.
    Builtin,
    /// A System One service at that base URL.
    SystemOne { base_url: String, origin: Origin },
}

/// Why a text names no judge.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JudgeError {
    #[error(
        "{0:?} is no judge; write builtin, none, or the base URL of a System One service such as https://api.typesafe.ai/v1"
    )]
    Unknown(String),
    #[error(transparent)]
    Origin(#[from] OriginError),
}

impl FromStr for Judge {
    type Err = JudgeError;

    fn from_str(text: &str) -> Result<Self, JudgeError> {
        match text {
            "none" => Ok(Self::None),
            "builtin" => Ok(Self::Builtin),
            url if url.contains("://") => {
                Ok(Self::SystemOne { base_url: url.to_owned(), origin: Origin::of_url(url)? })
            }
            _ => Err(JudgeError::Unknown(text.to_owned())),
        }
    }
}

impl Judge {
    /// Returns where to ask, if anywhere. The price is in US dollars per million input tokens.
    pub(crate) fn service(&self, model: Option<&str>, input_price: f64) -> Option<Service> {
        let (api, base_url, model) = match self {
            Self::None => return None,
            Self::Builtin => ("builtin", "", "lexical"),
            Self::SystemOne { base_url, .. } => {
                ("typesafe-system-one", base_url.as_str(), model.unwrap_or(MODEL))
            }
        };
        Some(Service {
            api: api.into(),
            base_url: base_url.into(),
            model: model.into(),
            headers: Vec::new(),
            input_price,
        })
    }

    /// Returns the origin that questions go to, if they leave this machine's process.
    pub(crate) fn destination(&self) -> Option<&Origin> {
        match self {
            Self::None | Self::Builtin => None,
            Self::SystemOne { origin, .. } => Some(origin),
        }
    }
}

/// Makes a credential of the key, if there is one.
pub(crate) fn credential(key: Option<String>) -> Result<Option<Credential>, CredentialError> {
    let key = key.filter(|key| !key.is_empty());
    key.map(|key| Credential::try_from(json!({ "api_key": key.trim() }))).transpose()
}
