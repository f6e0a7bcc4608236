//! The user's settings file: where it is, what it says about the network, and the two keys that are ever written.
//!
//! All other keys are the guest's business and are handed to it as text.

use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Names the settings file itself.
const FILE_VARIABLE: &str = "PI_CONTEXT_GUARD_CONFIG";
/// Names the directory in which the agent keeps its settings.
const AGENT_VARIABLE: &str = "PI_CODING_AGENT_DIR";
const FILE_NAME: &str = "context-guard.json";
/// Largest file that is read, in bytes; settings have some hundred.
const LARGEST: u64 = 1 << 20;

/// A settings file was left as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// Its text is not JSON, so that rewriting it would lose what the user wrote.
    #[error("{} is not valid JSON ({reason}) and was left as it is; mend it and try again", .path.display())]
    Unparsable {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: serde_json::Error,
    },
    /// It holds something other than an object.
    #[error("{} holds no JSON object and was left as it is; mend it or remove it and try again", .path.display())]
    NoObject {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("{} cannot be written: {reason}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: io::Error,
    },
}

/// A settings file as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Valid JSON; `{}` where there is none.
    pub json: String,
    /// Names the file and the parser's message, where the file holds something else than JSON.
    pub warning: Option<String>,
}

/// What the user's file says about the network, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Origins to allow.
    pub allow: Vec<String>,
    /// Origins not to ask about again.
    pub deny: Vec<String>,
}

/// The user's settings file. Its place is fixed for as long as the runner lives.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsFile {
    path: PathBuf,
}

impl SettingsFile {
    /// Finds the place in this process's environment.
    pub fn from_env() -> Self {
        Self::locate(|name| env::var_os(name), env::home_dir())
    }

    /// Uses that file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn locate(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let agent = || set(AGENT_VARIABLE).unwrap_or_else(|| home.unwrap_or_default().join(".pi/agent"));
        Self::at(set(FILE_VARIABLE).unwrap_or_else(|| agent().join(FILE_NAME)))
    }

    /// Returns where the file is, whether or not it exists.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file. A missing or unreadable one gives defaults without a word.
    pub fn read(&self) -> Text {
        read(&self.path).unwrap_or_else(|| Text { json: "{}".into(), warning: None })
    }

    /// Returns the network permission as the file has it. What is no list of texts counts as empty.
    pub fn network(&self) -> Network {
        let settings: Value = serde_json::from_str(&self.read().json).unwrap_or_default();
        let list = |key: &str| {
            let texts =
                settings.get("network").and_then(|network| network.get(key)).and_then(Value::as_array);
            texts.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Network { allow: list("allow"), deny: list("deny") }
    }

    /// Writes `enabled`.
    ///
    /// # Errors
    ///
    /// When the file does not parse or cannot be written; it is then as it was.
    pub fn set_enabled(&self, enabled: bool) -> Result<(), SaveError> {
        self.save(|settings| {
            settings.insert("enabled".into(), enabled.into());
        })
    }

    /// Writes an origin into `network.allow` or `network.deny`, and takes it out of the other. `same` says whether
    /// a text in the file means that origin.
    ///
    /// # Errors
    ///
    /// As [`Self::set_enabled`].
    pub fn set_network(
        &self,
        origin: &str,
        allow: bool,
        same: impl Fn(&str) -> bool,
    ) -> Result<(), SaveError> {
        let (to, from) = if allow { ("allow", "deny") } else { ("deny", "allow") };
        let means_it = |value: &Value| value.as_str().is_some_and(&same);
        self.save(|settings| {
            let network = object(settings.entry("network").or_insert_with(|| Map::new().into()));
            if let Some(Value::Array(others)) = network.get_mut(from) {
                others.retain(|value| !means_it(value));
            }
            let list = array(network.entry(to).or_insert_with(|| Value::Array(Vec::new())));
            if !list.iter().any(means_it) {
                list.push(origin.into());
            }
        })
    }

    fn save(&self, change: impl FnOnce(&mut Map<String, Value>)) -> Result<(), SaveError> {
        let failed = |reason| SaveError::Io { path: self.path.clone(), reason };
        let mut settings = match fs::read_to_string(&self.path) {
            Ok(text) => match serde_json::from_str(without_mark(&text)) {
                Ok(Value::Object(settings)) => settings,
                Ok(_) => return Err(SaveError::NoObject { path: self.path.clone() }),
                Err(reason) => return Err(SaveError::Unparsable { path: self.path.clone(), reason }),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Map::new(),
            Err(reason) => return Err(failed(reason)),
        };
        change(&mut settings);
        let mut text = format!("{:#}", Value::Object(settings));
        text.push('\n');
        replace(&self.path, text.as_bytes()).map_err(failed)
    }
}

/// Reads a project's own settings file, which only the guest interprets; `None` where there is none to read.
pub fn read(path: &Path) -> Option<Text> {
    // A pipe or a device in a file's place would never end.
    fs::metadata(path).ok().filter(|data| data.is_file() && data.len() <= LARGEST)?;
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = without_mark(&text);
    Some(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => Text { json: text.to_owned(), warning: None },
        Err(reason) => {
            let warning = format!("{} is not valid JSON and is ignored: {reason}", path.display());
            Text { json: "{}".into(), warning: Some(warning) }
        }
    })
}

/// Some editors start a file with a byte order mark, which is no JSON.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Map::new().into();
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

fn array(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(list) => list,
        _ => unreachable!("made an array above"),
    }
}

/// Puts the text in the file's place in one step. A symbolic link stays one, and permissions stay what they were.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let path = &fs::canonicalize(path).or_else(|_| dangling(path)).unwrap_or_else(|_| path.to_owned());
    let directory = directory(path);
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text)?;
    if let Ok(data) = fs::metadata(path) {
        file.as_file().set_permissions(data.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Where a symbolic link without a target points to, so that the target comes into being and the link stays.
fn dangling(path: &Path) -> io::Result<PathBuf> {
    Ok(directory(path).join(fs::read_link(path)?))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
