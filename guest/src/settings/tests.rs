//! Worked cases of the settings files.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys::{KEYS, Key, Shape};
use super::{Settings, schema};

/// What the reference calls the types of keys.
const KINDS: [&str; 6] = ["switch", "integer", "number", "text", "list", "object"];

/// Loads the user's settings alone, which must give that many warnings.
fn load(user: &Value, warnings: usize) -> Settings {
    let (settings, texts) = Settings::load(&user.to_string(), None);
    assert_eq!(texts.len(), warnings, "{texts:?}");
    settings
}

/// Narrows by a project and returns the warnings as well.
fn narrow(user: Value, project: Value) -> (Settings, Vec<String>) {
    Settings::load(&user.to_string(), Some(&project.to_string()))
}

#[test]
fn g1_without_a_file_the_defaults_hold() {
    for text in ["", " \n", "{}"] {
        assert_eq!(Settings::load(text, None), (Settings::default(), vec![]));
    }
}

#[test]
fn g2_b12_what_is_no_json_gives_the_defaults_and_the_parsers_message() {
    let (settings, warnings) = Settings::load("{ nope", None);
    assert_eq!(settings, Settings::default());
    insta::assert_snapshot!(warnings.join("\n"), @"settings: the file is not valid JSON and is ignored: key must be a string at line 1 column 3");
}

#[test]
fn g3_what_is_no_object_gives_the_defaults() {
    assert_eq!(load(&json!([1]), 1), Settings::default());
    assert_eq!(load(&json!("x"), 1), Settings::default());
}

#[test]
fn g4_whole_numbers() {
    assert_eq!(load(&json!({ "concurrency": 2.0 }), 0).concurrency, 2);
    for wrong in [json!(2.5), json!(0), json!(33), json!("6"), json!(-1), json!(1e300)] {
        assert_eq!(load(&json!({ "concurrency": wrong }), 1).concurrency, 6);
    }
}

#[test]
fn g5_shares() {
    assert_eq!(load(&json!({ "keepWholeThreshold": 0 }), 0).keep_whole_threshold, 0.0);
    assert_eq!(load(&json!({ "keepWholeThreshold": 1.01 }), 1).keep_whole_threshold, 0.7);
}

#[test]
fn g6_a_switch_takes_no_text() {
    assert!(load(&json!({ "enabled": "no" }), 1).enabled);
    assert!(!load(&json!({ "enabled": false }), 0).enabled);
}

#[test]
fn g7_excluded_tools() {
    let tools = |list: Value, warnings| load(&json!({ "excludeTools": list }), warnings).exclude_tools;
    assert_eq!(tools(json!(["bash", 3, "read"]), 1), ["bash", "read"]);
    assert_eq!(tools(json!([]), 0), [""; 0]);
    assert_eq!(tools(json!("edit"), 1), ["edit", "write"]);
}

#[test]
fn g8_history_exchanges() {
    for wrong in [json!(11), json!(-1), Value::Null] {
        assert_eq!(load(&json!({ "historyExchanges": wrong }), 1).history_exchanges, 3);
    }
    assert_eq!(load(&json!({ "historyExchanges": 0 }), 0).history_exchanges, 0);
}

#[test]
fn g9_the_budget_has_a_least_value() {
    assert_eq!(load(&json!({ "timeoutMs": 499 }), 1).timeout_ms, 8_000);
    assert_eq!(load(&json!({ "timeoutMs": 500 }), 0).timeout_ms, 500);
}

#[test]
fn g11_a_small_limit_above_the_large_one_is_taken_as_it_is() {
    let settings = load(&json!({ "smallResultMinChars": 5_000, "minResultChars": 4_000 }), 0);
    assert!(settings.small_result_min_chars > settings.min_result_chars);
}

#[test]
fn g13_the_model_splits_at_its_first_slash() {
    let split = |model: Value, warnings| {
        let settings = load(&json!({ "model": model }), warnings);
        (settings.provider().to_owned(), settings.model_id().to_owned())
    };
    let of = |provider: &str, id: &str| (provider.to_owned(), id.to_owned());
    assert_eq!(split(json!("openrouter/a/b"), 0), of("openrouter", "a/b"));
    assert_eq!(split(json!("  openrouter/a/b  "), 0), of("openrouter", "a/b"));
    assert_eq!(split(json!("provider/"), 0), of("provider", ""));
    for wrong in [json!("no-slash"), json!("/id"), json!(" /id"), json!(7)] {
        assert_eq!(split(wrong, 1), of("openrouter", "~typesafe/jev-latest"));
    }
}

