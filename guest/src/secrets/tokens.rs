//! Tokens of well-known services, which their first characters tell.

use super::values;

/// A form of token: how it begins, and what follows.
pub(super) struct Token {
    /// Its first characters.
    pub(super) prefix: &'static str,
    /// Which characters follow, besides letters and digits.
    signs: &'static str,
    /// Fewest characters that follow.
    least: usize,
    /// Tells tokens from what merely begins like one.
    plausible: fn(&str) -> bool,
}

/// Fewest characters after the prefix where the token is cut, as its mark tells.
const CUT: usize = 4;

const fn token(prefix: &'static str, signs: &'static str, least: usize) -> Token {
    Token { prefix, signs, least, plausible: |_| true }
}

/// The forms. Of two that begin alike, the longer one comes first.
pub(super) const TOKENS: &[Token] = &[
    // AWS: upper case only.
    Token { prefix: "AKIA", signs: "", least: 16, plausible: aws },
    Token { prefix: "ASIA", signs: "", least: 16, plausible: aws },
    // GitHub
    token("ghp_", "_", 36),
    token("gho_", "_", 36),
    token("ghu_", "_", 36),
    token("ghs_", "_", 36),
    token("ghr_", "_", 36),
    token("github_pat_", "_", 40),
    // GitLab, whose routable tokens have dots
    token("glpat-", "_-.", 20),
    token("glptt-", "_-.", 20),
    token("gldt-", "_-.", 20),
    token("glrt-", "_-.", 20),
    token("glcbt-", "_-.", 20),
    // Slack
    token("xoxa-", "-", 10),
    token("xoxb-", "-", 10),
    token("xoxe-", "-", 10),
    token("xoxe.xox", "-.", 20),
    token("xoxo-", "-", 10),
    token("xoxp-", "-", 10),
    token("xoxr-", "-", 10),
    token("xoxs-", "-", 10),
    token("xapp-", "-", 20),
    token("hooks.slack.com/services/", "/", 20),
    // Stripe
    token("sk_live_", "", 16),
    token("sk_test_", "", 16),
    token("rk_live_", "", 16),
    token("rk_test_", "", 16),
    Token { prefix: "sk_", signs: "", least: 24, plausible: values::mixed_token },
    token("whsec_", "+/=", 24),
    // Google
    token("AIza", "_-", 35),
    token("ya29.", "_-.", 20),
    token("GOCSPX-", "_-", 20),
    // Registries
    token("npm_", "", 36),
    token("pypi-", "_-", 50),
    token("rubygems_", "", 40),
    token("dckr_pat_", "_-", 20),
    // Hosts of models. `sk-` also begins names of packages.
    token("hf_", "", 30),
    token("gsk_", "", 40),
    token("xai-", "", 60),
    token("r8_", "", 36),
    Token { prefix: "sk-", signs: "_-", least: 20, plausible: values::mixed_token },
    // HashiCorp Vault
    token("hvs.", "_-", 20),
    token("hvb.", "_-", 20),
    // SendGrid, DigitalOcean, Shopify, Linear, Databricks, Tailscale, age
    Token { prefix: "SG.", signs: "_-.", least: 33, plausible: |token| token.matches('.').count() == 2 },
    token("dop_v1_", "", 64),
    token("doo_v1_", "", 64),
    token("dor_v1_", "", 64),
    token("shpat_", "", 32),
    token("shpss_", "", 32),
    token("lin_api_", "", 32),
    Token { prefix: "dapi", signs: "-", least: 32, plausible: values::mixed_token },
    token("tskey-", "-", 20),
    token("AGE-SECRET-KEY-1", "", 40),
    // JSON Web Tokens
    Token { prefix: "eyJ", signs: "_-.", least: 30, plausible: |token| token.contains(".eyJ") },
];

/// Returns the end of the token that starts at `at`, if one does; `Err` with the end of what was looked at if none.
pub(super) fn end(token: &Token, text: &str, at: usize) -> Result<usize, usize> {
    let start = at + token.prefix.len();
    let Some(rest) = text.get(start..).filter(|_| begins(text, at)) else { return Err(start) };
    let belongs = |c: char| c.is_ascii_alphanumeric() || token.signs.contains(c);
    let run = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    // A full stop ends the sentence, not the token.
    let length = rest[..run].trim_end_matches('.').len();
    let whole = length >= token.least && (token.plausible)(&text[at..start + length]);
    let cut = length >= CUT
        && values::mixed_token(&text[at..start + length])
        && ["…", "...", "[…]", "\n[…]"].iter().any(|mark| rest[length..].starts_with(mark));
    if whole || cut { Ok(start + length) } else { Err(start + run) }
}

fn aws(token: &str) -> bool {
    token.len() == 20 && token.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// Returns whether a word can begin at `at`: what stands before is no part of one, or is an escape that ends in a
/// letter or digit, as those of JSON strings, terminals and URLs do.
pub(super) fn begins(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let back = |count: usize| at.checked_sub(count).and_then(|place| bytes.get(place)).copied();
    let Some(last) = back(1) else { return true };
    let escape = matches!(last, b'n' | b'r' | b't') && back(2) == Some(b'\\');
    let percent = last.is_ascii_hexdigit() && back(3) == Some(b'%');
    !word(last) || escape || percent || last == b'm' && colour(&bytes[..at])
}

/// Returns whether a text ends in the code of a terminal's colour, `\x1b[1;32m`, also with the escape written out.
fn colour(before: &[u8]) -> bool {
    let mut rest = &before[..before.len().saturating_sub(1)];
    let mut digits = 0;
    while let [start @ .., b'0'..=b'9' | b';'] = rest {
        rest = start;
        digits += 1;
        if digits > 16 {
            return false;
        }
    }
    let [start @ .., b'['] = rest else { return false };
    [b"\x1b".as_slice(), b"\\x1b", b"\\x1B", b"\\u001b", b"\\u001B", b"\\e", b"\\033"]
        .iter()
        .any(|escape| start.ends_with(escape))
}
