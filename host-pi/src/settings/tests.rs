use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

fn place() -> (TempDir, SettingsFile) {
    let directory = tempfile::tempdir().unwrap();
    let file = SettingsFile::at(directory.path().join("agent/context-guard.json"));
    (directory, file)
}

fn with(text: &str) -> (TempDir, SettingsFile) {
    let (directory, file) = place();
    fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    fs::write(file.path(), text).unwrap();
    (directory, file)
}

fn text(file: &SettingsFile) -> String {
    fs::read_to_string(file.path()).unwrap()
}

fn located(variables: &[(&str, &str)]) -> PathBuf {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    SettingsFile::locate(variable, Some("/home/me".into())).path().to_owned()
}

#[test]
fn g12_the_place_is_the_agents_directory_unless_the_environment_says_otherwise() {
    assert_eq!(located(&[]), Path::new("/home/me/.pi/agent/context-guard.json"));
    assert_eq!(located(&[(AGENT_VARIABLE, "/agent")]), Path::new("/agent/context-guard.json"));
    assert_eq!(located(&[(AGENT_VARIABLE, "/agent"), (FILE_VARIABLE, "/own.json")]), Path::new("/own.json"));
    assert_eq!(
        located(&[(AGENT_VARIABLE, ""), (FILE_VARIABLE, "")]),
        Path::new("/home/me/.pi/agent/context-guard.json")
    );
}

#[test]
fn the_place_is_never_below_the_working_directory() {
    let home = Path::new("/home/me/.pi/agent/context-guard.json");
    assert_eq!(located(&[(AGENT_VARIABLE, "~/agent")]), Path::new("/home/me/agent/context-guard.json"));
    assert_eq!(located(&[(AGENT_VARIABLE, "agent")]), home);
    assert_eq!(located(&[(FILE_VARIABLE, "own.json")]), home);
    assert_eq!(SettingsFile::locate(|_| None, None).path(), Path::new(""));
}

#[test]
fn a_missing_or_unreadable_file_gives_defaults_without_a_word() {
    let (directory, file) = place();
    let defaults = Text { json: "{}".into(), warning: None };
    assert_eq!(file.read(), defaults);
    assert_eq!(SettingsFile::at(directory.path()).read(), defaults);
}

#[test]
fn invalid_json_gives_defaults_and_one_warning() {
    let (_directory, file) = with("{\"enabled\": false,}");
    let read = file.read();
    assert_eq!(read.json, "{}");
    let warning = read.warning.unwrap().replace(&file.path().display().to_string(), "FILE");
    insta::assert_snapshot!(warning, @"FILE is not valid JSON and is ignored: key must be a string at line 1 column 19");
}

#[test]
fn valid_json_is_handed_on_as_it_is() {
    let (_directory, file) = with("\u{feff}[1,  2]");
    assert_eq!(file.read(), Text { json: "[1,  2]".into(), warning: None });
}

#[test]
fn only_texts_in_lists_count_as_origins() {
    let (_directory, file) =
        with(r#"{"network": {"allow": ["https://a.example", 7], "deny": "https://b.example"}}"#);
    assert_eq!(file.network(), Network { allow: vec!["https://a.example".into()], deny: vec![] });
    let (_directory, file) = with(r#"{"network": []}"#);
    assert_eq!(file.network(), Network::default());
}

#[test]
fn saving_keeps_all_other_keys_in_their_order() {
    let (_directory, file) = with(r#"{"zeta":1,"enabled":true,"model":"a/b","unknown":{"x":[1,2.5]}}"#);
    file.set_enabled(false).unwrap();
    insta::assert_snapshot!(text(&file), @r#"
    {
      "zeta": 1,
      "enabled": false,
      "model": "a/b",
      "unknown": {
        "x": [
          1,
          2.5
        ]
      }
    }
    "#);
    assert!(text(&file).ends_with("}\n"));
}

#[test]
fn saving_makes_the_file_and_its_directories() {
    let (_directory, file) = place();
    file.set_enabled(false).unwrap();
    assert_eq!(text(&file), "{\n  \"enabled\": false\n}\n");
}

#[test]
fn a_grant_takes_the_place_of_a_refusal_and_is_not_repeated() {
    let same = |text: &str| text.starts_with("https://a.example");
    let (_directory, file) =
        with(r#"{"network":{"deny":["https://a.example:443","https://b.example"],"allow":"?"}}"#);
    file.set_network("https://a.example", true, same).unwrap();
    file.set_network("https://a.example", true, same).unwrap();
    let network = file.network();
    assert_eq!(network.allow, ["https://a.example"]);
    assert_eq!(network.deny, ["https://b.example"]);
}

#[test]
fn b12_a_file_that_does_not_parse_is_not_overwritten() {
    for before in ["{\"enabled\": true, // mine\n}", "", "[]", "7"] {
        let (_directory, file) = with(before);
        let error = file.set_enabled(false).unwrap_err().to_string();
        assert!(error.contains("was left as it is"), "{error}");
        assert_eq!(text(&file), before);
    }
}

#[test]
fn b12_saving_leaves_no_other_file_behind() {
    let (_directory, file) = with("{}");
    file.set_enabled(true).unwrap();
    let files: Vec<_> = fs::read_dir(file.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["context-guard.json"]);
}

#[test]
fn saving_follows_a_link_and_keeps_permissions() {
    let (directory, file) = place();
    let target = directory.path().join("dotfiles.json");
    fs::create_dir_all(file.path().parent().unwrap()).unwrap();
    symlink("../dotfiles.json", file.path()).unwrap();
    // First through a link that leads nowhere yet.
    file.set_enabled(true).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    file.set_enabled(false).unwrap();
    assert!(fs::symlink_metadata(file.path()).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{\n  \"enabled\": false\n}\n");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}
