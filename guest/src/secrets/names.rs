//! Names of secrets: of variables, fields, options and headers.

/// What every such name holds, in lower case.
pub(super) const CUES: &[&str] =
    &["key", "token", "secret", "passw", "passphrase", "pwd", "_pass", "credential"];

/// What a name promises of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// A password, which may be short.
    Password,
    /// A token or a key for an interface.
    Token,
    /// A key of some sort, which may be one of a table or a map.
    Key,
}

/// Ends of names, without what separates words.
const PASSWORDS: &[&str] = &["password", "passwd", "passphrase"];
const TOKENS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "accountkey",
    "authkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "sharedkey",
    "secretkeybase",
    "credential",
    "credentials",
    "appkey",
];

/// What comes before `token` where it is a word of a text or a place in a list.
const NO_TOKEN: &[&str] = &[
    "max",
    "min",
    "num",
    "page",
    "next",
    "prev",
    "previous",
    "first",
    "last",
    "continuation",
    "cursor",
    "sync",
    "eos",
    "bos",
    "pad",
    "unk",
    "cls",
    "sep",
    "mask",
    "stop",
    "start",
    "end",
    "special",
    "input",
    "output",
    "prompt",
    "completion",
    "per",
    "cancellation",
    "resume",
];

/// What comes before `key` where it opens nothing.
const NO_KEY: &[&str] = &[
    "sort",
    "primary",
    "cache",
    "public",
    "foreign",
    "partition",
    "hash",
    "range",
    "index",
    "map",
    "search",
    "lookup",
    "group",
    "order",
    "routing",
    "row",
    "column",
    "composite",
    "unique",
    "object",
    "hot",
    "shortcut",
    "arrow",
    "pub",
    "publishable",
    "host",
    "site",
    "json",
    "dict",
    "i18n",
    "translation",
    "query",
    "topic",
    "event",
    "message",
    "config",
    "setting",
    "feature",
    "idempotency",
    "known",
];

impl Name {
    /// Reads a name; none where it names no secret.
    pub(super) fn read(name: &str) -> Option<Name> {
        let words = words(name);
        let words: &[String] = match &words[..] {
            // `API_KEY_2`, `password1`
            [words @ .., number] if number.chars().all(|c| c.is_ascii_digit()) => words,
            words => words,
        };
        let last = words.last()?.trim_end_matches(|c: char| c.is_ascii_digit());
        let before = words.len().checked_sub(2).and_then(|at| words.get(at)).map_or("", String::as_str);
        let joined = words.concat();
        let joined = joined.trim_end_matches(|c: char| c.is_ascii_digit());
        let ends = |ends: &[&str]| ends.iter().any(|end| joined.ends_with(end));
        if ends(PASSWORDS) || matches!(last, "pwd" | "pass") && words.len() > 1 && before != "old" {
            return Some(Name::Password);
        }
        if last == "token" && NO_TOKEN.contains(&before) {
            return None;
        }
        if ends(TOKENS) {
            return Some(Name::Token);
        }
        (last == "key" && !NO_KEY.contains(&before) && words.len() > 1).then_some(Name::Key)
    }
}

/// Splits a name into its words, in lower case: at signs, and where small letters end.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    let mut word = String::new();
    let mut small = false;
    for c in name.chars() {
        let ends = !c.is_ascii_alphanumeric() || small && c.is_ascii_uppercase();
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_by_their_last_words() {
        let passwords =
            ["PGPASSWORD", "DB_PASSWORD", "db-passwd", "MYSQL_PWD", "SMTP_PASS", "userPassword", "password1"];
        let tokens = [
            "API_KEY",
            "API_KEY_2",
            "apiKey",
            "x-api-key",
            "aws_secret_access_key",
            "SECRET_KEY_BASE",
            "AccountKey",
            "authToken",
            "access_token",
            "client_secret",
            "token",
            "GITHUB_TOKEN",
        ];
        let keys = ["STRIPE_KEY", "SSL_KEY"];
        let none = [
            "MAX_TOKEN",
            "next_page_token",
            "SORT_KEY",
            "PRIMARY_KEY",
            "CACHE_KEY",
            "PUBLIC_KEY",
            "key",
            "KEY",
            "keyboard",
            "MONKEY",
            "API_KEY_ENV",
            "PASSWORD_FILE",
            "secret_name",
            "tokens",
            "pwd",
            "OLD_PWD",
            "author",
            "bypass",
        ];
        assert!(passwords.iter().all(|name| Name::read(name) == Some(Name::Password)));
        for name in tokens {
            assert_eq!(Name::read(name), Some(Name::Token), "{name}");
        }
        assert!(keys.iter().all(|name| Name::read(name) == Some(Name::Key)));
        for name in none {
            assert_eq!(Name::read(name), None, "{name}");
        }
    }
}
