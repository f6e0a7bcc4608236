//! What must be masked, what must not, and that nothing leaves whatever stands around it.

mod forms;
mod keys;
mod requests;
mod stays;

use proptest::prelude::*;

use super::*;

fn masked(text: &str) -> String {
    Masks::default().text(text).into_owned()
}

/// Letters and digits as tokens have them. Put together here, so that no scanner takes them for real ones.
const LETTERS: &str = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2";

fn letters(length: usize) -> &'static str {
    &LETTERS[..length]
}

/// Lines of a key, all but the last of them full.
fn key_lines(count: usize) -> Vec<String> {
    let line = |at: usize| format!("{:02}{}", at + 10, &LETTERS[..62]);
    (0..count).map(|at| if at + 1 < count { line(at) } else { line(at)[..24].to_owned() }).collect()
}

fn private_key(count: usize) -> String {
    let lines = key_lines(count).join("\n");
    format!("-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----")
}

#[test]
fn equal_secrets_have_equal_masks() {
    let masks = Masks::default();
    assert_eq!(masks.text("Is PASSWORD=hunter2 right?"), "Is PASSWORD=‹secret 1› right?");
    assert_eq!(masks.text("API_TOKEN=other99x"), "API_TOKEN=‹secret 2›");
    assert_eq!(masks.text("login(PASSWORD=hunter2)"), "login(PASSWORD=‹secret 1›)");
    assert_eq!(format!("{masks:?}"), "Masks { secrets: 2 }");
}

proptest! {
    #[test]
    fn lines_stay_in_number(
        text in "(\\PC{0,12}|[A-Z]{1,6}_KEY=[a-z0-9]{0,9}|-----BEGIN PRIVATE KEY-----|-----END PRIVATE KEY-----|[A-Za-z0-9+/]{64}|https://u:p[a-z]{0,4}@h|Cookie: a=b|api_key[=:] ?\\\\?[\"']|password|\\\\n|--token|curl -u a:b[a-z]{0,3}|\x1b\\[3[0-9]m|ghp_|[a-z]{0,4}[0-9]|\n| |\"){0,20}",
    ) {
        prop_assert_eq!(masked(&text).matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn any_text_is_masked_without_harm(text in "[\\x00-\\x7fé‹›😀]{0,80}|(key|token|secret|password|://|curl|[=:\"'\\\\@ \n-]|é){0,40}") {
        masked(&text);
    }
}

/// Long texts that make a search slow if it looks at anything more than a fixed number of times.
#[test]
fn the_time_is_linear() {
    let cues = [
        "token=",
        "sk-",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "AAAA\\n-----END PRIVATE KEY-----",
        "api_key=\"",
        "password: ",
        "curl -u ",
        "https://a:",
        "Cookie: a=",
        "login ",
        "password=a host=",
        "\\n",
        "key\"",
        "authorization",
        "name: X_TOKEN value: ",
        "IDENTIFIED BY '",
        "glpat-",
        "\x1b[1;1;1",
        "token=a1b2",
        "PASSWORD=a1!",
        "secret=\"a1b2",
    ];
    let started = std::time::Instant::now();
    for cue in cues {
        masked(&cue.repeat(40_000 / cue.len()));
        masked(&format!("{}\n{}", "A".repeat(40_000), cue));
    }
    masked(&"token=a1b2".repeat(20_000));
    // It takes about two seconds unoptimized on a slow machine; a quadratic search takes minutes.
    assert!(started.elapsed().as_secs() < 60);
}
