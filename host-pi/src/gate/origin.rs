//! `scheme://host[:port]`, the unit in which the network is granted.
//!
//! | text | means |
//! |---|---|
//! | `https://openrouter.ai` | that host, port 443 |
//! | `https://OpenRouter.ai:443` | the same |
//! | `http://127.0.0.1:9931`, `http://[::1]:9931`, `http://localhost:9931` | a server on this machine |
//! | anything with a path, a user, a wildcard or another scheme | nothing: an error that says what to write |

use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// A scheme, a host and a port. Equal for all spellings of the same.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Origin {
    scheme: Scheme,
    host: Host,
    port: u16,
}

/// How an origin is spoken to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

/// Why a text names no origin. Only scheme, host and port are repeated: what stands around them may be a secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum OriginError {
    /// There is no `scheme://`.
    #[error("{0:?} has no scheme; write https://{0}")]
    NoScheme(String),
    /// The scheme is neither http nor https.
    #[error("{scheme:?} is no scheme that the guard speaks; write https:// or http:// before the host")]
    Scheme {
        /// The scheme as written.
        scheme: String,
    },
    /// A user or a password stands before the host.
    #[error("an origin has no user and no password; write only scheme://{0}")]
    Userinfo(String),
    /// A wildcard stands for several hosts.
    #[error("{0:?} has a wildcard; name every origin in full")]
    Wildcard(String),
    /// Something follows the host and port.
    #[error("an origin is only scheme, host and port; write {0}")]
    Longer(String),
    /// The host or the port cannot be read.
    #[error("{text:?} is no origin ({reason}); write scheme://host or scheme://host:port")]
    Malformed {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Origin {
    /// Returns the origin of a whole address, such as a service's base URL.
    ///
    /// # Errors
    ///
    /// When there is no host, when the scheme is another than http and https, or when there is a user.
    pub fn of_url(text: &str) -> Result<Self, OriginError> {
        Ok(parse(text)?.0)
    }

    /// Returns how the origin is spoken to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host: a name, or an address that was written as one.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns whether the host is this machine by its very name. `localhost` still has to resolve to it.
    pub(crate) fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        }
    }

    /// Returns host and port as they stand in a `Host` header.
    pub(crate) fn authority(&self) -> String {
        let default = match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        };
        if self.port == default { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }
}

impl Scheme {
    /// Returns the scheme as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.authority())
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (origin, _) = parse(text)?;
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        if rest.contains(['/', '?', '#']) {
            return Err(OriginError::Longer(origin.to_string()));
        }
        Ok(origin)
    }
}

/// Reads an address and its origin. What a lenient parser would quietly repair is an error: a permission means what
/// it says.
pub(super) fn parse(text: &str) -> Result<(Origin, Url), OriginError> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((_, host)) = authority.rsplit_once('@') {
        return Err(OriginError::Userinfo(host.into()));
    }
    if authority.contains('*') {
        return Err(OriginError::Wildcard(authority.into()));
    }
    if scheme.is_empty() {
        return Err(OriginError::NoScheme(authority.into()));
    }
    let shown = || format!("{scheme}://{authority}");
    let malformed = |reason: &str| OriginError::Malformed { text: shown(), reason: reason.into() };
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(OriginError::Scheme { scheme: scheme.into() }),
    };
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(malformed("it holds a space, a control character or a backslash"));
    }
    if authority.is_empty() {
        return Err(malformed("there is no host"));
    }
    if authority.ends_with(':') {
        return Err(malformed("there is no port after the colon"));
    }
    let url = Url::parse(text).map_err(|error| malformed(&error.to_string()))?;
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(malformed("there is no host"));
    };
    Ok((Origin { scheme, host: host.to_owned(), port }, url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> String {
        text.parse::<Origin>().unwrap().to_string()
    }

    fn refusal(text: &str) -> String {
        text.parse::<Origin>().unwrap_err().to_string()
    }

    #[test]
    fn spellings_of_one_origin_are_equal() {
        for text in [
            "https://openrouter.ai",
            "HTTPS://OpenRouter.AI",
            "https://openrouter.ai:443",
            "https://openrouter.ai:0443",
        ] {
            assert_eq!(origin(text), "https://openrouter.ai", "{text}");
        }
        assert_eq!(origin("http://localhost:80"), "http://localhost");
        assert_eq!(origin("https://localhost:80"), "https://localhost:80");
        assert_eq!(origin("http://[0:0:0:0:0:0:0:1]:9931"), "http://[::1]:9931");
        assert_eq!(origin("https://bücher.example"), "https://xn--bcher-kva.example");
    }

    /// Resolvers read these as addresses; a check that took them for names would be walked around.
    #[test]
    fn odd_spellings_of_an_address_are_that_address() {
        for text in [
            "http://127.1:9931",
            "http://0x7f.0.0.1:9931",
            "http://2130706433:9931",
            "http://0177.0.0.1:9931",
        ] {
            assert_eq!(origin(text), "http://127.0.0.1:9931", "{text}");
        }
    }

    #[test]
    fn what_differs_is_another_origin() {
        let granted: Origin = "https://openrouter.ai".parse().unwrap();
        for text in [
            "http://openrouter.ai",
            "https://openrouter.ai:8443",
            "https://api.openrouter.ai",
            "https://openrouter.ai.example",
            "https://openrouter.ai.",
        ] {
            assert_ne!(text.parse::<Origin>().unwrap(), granted, "{text}");
        }
    }

    #[test]
    fn refusals_teach_the_right_form() {
        insta::assert_snapshot!(
            [
                "openrouter.ai",
                "ftp://openrouter.ai",
                "https://me:secret@openrouter.ai",
                "me:secret@openrouter.ai",
                "https://*.openrouter.ai",
                "https://openrouter.ai/",
                "https://openrouter.ai/api/v1",
                "https://openrouter.ai?key=secret",
                "https://",
                "https:///openrouter.ai",
                "https://openrouter.ai:",
                "https://openrouter.ai:99999",
                "https://open router.ai",
                "https://openrouter.ai\\@evil.example",
                "https://[::1",
            ]
            .map(refusal)
            .join("\n"),
            @r#"
        "openrouter.ai" has no scheme; write https://openrouter.ai
        "ftp" is no scheme that the guard speaks; write https:// or http:// before the host
        an origin has no user and no password; write only scheme://openrouter.ai
        an origin has no user and no password; write only scheme://openrouter.ai
        "*.openrouter.ai" has a wildcard; name every origin in full
        an origin is only scheme, host and port; write https://openrouter.ai
        an origin is only scheme, host and port; write https://openrouter.ai
        an origin is only scheme, host and port; write https://openrouter.ai
        "https://" is no origin (there is no host); write scheme://host or scheme://host:port
        "https://" is no origin (there is no host); write scheme://host or scheme://host:port
        "https://openrouter.ai:" is no origin (there is no port after the colon); write scheme://host or scheme://host:port
        "https://openrouter.ai:99999" is no origin (invalid port number); write scheme://host or scheme://host:port
        "https://open router.ai" is no origin (it holds a space, a control character or a backslash); write scheme://host or scheme://host:port
        an origin has no user and no password; write only scheme://evil.example
        "https://[::1" is no origin (invalid IPv6 address); write scheme://host or scheme://host:port
        "#
        );
    }

    #[test]
    fn a_base_url_has_an_origin() {
        let origin = Origin::of_url("https://openrouter.ai/api/v1?x#y").unwrap();
        assert_eq!(origin.to_string(), "https://openrouter.ai");
    }
}
