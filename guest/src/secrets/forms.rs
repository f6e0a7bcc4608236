//! Forms that a pattern tells: passwords in URLs and options, headers, cookies and statements.

use std::ops::Range;

use super::values;

/// How far a form reaches from the start of its cue's line.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// To the end of the line.
    Line,
    /// Over lines that end in a backslash as well.
    Continued,
    /// To the end of the next line.
    Next,
}

/// What of a group is secret.
#[derive(Clone, Copy)]
pub(super) enum Taken {
    /// All of it, if it is no placeholder.
    Whole(fn(&str) -> bool),
    /// The values of cookies.
    Cookies,
}

/// A form of secret. What the groups of its pattern hold is secret.
pub(super) struct Form {
    /// Texts without any of these, in lower case, hold no such secret.
    pub(super) cues: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) reach: Reach,
    pub(super) taken: Taken,
}

pub(super) const FORMS: &[Form] = &[
    // A password in a URL, or a token in the place of the user.
    Form {
        cues: &["://"],
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s/:@'"<>\\]*:([^\s/'"<>\\]+)@"#,
        reach: Reach::Line,
        taken: Taken::Whole(|password| values::literal(password) && !port(password)),
    },
    Form {
        cues: &["://"],
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]*://([^\s/:@'"<>\\]{16,})(?::[^\s/@'"<>\\]*)?@"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::random),
    },
    // Signatures of signed URLs.
    Form {
        cues: &["sig=", "signature="],
        pattern: r#"(?i)[?&](?:sig|signature|x-amz-signature|x-goog-signature)=([^\s&"'<>#\\]{20,})"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::literal),
    },
    // User and password of a command line.
    Form {
        cues: &["curl"],
        pattern: r#"(?i)\bcurl\b(?s:.*?)\s-(?:[a-z]*u|-user|-proxy-user)[ =]*(?:\\*["'])?[^\s:"'\\=-][^\s:"'\\]*:((?:[^\s"'\\]|\\[^\s"'nrt])+)"#,
        reach: Reach::Continued,
        taken: Taken::Whole(values::literal),
    },
    Form {
        cues: &["sshpass"],
        pattern: r#"\bsshpass\s+(?:-[ev]\s+)*-p[ =]?(?:\\*"((?:[^"\\]|\\[^"])+)|\\*'([^']+)|([^\s"'\\-][^\s"'\\]*))"#,
        reach: Reach::Continued,
        taken: Taken::Whole(values::literal),
    },
    Form {
        cues: &["mysql", "mariadb"],
        pattern: r#"\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^\n|;]*?\s-p(?:\\*["'])?([^\s"'\\-][^\s"'\\]*)"#,
        reach: Reach::Continued,
        taken: Taken::Whole(values::password),
    },
    // netrc
    Form {
        cues: &["login"],
        pattern: r"(?:\A|[\s:\\]n?)login\s+\S+\s+(?:\d+[\t:]\s*)?password\s+(\S+)",
        reach: Reach::Next,
        taken: Taken::Whole(values::literal),
    },
    // libpq and what writes its settings alike: among settings of a connection any word is a password.
    Form {
        cues: &["password", "pwd"],
        pattern: r#"(?i)(?:\b(?:host|hostaddr|dbname|user)=[^\s"'=(),]+ (?:[a-z_]+=[^\s"'=(),]* )*)password=([^\s"'\\;]+)"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::literal),
    },
    Form {
        cues: &["password"],
        pattern: r#"(?i)\bpassword=([^\s"'\\;,()]+) (?:[a-z_]+=[^\s"'=(),]* )*(?:host|hostaddr|dbname|user)="#,
        reach: Reach::Line,
        taken: Taken::Whole(values::literal),
    },
    // Connection strings of databases and storage.
    Form {
        cues: &["password", "pwd"],
        pattern: r#"(?i);\s*(?:password|pwd)\s*=\s*([^\s;"'\\]+)"#,
        reach: Reach::Line,
        taken: Taken::Whole(|value| values::literal(value) && !values::code(value)),
    },
    // Headers.
    Form {
        cues: &["authorization"],
        pattern: r#"(?i)\bauthorization(?:\\*["'])?\]?\s*[:=]\s*(?:\\*["'`])?(?:bearer|basic|token|apikey|key|negotiate|ntlm)\s+([a-z0-9._~+/=:-]{8,})"#,
        reach: Reach::Line,
        taken: Taken::Whole(|value| values::literal(value) && !values::code(value)),
    },
    Form {
        cues: &["authorization"],
        pattern: r#"(?i)\bauthorization(?:\\*["'])?\]?\s*[:=]\s*(?:\\*["'`])?([a-z0-9._~+/=:-]{8,})"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::random),
    },
    // Digest and AWS: parts of the header are secret.
    Form {
        cues: &["authorization"],
        pattern: r#"(?i)\bauthorization\b[^\n]*?\b(?:signature|response)=(?:\\*["'])?([a-z0-9+/=%]{16,})"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::random),
    },
    Form {
        cues: &["earer"],
        pattern: r"\b[Bb]earer\s+([A-Za-z0-9._~+/=-]{16,})",
        reach: Reach::Line,
        taken: Taken::Whole(values::random),
    },
    // SQL.
    Form {
        cues: &["identified", "password"],
        pattern: r#"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?(?:by|as)|(?:user|role|login)\b[^\n;'"]*\bpassword(?:\s*=)?|(?:set|encrypted)\s+password(?:\s+for\s+\S+)?(?:\s*=)?(?:\s*password)?)\s*\(?\s*(?:\\*'([^'\n]+)\\*'|\\*"([^"\n]+)\\*")"#,
        reach: Reach::Line,
        taken: Taken::Whole(values::literal),
    },
    Form {
        cues: &["password"],
        pattern: r"\bPASSWORD\s*\(?\s*\\*'([^'\n]+?)\\*'",
        reach: Reach::Line,
        taken: Taken::Whole(values::literal),
    },
    // Cookies of a header or an option, which are looked through one by one.
    Form {
        cues: &["cookie", "curl"],
        pattern: r#"(?i)(?:\b(?:set-)?cookie(?:\\*["'])?\s*:\s*(?:\\*["'])?|\bcurl\b(?s:.*?)\s(?:-b|--cookie)[ =]?(?:\\*["'])?)([^\r\n"']+=[^\r\n"']*)"#,
        reach: Reach::Continued,
        taken: Taken::Cookies,
    },
];

/// Returns whether what looks like a password goes on a list of addresses, as in `localhost:3000,me@host`.
fn port(value: &str) -> bool {
    let digits = value.chars().take_while(char::is_ascii_digit).count();
    (1..=5).contains(&digits) && value[digits..].starts_with([',', ';', ')', ']', '`', '|'])
}

/// Words in the names of cookies that hold a session.
const SESSIONS: &[&str] =
    &["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "login", "remember", "secret"];

/// Returns the values of cookies that hold a session, or may.
pub(super) fn cookies(header: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut at = 0;
    for pair in header.split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let value = value.trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
            let value = value.split(char::is_whitespace).next().unwrap_or_default();
            let lower = name.trim().to_ascii_lowercase();
            let session = SESSIONS.iter().any(|word| lower.contains(word)) && value.len() >= 4;
            let attribute = matches!(lower.as_str(), "expires" | "path" | "domain" | "max-age" | "samesite");
            if values::literal(value) && !attribute && (session || value.len() >= 16 && values::random(value))
            {
                let start = at + name.len() + 1;
                found.push(start..start + value.len());
            }
        }
        at += pair.len() + 1;
    }
    found
}
