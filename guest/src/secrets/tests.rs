use proptest::prelude::*;
use serde_json::json;

use super::*;

fn masked(text: &str) -> String {
    Masks::default().text(text).into_owned()
}

/// Texts with the secret that must not leave. Put together here, so that no scanner takes them for real ones.
fn secrets() -> Vec<(String, String)> {
    let letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4";
    let token = |prefix: &str, length: usize| format!("{prefix}{}", &letters[..length]);
    let jwt = format!("eyJ{}.eyJ{}.{}", &letters[..20], &letters[..30], &letters[..40]);
    let both = |text: &str, secret: String| (text.replace('§', &secret), secret);
    vec![
        both("key: § here", format!("AKIA{}", "ABCD1234EFGH5678")),
        both("git clone with §", token("ghp_", 36)),
        both("§", token("github_pat_", 44)),
        both("token §,", token("glpat-", 20)),
        both("slack §", token("xoxb-", 24)),
        both("stripe §.", token("sk_live_", 24)),
        both("google §", token("AIza", 35)),
        both("//registry/:_authToken=§", token("npm_", 36)),
        both("HF §", token("hf_", 34)),
        both("export OPENAI_API_KEY=§", token("sk-proj-", 40)),
        both("ANTHROPIC: §", token("sk-ant-api03-", 40)),
        both("jwt §!", jwt),
        both("DATABASE_URL=postgres://app:§@db.internal:5432/app", "hunter2hunter2".into()),
        both("curl -s -u admin:§ https://a.example", "opensesame9".into()),
        both(r#"curl -H "Authorization: Bearer §" https://a.example"#, token("", 30)),
        both("> Cookie: §", "session=abc123; theme=dark".into()),
        both("DB_PASSWORD=§\nNEXT=1", "correcthorsebattery".into()),
        both("export STRIPE_SECRET='§'", "whatever-it-is".into()),
        both(r#"{"api_key": "§"}"#, token("", 24)),
        both("password = \"§\"", "tr0ub4dor&3".into()),
        both("  client_secret: §\n", token("", 24)),
    ]
}

#[test]
fn b40_secrets_of_every_listed_form_are_masked() {
    for (text, secret) in secrets() {
        let masked = masked(&text);
        assert!(!masked.contains(&secret), "{text}");
        assert_eq!(masked, text.replace(&secret, "‹secret 1›"));
    }
}

#[test]
fn b40_private_keys_are_masked_line_by_line_also_when_cut() {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
    let begin = "-----BEGIN RSA PRIVATE KEY-----";
    let end = "-----END RSA PRIVATE KEY-----";
    let whole = format!("cat id\n{begin}\n{line}\n{line}\n{end}\ndone");
    assert_eq!(masked(&whole), format!("cat id\n{begin}\n‹secret 1›\n‹secret 1›\n{end}\ndone"));
    assert!(!masked(&format!("{begin}\n{line}\n{line}")).contains("MII"));
    assert!(!masked(&format!("{line}\n{line}\n{end}")).contains("MII"));
}

#[test]
fn b40_what_only_looks_like_a_secret_stays() {
    let stays = [
        "AUTHOR=Jane Doe",
        "let apiKey = getKey();",
        "apiKey = getKey()",
        "let token = next_token();",
        r#"const API_KEY_ENV: &str = "OPENROUTER_API_KEY";"#,
        "API_KEY=$OPENROUTER_API_KEY",
        "API_KEY=${OPENROUTER_API_KEY}",
        "PASSWORD=<your password>",
        "API_KEY=your_key_here",
        "TOKEN=****",
        "token: string",
        "password: String,",
        r#"password: "required""#,
        "MONKEY=banana",
        "KEYBOARD=qwerty",
        "commit 5f9ae58c0ffee5f9ae58c0ffee5f9ae58c0ffee5",
        "id 123e4567-e89b-12d3-a456-426614174000",
        r#"checksum = "1b2c3d4e5f60718293a4b5c6d7e8f9001b2c3d4e5f60718293a4b5c6d7e8f900""#,
        r#""integrity": "sha512-abc123def456ghi789jkl012mno345pqr678stu901vwx234yz==""#,
        "pip install sk-learn-contrib-extras-package",
        "https://a.example:8080/path@2",
        "postgres://app:$PASSWORD@db/app",
        "if token == other_token { return; }",
        "Authorization: Bearer $TOKEN",
        "The cookie: a short story",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END CERTIFICATE-----",
    ];
    for text in stays {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn b40_equal_secrets_have_equal_masks_within_a_request() {
    let state = json!({
        "user_question": "Is PASSWORD=hunter2 right?",
        "chunks": { "chunk_1": "API_TOKEN=other99", "chunk_2": "login(PASSWORD=hunter2)" },
        "later_tool_calls": ["bash `PASSWORD=hunter2 make`"],
    });
    let Value::Object(state) = state else { panic!("an object") };
    let mut request = Request { state, questions: serde_json::Map::new() };
    mask(&mut request);
    assert_eq!(
        Value::Object(request.state),
        json!({
            "user_question": "Is PASSWORD=‹secret 1› right?",
            "chunks": { "chunk_1": "API_TOKEN=‹secret 2›", "chunk_2": "login(PASSWORD=‹secret 1›)" },
            "later_tool_calls": ["bash `PASSWORD=‹secret 1› make`"],
        })
    );
}

proptest! {
    #[test]
    fn masking_twice_changes_nothing_more_and_lines_stay_in_number(
        text in "(\\PC{0,12}|[A-Z]{1,6}_KEY=[a-z0-9]{0,9}|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|https://u:p[a-z]{0,4}@h|Cookie: a=b|\n| |\"){0,20}",
    ) {
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once.clone());
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn a_secret_is_found_wherever_it_stands(before in "[a-z ,.]{0,40}", after in "[a-z ,.]{0,40}", at in 0usize..21) {
        let (text, secret) = secrets().swap_remove(at);
        let masked = masked(&format!("{before}\n{text}\n{after}"));
        prop_assert!(!masked.contains(&secret), "{}", masked);
    }
}
