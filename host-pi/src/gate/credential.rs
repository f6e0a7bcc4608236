//! The credential, and the only place it goes to.

use super::origin::{self, Origin, OriginError};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use url::Url;

/// Headers to add to requests of one service. Its `Debug` shows names only, and so do its errors.
#[derive(Clone, Deserialize)]
#[serde(try_from = "Value")]
pub struct Credential(HeaderMap);

/// Why a credential cannot be used. The text never has a part of it.
#[derive(Debug, Eq, PartialEq, thiserror::Error)]
pub enum CredentialError {
    /// It is not built as it should be.
    #[error(
        "a credential is an object with `api_key` (a text or null) and `headers` (pairs of name and value)"
    )]
    Form,
    /// The key has characters that no header can carry.
    #[error(
        "the API key has characters that an HTTP header cannot carry, such as a line break; check where it comes from"
    )]
    Key,
    /// A header has.
    #[error(
        "header number {0} of the credential has characters that an HTTP header cannot carry, or an empty name"
    )]
    Header(usize),
}

/// A credential with the addresses it may go to.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    credential: Credential,
    origin: Origin,
    path: String,
}

impl Credential {
    /// Limits the credential to a service: to its origin, and there to what lies under its path.
    pub(super) fn within(&self, base_url: &str) -> Result<Scope, OriginError> {
        let (origin, url) = origin::parse(base_url)?;
        Ok(Scope { credential: self.clone(), origin, path: url.path().trim_end_matches('/').to_owned() })
    }
}

impl Scope {
    /// Adds the credential to a request, if it goes to the service. What the request has under these names is
    /// replaced.
    pub(super) fn add(&self, origin: &Origin, url: &Url, headers: &mut HeaderMap) {
        let below =
            url.path().strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if *origin == self.origin && below {
            for (name, value) in &self.credential.0 {
                headers.insert(name, value.clone());
            }
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Credential").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

// From a value rather than derived: serde's own errors repeat what they could not read.
impl TryFrom<Value> for Credential {
    type Error = CredentialError;

    fn try_from(value: Value) -> Result<Self, CredentialError> {
        let Value::Object(mut value) = value else { return Err(CredentialError::Form) };
        let mut headers = HeaderMap::new();
        let pairs = match value.remove("headers") {
            None | Some(Value::Null) => Vec::new(),
            Some(pairs) => {
                serde_json::from_value::<Vec<(String, String)>>(pairs).map_err(|_| CredentialError::Form)?
            }
        };
        for (number, (name, value)) in pairs.into_iter().enumerate() {
            let wrong = CredentialError::Header(number + 1);
            let (Ok(name), Some(value)) = (name.parse::<HeaderName>(), secret(&value)) else {
                return Err(wrong);
            };
            headers.insert(name, value);
        }
        match value.remove("api_key") {
            None | Some(Value::Null) => {}
            Some(Value::String(key)) => {
                // A registry that brings its own authorization means that one.
                headers
                    .entry(AUTHORIZATION)
                    .or_insert(secret(&format!("Bearer {key}")).ok_or(CredentialError::Key)?);
            }
            Some(_) => return Err(CredentialError::Form),
        }
        Ok(Self(headers))
    }
}

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    // Keeps it out of debug output and of HTTP/2's shared compression table.
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn credential(value: Value) -> Credential {
        value.try_into().unwrap()
    }

    fn sent(credential: &Credential, base_url: &str, url: &str) -> Vec<(String, String)> {
        let (origin, url) = origin::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        credential.within(base_url).unwrap().add(&origin, &url, &mut headers);
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    }

    #[test]
    fn a_key_is_a_bearer_token_and_headers_are_as_given() {
        let credential = credential(json!({"api_key": "k", "headers": [["X-Team", "t"]]}));
        let sent = sent(&credential, "https://a.example/v1", "https://a.example/v1/decide");
        assert_eq!(sent, [("x-team".into(), "t".into()), ("authorization".into(), "Bearer k".into())]);
    }

    #[test]
    fn a_header_of_the_registry_outweighs_the_key() {
        let credential = credential(json!({"api_key": "k", "headers": [["authorization", "Basic b"]]}));
        let sent = sent(&credential, "https://a.example", "https://a.example/");
        assert_eq!(sent, [("authorization".into(), "Basic b".into())]);
    }

    #[test]
    fn it_goes_to_the_service_and_nowhere_else() {
        let credential = credential(json!({"api_key": "k", "headers": []}));
        let goes = |url: &str| !sent(&credential, "https://a.example/api/v1/", url).is_empty();
        for url in
            ["https://a.example/api/v1", "https://a.example/api/v1/x?y", "https://A.example:443/api/v1/x"]
        {
            assert!(goes(url), "{url}");
        }
        for url in [
            "https://a.example/",
            "https://a.example/api/v10",
            "https://a.example/api/v1/../admin",
            "https://a.example/api/v1/%2e%2e/admin",
            "https://a.example:8443/api/v1/x",
            "http://a.example/api/v1/x",
            "https://b.example/api/v1/x",
        ] {
            assert!(!goes(url), "{url}");
        }
    }

    #[test]
    fn neither_errors_nor_debug_output_show_a_secret() {
        for value in [
            json!("s3cret"),
            json!({"api_key": ["s3cret"]}),
            json!({"api_key": "s3cret\n"}),
            json!({"headers": ["s3cret"]}),
            json!({"headers": [["x", "s3cret\u{0}"]]}),
            json!({"headers": [["s3cret secret", "x"]]}),
        ] {
            let error = serde_json::from_value::<Credential>(value).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        let credential = credential(json!({"api_key": "s3cret", "headers": [["x-team", "s3cret"]]}));
        let scope = credential.within("https://a.example").unwrap();
        insta::assert_snapshot!(format!("{credential:?}"), @r#"Credential(["x-team", "authorization"])"#);
        assert!(!format!("{scope:?}").contains("s3cret"));
    }
}