#[test]
fn b12_one_warning_per_wrong_value_and_unknown_key() {
    let user = json!({
        "concurency": 4,
        "timeout": 500,
        "concurrency": 33,
        "maxKeepRatio": "sk-secret",
        "model": "sk-secret",
        "midRun": null,
        "excludeTools": ["sk-secret", 7],
        "network": { "allow": "https://user:sk-secret@host" },
        "imageKeepTurns": 5,
    });
    let (settings, warnings) = Settings::load(&user.to_string(), None);
    assert_eq!(settings.image_keep_turns, 5);
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    settings: unknown key `concurency` is ignored; the nearest known one is `concurrency`
    settings: unknown key `timeout` is ignored; the nearest known one is `timeoutMs`
    settings: `concurrency` must be a whole number from 1 to 32, not 33; the default 6 is used
    settings: `maxKeepRatio` must be a number from 0 to 1, not the given text; the default 0.6 is used
    settings: `model` must be a text of the form `provider/id`, not the given text; the default "openrouter/~typesafe/jev-latest" is used
    settings: `midRun` must be true or false, not null; the default true is used
    settings: `excludeTools`: only texts name tools, the rest is left out
    settings: `network`: only lists of texts under `allow` and `deny` count, the rest is left out
    "#);
}

#[test]
fn b12_the_nearest_key_is_found_despite_case_and_typing_errors() {
    let named = |typed: &str| {
        let (_, warnings) = Settings::load(&json!({ typed: 1 }).to_string(), None);
        warnings[0].rsplit('`').nth(1).unwrap().to_owned()
    };
    assert_eq!(named("Enabled"), "enabled");
    assert_eq!(named("midRunBatchCharsOpenAi"), "midRunBatchCharsOpenAI");
    assert_eq!(named("histroyExchanges"), "historyExchanges");
    assert_eq!(named("imageKeep"), "imageKeepTurns");
}

#[test]
fn the_schema_may_be_named_in_the_file() {
    assert_eq!(load(&json!({ "$schema": "settings.schema.json" }), 0), Settings::default());
}

#[test]
fn only_the_shape_of_the_network_permission_is_checked() {
    load(&json!({ "network": { "allow": ["not an origin"], "deny": [] } }), 0);
    load(&json!({ "network": {} }), 0);
    for wrong in [json!([]), json!({ "allow": [1] }), json!({ "alow": [] }), json!({ "deny": "x" })] {
        load(&json!({ "network": wrong }), 1);
    }
}

