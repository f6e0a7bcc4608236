//! What a value looks like: a secret, a placeholder or code.

use std::sync::LazyLock;

use regex::Regex;

use super::OPEN;

/// Words that stand where a secret would.
const WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "changeme",
    "change_me",
    "change-me",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "key",
    "apikey",
    "api_key",
    "api-key",
    "example",
    "redacted",
    "required",
    "optional",
    "string",
    "text",
    "value",
    "hidden",
    "masked",
    "empty",
    "default",
    "placeholder",
    "stdin",
    "unset",
    "dummy",
    "todo",
    "basic",
    "bearer",
    "digest",
    "x-oauth-basic",
    "x-access-token",
    "oauth2",
];

/// What a name of the objects is called that values are read from.
const SOURCES: &[&str] = &[
    "os",
    "process",
    "self",
    "this",
    "settings",
    "config",
    "env",
    "environ",
    "ctx",
    "context",
    "args",
    "options",
    "opts",
    "req",
    "request",
    "app",
    "conf",
    "cfg",
    "params",
    "secrets",
    "var",
    "vars",
    "local",
    "data",
    "module",
    "props",
    "state",
    "user",
    "credentials",
    "creds",
    "response",
    "res",
    "result",
    "import",
];

/// Rules of a form's validator, as `required|min:8`, and types with their width.
static RULES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\A(?:[a-z_]+:[\w,.]+|[a-z_]+(?::[\w,.]+)?(?:\|[a-z_]+(?::[\w,.]+)?)+|(?i:u?int|[iuf]|float|bytes|char|varchar|base|sha|md|utf)[-_]?\d+)\z",
    )
    .ok()
});

/// Code that reads a value: a call, an index, a path of fields.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\A(?:(?:await|new|not)\s+)?[!&*]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*(?:[(\[].*)?[;,)]*\z").ok()
});

/// Returns whether a value is written out, and no reference, placeholder or word of a language.
pub(super) fn literal(value: &str) -> bool {
    let hash = value.starts_with('$') && value[1..].find('$').is_some_and(|at| (1..12).contains(&at));
    let reference = value.starts_with(['$', '{', '<', '*']) && !hash
        || value.starts_with('%') && value.ends_with('%')
        || value.starts_with("[[")
        || value.contains("...")
        || value.contains('…')
        || value.contains("${")
        || value.contains("{{")
        || value.contains("$(");
    let name = value.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let word = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let same = value.chars().all(|c| value.starts_with(c));
    let starts = |start: &str| {
        value.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
            && !value.contains(|c: char| c.is_ascii_digit())
    };
    let yours = starts("your") || starts("my_") || starts("my-") || starts("xxx");
    !(value.is_empty() || reference || name || word || same || yours || value.contains(OPEN))
}

/// Returns whether a value is code rather than text: a call, an index, or a path of fields from a usual source.
pub(super) fn code(value: &str) -> bool {
    let Some(code) = CODE.as_ref() else { return false };
    if !code.is_match(value) {
        return false;
    }
    let called = value.contains(['(', '[']);
    let first = value.split(['.', '-', ':', '?', '(', '[']).next().unwrap_or_default();
    let fields = value.contains('.') || value.contains("->") || value.contains("::");
    let last = value.rsplit(['.', '>', ':']).next().unwrap_or_default();
    let digits = last.contains(|c: char| c.is_ascii_digit());
    called || fields && (!digits || SOURCES.iter().any(|source| first.eq_ignore_ascii_case(source)))
}

/// Returns whether a value is the path of a file.
pub(super) fn path(value: &str) -> bool {
    let root = ["/", "./", "../", "~/", "\\\\"].iter().any(|start| value.starts_with(start))
        || value.get(1..3) == Some(":\\");
    let file = [".pem", ".key", ".crt", ".json", ".txt", ".env", ".yml", ".yaml", ".p12", ".jks"]
        .iter()
        .any(|end| value.ends_with(end));
    // Base64 holds slashes, and may begin with one.
    file || root && !(value.len() >= 32 && random_run(value))
}

fn random_run(value: &str) -> bool {
    let lower = value.contains(|c: char| c.is_ascii_lowercase());
    let upper = value.contains(|c: char| c.is_ascii_uppercase());
    lower && upper && value.contains(|c: char| c.is_ascii_digit()) && !value.contains(['.', '-', '_'])
}

/// Returns whether a value looks like a token: literal, with letters and digits, and neither a path nor code.
pub(super) fn random(value: &str) -> bool {
    value.len() >= 8
        && mixed_token(value)
        && !path(value)
        && !code(value)
        && !value.contains("://")
        && !date(value)
}

/// Returns whether letters and digits are mixed, as in a token.
pub(super) fn mixed_token(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().filter(u8::is_ascii_alphabetic).nth(2).is_some()
        && literal(value)
}

fn date(value: &str) -> bool {
    value.len() >= 10
        && value.bytes().take(10).enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Returns whether a value looks like a password: literal, and no word but with digits or signs in it.
pub(super) fn password(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let signs = value.char_indices().any(|(at, c)| {
        "!@#$%^&*+=~?,;|(){}<>[]\\".contains(c) && at > 0 && at + 1 < value.len() || c == '$' && at == 0
    });
    let rules = RULES.as_ref().is_some_and(|rules| rules.is_match(value));
    let mail = value.split_once('@').is_some_and(|(_, host)| {
        host.rsplit_once('.')
            .is_some_and(|(_, end)| end.chars().all(|c| c.is_ascii_alphabetic()) && end.len() > 1)
    });
    // A selector, a resource, a parameter of a query.
    let selector = value.starts_with(['#', '.', '@', ':'])
        && value[1..].chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
    let lower = value.to_ascii_lowercase();
    let named = lower.contains("passw") && lower.contains(['-', '_', '.', '/']);
    value.len() >= 4
        && literal(value)
        && (digits > 0 || signs)
        && !(rules || mail || selector || named || path(value) || code(value) || value.contains("://"))
}

/// Returns whether a value is nothing but a number that counts something.
pub(super) fn count(value: &str) -> bool {
    value.len() <= 10 && value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'))
}
