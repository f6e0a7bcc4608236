//! Which origins the user granted.

use super::origin::Origin;
use crate::settings::Network;
use serde::Serialize;
use std::collections::HashSet;

/// Grants for runs without a settings file or a person to ask: origins, separated by commas.
pub const VARIABLE: &str = "PI_CONTEXT_GUARD_ALLOW";

/// Whether requests may go to an origin.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum State {
    /// The user allowed it.
    Granted,
    /// The user refused it; do not ask again.
    Denied,
    /// Nobody said anything, which allows nothing.
    Unknown,
}

/// The user's grants and refusals.
#[derive(Debug)]
pub(super) struct Permission {
    /// From the command line and the environment.
    fixed: HashSet<Origin>,
    allow: HashSet<Origin>,
    deny: HashSet<Origin>,
}

impl Permission {
    pub(super) fn new(fixed: Vec<Origin>) -> Self {
        Self { fixed: fixed.into_iter().collect(), allow: HashSet::new(), deny: HashSet::new() }
    }

    /// Replaces what came from the settings file; returns a warning for each text that names no origin.
    pub(super) fn replace(&mut self, network: &Network) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut list = |key: &str, texts: &[String]| {
            let mut origins = HashSet::new();
            for text in texts {
                match text.parse::<Origin>() {
                    Ok(origin) => drop(origins.insert(origin)),
                    Err(error) => warnings.push(format!("network.{key}: {error}")),
                }
            }
            origins
        };
        self.allow = list("allow", &network.allow);
        self.deny = list("deny", &network.deny);
        warnings
    }

    /// A refusal outweighs every grant: it is the narrower wish.
    pub(super) fn state(&self, origin: &Origin) -> State {
        if self.deny.contains(origin) {
            State::Denied
        } else if self.allow.contains(origin) || self.fixed.contains(origin) {
            State::Granted
        } else {
            State::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission(fixed: &[&str], allow: &[&str], deny: &[&str]) -> (Permission, Vec<String>) {
        let mut permission = Permission::new(fixed.iter().map(|text| text.parse().unwrap()).collect());
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let warnings = permission.replace(&Network { allow: texts(allow), deny: texts(deny) });
        (permission, warnings)
    }

    fn state(permission: &Permission, text: &str) -> State {
        permission.state(&text.parse().unwrap())
    }

    #[test]
    fn an_empty_list_allows_nothing() {
        let (permission, _) = permission(&[], &[], &[]);
        assert_eq!(state(&permission, "https://openrouter.ai"), State::Unknown);
    }

    #[test]
    fn only_the_very_origin_is_granted() {
        let (permission, _) = permission(&["http://127.0.0.1:9931"], &["https://openrouter.ai"], &[]);
        assert_eq!(state(&permission, "https://openrouter.ai:443"), State::Granted);
        assert_eq!(state(&permission, "http://127.0.0.1:9931"), State::Granted);
        assert_eq!(state(&permission, "http://127.0.0.1:9932"), State::Unknown);
        assert_eq!(state(&permission, "https://api.openrouter.ai"), State::Unknown);
    }

    #[test]
    fn a_refusal_outweighs_a_grant() {
        let (permission, _) = permission(
            &["https://a.example"],
            &["https://b.example"],
            &["https://a.example", "https://b.example"],
        );
        assert_eq!(state(&permission, "https://a.example"), State::Denied);
        assert_eq!(state(&permission, "https://b.example"), State::Denied);
    }

    #[test]
    fn a_malformed_origin_is_dropped_with_a_warning_and_the_others_count() {
        let (permission, warnings) = permission(&[], &["openrouter.ai", "https://openrouter.ai"], &["*"]);
        assert_eq!(state(&permission, "https://openrouter.ai"), State::Granted);
        insta::assert_snapshot!(warnings.join("\n"), @r#"
        network.allow: "openrouter.ai" has no scheme; write https://openrouter.ai
        network.deny: "*" has a wildcard; name every origin in full
        "#);
    }
}
