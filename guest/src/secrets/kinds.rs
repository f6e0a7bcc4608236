//! The forms of secrets, in one table.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::OPEN;

/// A form of secret. The secret is the pattern's first group, or the whole match where it has none.
struct Kind {
    /// Texts without any of these hold no such secret. They are found at once for all kinds, which most texts have
    /// none of.
    cues: &'static [&'static str],
    /// Linear in the text, as all of this crate's patterns are.
    pattern: &'static str,
    /// Tells secrets from what merely looks like one.
    plausible: fn(&str) -> bool,
}

const fn token(cues: &'static [&'static str], pattern: &'static str) -> Kind {
    Kind { cues, pattern, plausible: |_| true }
}

const KINDS: &[Kind] = &[
    // Private keys, also without their beginning or their end, since outputs are cut.
    Kind {
        cues: &["PRIVATE KEY"],
        pattern: r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----((?:[^-]|-[^-])+)",
        plausible: |key| !key.trim().is_empty(),
    },
    token(&["PRIVATE KEY"], r"(?:\A|\n)((?:[A-Za-z0-9+/=]{16,}\s+)+)-----END [A-Z0-9 ]*PRIVATE KEY-----"),
    // Tokens of well-known services: AWS, GitHub, GitLab, Slack, Stripe, Google, npm, PyPI, Hugging Face, SendGrid,
    // DigitalOcean.
    token(&["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    token(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    token(&["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{40,255}\b"),
    token(&["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}"),
    token(&["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    token(&["sk_", "rk_", "whsec_"], r"\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{24,}\b"),
    token(&["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    token(&["ya29."], r"\bya29\.[0-9A-Za-z_-]{20,}"),
    token(&["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    token(&["pypi-"], r"\bpypi-[A-Za-z0-9_-]{50,}"),
    token(&["hf_"], r"\bhf_[A-Za-z0-9]{30,}\b"),
    token(&["SG."], r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    token(&["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    // OpenAI, Anthropic, OpenRouter and others that took the form over; `sk-` also begins names of packages.
    Kind { cues: &["sk-"], pattern: r"\bsk-[A-Za-z0-9_-]{20,}", plausible: random },
    // JSON Web Tokens.
    token(&["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    // A password in a URL or behind `curl -u`.
    Kind {
        cues: &["://"],
        pattern: r#"\b[a-z][a-z0-9+.-]*://[^\s/:@'"<>]*:([^\s/@'"<>]+)@"#,
        plausible: literal,
    },
    Kind {
        cues: &["curl"],
        pattern: r#"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]["']?[^\s:"']+:([^\s"']+)"#,
        plausible: literal,
    },
    // Headers.
    Kind {
        cues: &["uthorization", "UTHORIZATION"],
        pattern: r#"\b(?i-u:authorization)["']?\s*[:=]\s*["']?(?i-u:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{8,})"#,
        plausible: literal,
    },
    Kind { cues: &["earer"], pattern: r"\b[Bb]earer\s+([A-Za-z0-9._~+/=-]{20,})", plausible: random },
    Kind {
        cues: &["ookie:", "OOKIE:"],
        pattern: r"(?m)^[<>*\s]*(?i-u:(?:set-)?cookie):[ \t]*([^\r\n]+=[^\r\n]+)",
        plausible: literal,
    },
    // Assignments as in an environment, which hold any text.
    Kind {
        cues: &["KEY=", "TOKEN=", "SECRET=", "PASSWORD=", "PASSWD="],
        pattern: r#"\b(?:[A-Z][A-Z0-9_]*_)?(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)=["']?([^\s"'`;,&|<>(){}\[\]]{4,})"#,
        plausible: literal,
    },
    // Assignments and fields of other forms, where a value is a secret only if it looks like one.
    Kind {
        cues: NAMES,
        pattern: r#"(?i-u:(?:api|access|secret|private)[_-]?key|token|secret|password|passwd)["']?\s*(?::|=|=>|:=)\s*["']([^\s"']{8,})["']"#,
        plausible: random,
    },
    // YAML leaves quotes out.
    Kind {
        cues: NAMES,
        pattern: r"(?m)^\s*[A-Za-z0-9_-]*(?i-u:(?:api|access|secret)[_-]?key|token|secret|password|passwd):[ \t]+([A-Za-z0-9._~+/=!@#%^*-]{8,})[ \t]*$",
        plausible: random,
    },
];

/// Names of secrets, in the spellings that occur.
const NAMES: &[&str] = &[
    "key", "Key", "KEY", "token", "Token", "TOKEN", "secret", "Secret", "SECRET", "passw", "Passw", "PASSW",
];

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| KINDS.iter().map(|kind| Regex::new(kind.pattern).ok()).collect());

/// All cues at once. What they stand for is told by [`KINDS`].
static CUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let cues: Vec<String> = KINDS.iter().flat_map(|kind| kind.cues).map(|cue| regex::escape(cue)).collect();
    Regex::new(&cues.join("|")).ok()
});

/// Finds the secrets of a text: ranges that do not overlap, in order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut cues: Vec<&str> = vec![];
    for cue in CUES.iter().flat_map(|cues| cues.find_iter(text)).map(|cue| cue.as_str()) {
        if !cues.contains(&cue) {
            cues.push(cue);
        }
    }
    let mut found: Vec<Range<usize>> = vec![];
    for (kind, pattern) in KINDS.iter().zip(PATTERNS.iter()) {
        // One cue can begin another: `KEY` is found where `KEY=` stands.
        let due = kind
            .cues
            .iter()
            .any(|cue| cues.iter().any(|seen| cue.starts_with(seen) || seen.starts_with(cue)));
        let Some(pattern) = pattern.as_ref().filter(|_| due) else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(CUES.is_some());
        assert!(PATTERNS.iter().all(Option::is_some));
    }
}
