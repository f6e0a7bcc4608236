//! No secret leaves in any request, wherever in a session it stands and wherever the text is cut.

use serde_json::json;

use super::*;
use crate::contract::sessions::Circumstances;
use crate::contract::types::{CacheScheme, Model, ThinkingBinding};
use crate::guard::Guard;
use crate::session::fixtures::*;

/// Returns the bodies of all requests of a pass.
fn bodies(items: Vec<Item>) -> Vec<String> {
    let mut guard = Guard::new();
    guard.observe(Circumstances {
        problem: None,
        destination: Some("https://a.example".into()),
        recall_active: true,
        working_directory: "/home/dev/project".into(),
    });
    guard.update(whole(items)).unwrap();
    let model = Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: None,
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    };
    let inquiry = guard.begin(crate::contract::sessions::Phase::RunEnd, model, 0).unwrap().unwrap();
    inquiry.questions.into_iter().map(|question| question.body).collect()
}

/// Words of about that length, in lines of less than that.
fn words(length: usize, line: usize) -> String {
    let text: String = "some words here ".chars().cycle().take(length).collect();
    text.as_bytes().chunks(line.max(1)).map(|line| String::from_utf8_lossy(line) + "\n").collect()
}

/// A session in which a text stands at every place that a request tells of, `before` characters from its start.
fn planted(text: &str, before: usize, line: usize) -> Vec<Item> {
    let text = format!("{}\n{text}\n{}", words(before, line), words(6_000, line));
    let command = json!({ "command": text }).to_string();
    let small = format!("{}\n{}", words(500, line), text.chars().take(3_500).collect::<String>());
    let mut items = vec![compaction(&text)];
    for _ in 0..4 {
        items.extend([u(&text), a("").call("o", "bash", &command), r("o", &text), a(&text)]);
    }
    items.extend([
        u(&text),
        a(&text).call("c1", "bash", &command),
        r("c1", &format!("{text}{}", words(40_000, line))),
        a("").call("c2", "bash", &command),
        r("c2", &small),
        a("").call("c3", "read", &json!({ "path": text }).to_string()),
        r("c3", &words(900, line)),
        a(&text),
    ]);
    items
}

/// Returns the end and the beginning of a secret, which alone would tell too much as well.
fn parts(secret: &str) -> [&str; 2] {
    let most = secret.len().min(14);
    [&secret[..most], &secret[secret.len() - most..]]
}

#[test]
fn b40_no_secret_of_any_form_leaves_in_any_request() {
    let mut seen = "";
    for (at, (form, text, secret)) in forms::secrets().into_iter().enumerate() {
        // Every form, at another place each time; some more of its texts are for the property below.
        if form == seen && at % 12 != 0 {
            continue;
        }
        seen = form;
        for body in bodies(planted(&text, at * 7 % 900, 80)) {
            assert!(parts(secret).iter().all(|part| !body.contains(part)), "{form}: {text}");
        }
    }
}

#[test]
fn b40_no_line_of_a_key_leaves_although_chunks_cut_it() {
    let key = private_key(50);
    let numbered: String =
        key.lines().enumerate().map(|(at, line)| format!("{:6}\t{line}\n", at + 1)).collect();
    for text in [key.clone(), numbered, key.replace('\n', "\\n")] {
        let bodies = bodies(planted(&text, 31_000, 80));
        assert!(bodies.len() > 2);
        for body in bodies {
            let line = key_lines(50).into_iter().find(|line| body.contains(&line[..16]));
            assert_eq!(line, None);
        }
    }
}

#[test]
fn equal_secrets_have_equal_masks_in_all_parts_of_a_request() {
    let bodies = bodies(planted("AB_SECRET=hunter2hunter2", 100, 80));
    for kind in ["\"chunks\":", "\"items\":", "\"exchanges\":"] {
        assert!(bodies.iter().any(|body| body.contains(kind)), "{kind}");
    }
    for body in bodies {
        assert!(body.contains("‹secret 1›") && !body.contains("‹secret 2›"), "{body}");
    }
}

#[test]
fn questions_hold_no_word_of_the_session() {
    let text = format!("{}\nzebra", words(900, 80));
    let items = |text: &str| planted(text, 10, 80);
    for (one, other) in bodies(items(&text)).into_iter().zip(bodies(items(&text.replace("zebra", "okapi")))) {
        let questions =
            |body: String| body.split_once("\"questions\":").map(|(_, asked)| asked.to_owned()).unwrap();
        assert!(one.contains("zebra"));
        assert_eq!(questions(one), questions(other));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn no_secret_leaves_wherever_texts_are_cut(
        at in any::<prop::sample::Index>(),
        before in prop_oneof![0usize..1_200, 1_300usize..1_500, 2_700usize..2_900, 4_100usize..4_300],
        line in prop_oneof![Just(80usize), Just(5_000), 1usize..300],
    ) {
        static ALL: std::sync::LazyLock<Vec<(&str, String, &str)>> = std::sync::LazyLock::new(forms::secrets);
        let (form, text, secret) = at.get(&ALL);
        for body in bodies(planted(text, before, line)) {
            prop_assert!(parts(secret).iter().all(|part| !body.contains(part)), "{}: {}", form, text);
        }
    }
}