#[test]
fn a_project_can_narrow() {
    let (settings, warnings) = narrow(
        json!({ "excludeTools": ["edit"] }),
        json!({
            "enabled": false,
            "midRun": false,
            "pruneExchanges": false,
            "excludeTools": ["edit", "bash"],
            "historyExchanges": 1,
        }),
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(!settings.enabled && !settings.mid_run && !settings.prune_exchanges);
    assert_eq!((settings.exclude_tools, settings.history_exchanges), (vec!["edit".into(), "bash".into()], 1));
}

#[test]
fn a_project_cannot_widen() {
    let user = json!({ "enabled": false, "midRun": false, "historyExchanges": 2, "excludeTools": ["bash"] });
    let (settings, warnings) = narrow(
        user.clone(),
        json!({
            "enabled": true,
            "midRun": "yes",
            "historyExchanges": 3,
            "excludeTools": [7],
            "model": "elsewhere/model",
            "network": { "allow": ["https://elsewhere.example"] },
            "enable": true,
        }),
    );
    assert_eq!(settings, load(&user, 0));
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    project settings: `enabled` is ignored: a project can only narrow your own settings
    project settings: `midRun` must be true or false, not the given text, and is ignored
    project settings: `historyExchanges` is ignored: a project can only narrow your own settings
    project settings: `excludeTools` was taken in part: only texts name tools, the rest is left out
    project settings: `model` cannot be set by a project and is ignored; move it to your own settings
    project settings: `network` cannot be set by a project and is ignored; move it to your own settings
    project settings: unknown key `enable` is ignored; the nearest known one is `enabled`
    "#);
}

#[test]
fn a_project_file_that_is_no_json_leaves_the_users_settings() {
    let (settings, warnings) = Settings::load(r#"{"concurrency":2}"#, Some("{ nope"));
    assert_eq!((settings.concurrency, warnings.len()), (2, 1));
    assert!(warnings[0].starts_with("project settings: "), "{warnings:?}");
    assert_eq!(Settings::load("{}", Some("")).1, [""; 0]);
}

#[test]
fn every_range_holds_at_both_ends() {
    for key in KEYS {
        let (Shape::Size(range, _) | Shape::Count(range, _)) = &key.shape else { continue };
        for inside in [*range.start(), *range.end()] {
            let mut settings = load(&json!({ key.name: inside }), 0);
            assert_eq!(key.get(&mut settings), json!(inside), "{}", key.name);
        }
        for outside in [i64::from(*range.start()) - 1, i64::from(*range.end()) + 1] {
            let mut settings = load(&json!({ key.name: outside }), 1);
            assert_eq!(key.get(&mut settings), key.get(&mut Settings::default()), "{}", key.name);
        }
    }
}

#[test]
fn every_field_has_its_key() {
    let mut settings = Settings::default();
    for key in KEYS {
        let other = match (&key.shape, key.get(&mut settings)) {
            (_, Value::Bool(on)) => json!(!on),
            (Shape::Share(_), _) => json!(0.123),
            (Shape::Size(range, _) | Shape::Count(range, _), _) => json!(range.end()),
            (Shape::Model, _) => json!("other/model"),
            (Shape::Tools, _) => json!(["other"]),
            (Shape::Network | Shape::Switch(_), _) => continue,
        };
        let before = settings.clone();
        assert!(key.set(&mut settings, &other).is_ok());
        assert_ne!(settings, before, "{} changes nothing that no other key does", key.name);
        assert_eq!(key.get(&mut settings), other, "{}", key.name);
    }
    let untouched = format!("{:?}", Settings::default());
    for field in format!("{settings:?}").split(", ").filter(|field| !field.contains("[")) {
        assert!(!untouched.contains(field), "no key sets `{field}`");
    }
}

#[test]
fn the_published_schema_is_that_of_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.schema.json");
    let written = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(published, written, "run this test once with UPDATE_SCHEMA=1 to publish the new schema");
}

#[test]
fn the_reference_lists_every_key_with_its_default_and_range() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/REFERENCE.md");
    let reference = std::fs::read_to_string(path).unwrap();
    let table = |line: &&str| line.split('|').nth(2).is_some_and(|kind| KINDS.contains(&kind.trim()));
    let rows: Vec<&str> = reference.lines().filter(table).collect();
    let row = |key: &Key| {
        let default = match key.get(&mut Settings::default()) {
            Value::String(text) => text,
            value => value.to_string(),
        };
        let (kind, range) = match &key.shape {
            Shape::Switch(_) => (KINDS[0], String::new()),
            Shape::Size(range, _) | Shape::Count(range, _) => {
                (KINDS[1], format!("{}–{} ", range.start(), range.end()))
            }
            Shape::Share(_) => (KINDS[2], "0–1 ".into()),
            Shape::Model => (KINDS[3], String::new()),
            Shape::Tools => (KINDS[4], String::new()),
            Shape::Network => (KINDS[5], String::new()),
        };
        format!("| `{}` | {kind} | `{default}` | {range}|", key.name)
    };
    for key in KEYS {
        let row = row(key);
        let found = rows.iter().find(|line| line.starts_with(&row));
        let found = found.unwrap_or_else(|| panic!("docs/REFERENCE.md has no row that starts so: {row}"));
        assert_eq!(found.contains('▼'), key.project, "▼ marks what a project can set: {found}");
    }
    assert_eq!(rows.len(), KEYS.len(), "a row of docs/REFERENCE.md names no key, or one twice");
}

#[test]
fn the_page_on_the_questions_lists_every_threshold_with_its_default() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/JEV.md");
    let page = std::fs::read_to_string(path).unwrap();
    for key in KEYS.iter().filter(|key| key.name.ends_with("Threshold")) {
        let row = format!("| `{}` | `{}` |", key.name, key.get(&mut Settings::default()));
        assert!(
            page.lines().any(|line| line.starts_with(&row)),
            "docs/JEV.md has no row that starts so: {row}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_fails(user in "\\PC{0,60}|\\{\"model\":\\PC{0,20}\\}", project in "\\PC{0,60}") {
        Settings::load(&user, Some(&project));
    }
}
