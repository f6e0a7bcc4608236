//! The forms of secrets, in one table.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::OPEN;

/// A form of secret. The secret is the pattern's first group, or the whole match where it has none.
struct Kind {
    pattern: &'static str,
    /// Tells secrets from what merely looks like one.
    plausible: fn(&str) -> bool,
}

const fn always(pattern: &'static str) -> Kind {
    Kind { pattern, plausible: |_| true }
}

/// The patterns are linear in the text, as all of this crate's are.
const KINDS: &[Kind] = &[
    // Private keys, also without their beginning or their end, since outputs are cut.
    Kind {
        pattern: r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----((?:[^-]|-[^-])+)",
        plausible: |key| !key.trim().is_empty(),
    },
    always(r"(?:\A|\n)((?:[A-Za-z0-9+/=]{16,}\s+)+)-----END [A-Z0-9 ]*PRIVATE KEY-----"),
    // Tokens of well-known services: AWS, GitHub, GitLab, Slack, Stripe, Google, npm, PyPI, Hugging Face, SendGrid,
    // DigitalOcean.
    always(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    always(r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    always(r"\bgithub_pat_[A-Za-z0-9_]{40,255}\b"),
    always(r"\bglpat-[A-Za-z0-9_-]{20,}"),
    always(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    always(r"\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{24,}\b"),
    always(r"\bAIza[0-9A-Za-z_-]{35}"),
    always(r"\bya29\.[0-9A-Za-z_-]{20,}"),
    always(r"\bnpm_[A-Za-z0-9]{36}\b"),
    always(r"\bpypi-[A-Za-z0-9_-]{50,}"),
    always(r"\bhf_[A-Za-z0-9]{30,}\b"),
    always(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    always(r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    // OpenAI, Anthropic, OpenRouter and others that took the form over; `sk-` also begins names of packages.
    Kind { pattern: r"\bsk-[A-Za-z0-9_-]{20,}", plausible: random },
    // JSON Web Tokens.
    always(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    // A password in a URL or behind `curl -u`.
    Kind { pattern: r#"\b[a-z][a-z0-9+.-]*://[^\s/:@'"<>]*:([^\s/@'"<>]+)@"#, plausible: literal },
    Kind { pattern: r#"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]["']?[^\s:"']+:([^\s"']+)"#, plausible: literal },
    // Headers.
    Kind {
        pattern: r#"(?i)\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{8,})"#,
        plausible: literal,
    },
    Kind { pattern: r"\b[Bb]earer\s+([A-Za-z0-9._~+/=-]{20,})", plausible: random },
    Kind { pattern: r"(?im)^[<>*\s]*(?:set-)?cookie:[ \t]*([^\r\n]+=[^\r\n]+)", plausible: literal },
    // Assignments as in an environment, which hold any text.
    Kind {
        pattern: r#"\b(?:[A-Z][A-Z0-9_]*_)?(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)=["']?([^\s"'`;,&|<>(){}\[\]]{4,})"#,
        plausible: literal,
    },
    // Assignments and fields of other forms, where a value is a secret only if it looks like one.
    Kind {
        pattern: r#"(?i)\b[A-Za-z0-9_-]*(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|[_-]token|token|secret|password|passwd)["']?\s*(?::|=|=>|:=)\s*["']([^\s"']{8,})["']"#,
        plausible: random,
    },
    // YAML leaves quotes out.
    Kind {
        pattern: r"(?im)^\s*[A-Za-z0-9_-]*(?:api[_-]?key|access[_-]?key|secret[_-]?key|token|secret|password|passwd):[ \t]+([A-Za-z0-9._~+/=!@#%^*-]{8,})[ \t]*$",
        plausible: random,
    },
];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| KINDS.iter().filter_map(|kind| Regex::new(kind.pattern).ok()).collect());

/// One pass over a text tells which kinds are worth a search; most texts hold none.
static ANY: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(KINDS.iter().map(|kind| kind.pattern)).ok());

/// Finds the secrets of a text: ranges that do not overlap, in order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let Some(any) = ANY.as_ref() else { return vec![] };
    let mut found: Vec<Range<usize>> = vec![];
    for index in any.matches(text) {
        let (Some(kind), Some(pattern)) = (KINDS.get(index), PATTERNS.get(index)) else { continue };
        for captures in pattern.captures_iter(text) {
            let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else { continue };
            if !secret.as_str().contains(OPEN) && (kind.plausible)(secret.as_str()) {
                found.push(secret.range());
            }
        }
    }
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    // Where two forms overlap, neither may show the rest of the other.
    found.dedup_by(|next, kept| {
        let overlap = next.start < kept.end;
        if overlap {
            kept.end = kept.end.max(next.end);
        }
        overlap
    });
    found
}

/// Returns whether a value is written out, and no reference, placeholder or word of a language.
fn literal(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "changeme",
        "password",
        "secret",
        "token",
        "example",
        "redacted",
    ];
    let reference =
        value.starts_with(['$', '%', '{', '<', '*']) || value.contains("...") || value.contains('…');
    let name = value.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let word = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let same = value.chars().all(|c| value.starts_with(c));
    let yours = value
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("your_") || start.eq_ignore_ascii_case("your-"));
    !(reference || name || word || same || yours)
}

/// Returns whether a value looks like a token: literal, with letters and digits, and neither a path nor a call.
fn random(value: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    let code = value.contains(['(', ')', '[', ']', '{', '}'])
        || value.starts_with(['/', '.'])
        || value.contains("::");
    literal(value) && digits > 0 && letters > 2 && !code
}
