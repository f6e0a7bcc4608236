//! A laboratory for one test: a throw-away home and project, a scripted chat model and a scripted classifier on
//! loopback, and the real Pi with the extension of this repository and the runner's release build.

mod classifier;
mod installed;
mod print;
mod process;
mod provider;
mod registry;
mod rpc;
mod server;
mod session;
mod stand_in;
mod terminal;

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

pub use classifier::Classifier;
pub use installed::Installed;
pub use print::Printed;
pub use process::Process;
pub use provider::{Charge, Cost, Mark, Provider, Scheme, Thinking, Threads};
pub use registry::Registry;
pub use rpc::Rpc;
use server::Server;
pub use session::Session;
pub use stand_in::StandIn;
pub use terminal::Terminal;

use crate::contract::repository;

/// The key that the scripted classifier asks for.
pub const CLASSIFIER_KEY: &str = "lab-classifier-key";

/// What a test sets up. Every field has a default that fits most tests.
#[derive(Default)]
pub struct Plan {
    /// The model's turns, as the head of `lab/fake-model.mjs` describes them.
    pub turns: Value,
    /// A provider with a prompt cache in place of the plain scripted model.
    pub provider: Option<Provider>,
    /// The classifier's rules, as the head of `lab/fake-jev.mjs` describes them.
    pub rules: Value,
    /// A module of `tests/lab` that answers where no rule fits.
    pub judge: Option<&'static str>,
    /// Whether the environment grants the classifier's origin.
    pub granted: bool,
    /// Whether Pi has no key for the classifier.
    pub keyless: bool,
    /// Whether nothing is told at the end of what happened: in a program nobody captures it.
    pub silent: bool,
    /// The user's `context-guard.json`; none is written for `null`.
    pub settings: Value,
    /// Extensions of `tests/lab` that are loaded before the guard.
    pub companions: Vec<&'static str>,
    /// A runner in place of the release build.
    pub binary: Option<PathBuf>,
    /// Whether Pi works without the guard.
    pub unguarded: bool,
    /// Whether Pi loads only what is installed in its home, in place of this repository's extension and runner.
    pub installed: bool,
    /// Variables that Pi and its tools get beside the laboratory's own.
    pub environment: Vec<(&'static str, OsString)>,
    /// Whether the test looks at the model's refusals itself; otherwise any fails it.
    pub refusals: bool,
    /// How long one call of Pi may take, where it is more than a minute.
    pub patience: Option<Duration>,
}

/// One test's laboratory. When it is dropped, it ends its servers, tells what happened, and fails the test if the
/// model was sent a request that Anthropic's service would refuse.
pub struct Lab {
    installed: Installed,
    model: Server,
    classifier: Server,
    directory: TempDir,
    plan: Plan,
    /// How far the provider's clock was set on by [`Lab::advance`].
    ahead: Cell<Duration>,
}

impl Lab {
    /// Lays the home out and starts the servers.
    ///
    /// # Errors
    ///
    /// Fails with the command that mends it when Node, Pi or the runner is missing.
    pub fn new(plan: Plan) -> Result<Self> {
        let installed = Installed::find(plan.binary.as_deref())?;
        let directory = TempDir::new()?;
        let path = directory.path();
        for folder in ["agent", "project", "requests", "classified"] {
            fs::create_dir_all(path.join(folder))?;
        }
        let write = |name: &str, value: &Value| -> Result<PathBuf> {
            let file = path.join(name);
            fs::write(&file, serde_json::to_string_pretty(value)?)?;
            Ok(file)
        };
        let list = |value: &Value| if value.is_null() { json!([]) } else { value.clone() };
        let turns = write("turns.json", &list(&plan.turns))?;
        let rules = write("rules.json", &list(&plan.rules))?;
        let mut model_arguments: Vec<OsString> = vec!["--script".into(), turns.into()];
        let program = match &plan.provider {
            Some(provider) => {
                model_arguments.extend(["--model".into(), write("model.json", &provider.facts())?.into()]);
                "provider/server.mjs"
            }
            None => "fake-model.mjs",
        };
        let model_arguments: Vec<&OsStr> = model_arguments.iter().map(OsString::as_os_str).collect();
        let model = Server::start(&installed, program, &model_arguments, &path.join("requests"))?;
        let mut answering: Vec<&OsStr> =
            vec!["--key".as_ref(), CLASSIFIER_KEY.as_ref(), "--rules".as_ref(), rules.as_ref()];
        if let Some(judge) = plan.judge {
            answering.extend::<[&OsStr; 2]>(["--judge".as_ref(), judge.as_ref()]);
        }
        let classifier = Server::start(&installed, "fake-jev.mjs", &answering, &path.join("classified"))?;
        // The classifier keeps its catalogue entry, only its address and key are replaced.
        let mut openrouter = json!({ "baseUrl": classifier.url() });
        if !plan.keyless {
            openrouter["apiKey"] = json!(CLASSIFIER_KEY);
        }
        let provider = plan.provider.as_ref().map_or("lab", Provider::name);
        let entry = plan.provider.as_ref().map_or_else(|| plain(&model.url()), |p| p.entry(&model.url()));
        write(
            "agent/models.json",
            &json!({ "providers": {
                provider: entry,
                "openrouter": openrouter,
            } }),
        )?;
        write(
            "agent/settings.json",
            &json!({
                "defaultProvider": provider, "defaultModel": "scripted", "quietStartup": true,
                // Pi's own figure would need a long session before there is anything to compact.
                "compaction": { "keepRecentTokens": 500 },
            }),
        )?;
        let lab = Self { installed, model, classifier, directory, plan, ahead: Cell::new(Duration::ZERO) };
        if !lab.plan.settings.is_null() {
            lab.write_settings(&lab.plan.settings)?;
        }
        Ok(lab)
    }

    /// The user's home.
    pub fn home(&self) -> &Path {
        self.directory.path()
    }

    /// The project that Pi works in.
    pub fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    /// The scripted classifier's origin.
    pub fn classifier_origin(&self) -> String {
        self.classifier.url()
    }

    /// Writes a file of the project.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.project().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text).with_context(|| format!("{name} cannot be written"))
    }

    /// Runs Pi once in print mode.
    ///
    /// # Errors
    ///
    /// Fails when Pi cannot be run, or is still running after a minute or the plan's patience.
    pub fn print(&self, arguments: &[&str]) -> Result<Printed> {
        let mut pi = self.pi();
        pi.arg("-p").args(arguments);
        print::run(pi, self.plan.patience.unwrap_or(print::LONGEST))
    }

    /// Runs one of Pi's own commands, such as `install`. The network is not forbidden to it.
    ///
    /// # Errors
    ///
    /// As [`Lab::print`].
    pub fn command(&self, arguments: &[&str]) -> Result<Printed> {
        let mut pi = self.bare();
        pi.env_remove("PI_OFFLINE").args(arguments);
        print::run(pi, self.plan.patience.unwrap_or(print::LONGEST))
    }

    /// Starts Pi in RPC mode.
    ///
    /// # Errors
    ///
    /// Fails when Pi cannot be started.
    pub fn rpc(&self, arguments: &[&str]) -> Result<Rpc> {
        Rpc::start(self.pi(), arguments)
    }

    /// Starts Pi in a terminal.
    ///
    /// # Errors
    ///
    /// Fails when Pi cannot be started, or the system has no `script`.
    pub fn terminal(&self) -> Result<Terminal> {
        Terminal::start(&self.pi())
    }

    /// The bodies of the requests that the model got, oldest first.
    ///
    /// # Errors
    ///
    /// Fails when a record is not JSON.
    pub fn requests(&self) -> Result<Vec<Value>> {
        Ok(records(&self.directory.path().join("requests"))?.into_iter().map(body).collect())
    }

    /// The prompts of the requests that a [`Provider`] took, oldest first: in full, also where Pi sent only what was new.
    ///
    /// # Errors
    ///
    /// Fails when a record is not JSON.
    pub fn prompts(&self) -> Result<Vec<Value>> {
        let records = records(&self.directory.path().join("requests"))?;
        Ok(records.into_iter().map(|mut record| record["whole"].take()).filter(Value::is_object).collect())
    }

    /// What a [`Provider`] charged for each request, oldest first; empty before the first one.
    ///
    /// # Errors
    ///
    /// Fails when a record is not JSON.
    pub fn charges(&self) -> Result<Vec<Charge>> {
        let report =
            fs::read_to_string(self.directory.path().join("requests/report.jsonl")).unwrap_or_default();
        report.lines().map(|line| serde_json::from_str(line).context("the report is no JSON")).collect()
    }

    /// Lets time pass without waiting: sets a [`Provider`]'s clock on, and that of each Pi started from now on.
    ///
    /// # Errors
    ///
    /// Fails when the provider cannot be reached.
    pub fn advance(&self, time: Duration) -> Result<()> {
        self.ahead.set(self.ahead.get() + time);
        self.model.post("/clock", &json!({ "advanceMs": u64::try_from(time.as_millis())? }))
    }

    /// Why the model refused requests, oldest first; empty when each was one that Anthropic's service would take.
    ///
    /// # Errors
    ///
    /// Fails when a record is not JSON.
    pub fn refusals(&self) -> Result<Vec<String>> {
        let records = records(&self.directory.path().join("requests"))?;
        Ok(records.iter().filter_map(|record| record["refused"].as_str().map(str::to_owned)).collect())
    }

    /// The classifier's requests with their answers, oldest first.
    ///
    /// # Errors
    ///
    /// Fails when a record is not JSON.
    pub fn classified(&self) -> Result<Vec<Value>> {
        records(&self.directory.path().join("classified"))
    }

    /// Whether anything ever connected to the classifier.
    pub fn classifier_was_reached(&self) -> bool {
        self.directory.path().join("classified/connections").exists()
    }

    /// The newest session.
    ///
    /// # Errors
    ///
    /// Fails when there is none.
    pub fn session(&self) -> Result<Session> {
        Session::newest(&self.directory.path().join("agent/sessions"))
    }

    /// A file or folder of Pi's directory.
    pub fn agent(&self, name: &str) -> PathBuf {
        self.directory.path().join("agent").join(name)
    }

    /// What runs here: Pi and all that came of it.
    ///
    /// # Errors
    ///
    /// Fails where the system does not tell, as only Linux does.
    pub fn processes(&self) -> Result<Vec<Process>> {
        process::with_home(&self.agent(""))
    }

    /// The runners among the processes, and what stands in for one.
    ///
    /// # Errors
    ///
    /// As [`Lab::processes`].
    pub fn runners(&self) -> Result<Vec<Process>> {
        Ok(self
            .processes()?
            .into_iter()
            .filter(|process| process.command.trim_end().ends_with(" serve"))
            .collect())
    }

    /// Waits until nothing runs here any more.
    ///
    /// # Errors
    ///
    /// Fails when something still runs after a minute, and as [`Lab::processes`].
    pub fn until_left(&self) -> Result<()> {
        process::until_none_with_home(&self.agent(""))
    }

    /// The user's `context-guard.json`; `null` when there is none.
    ///
    /// # Errors
    ///
    /// Fails when the file is not JSON.
    pub fn settings(&self) -> Result<Value> {
        match fs::read_to_string(self.directory.path().join("agent/context-guard.json")) {
            Ok(text) => Ok(serde_json::from_str(&text)?),
            Err(_) => Ok(Value::Null),
        }
    }

    /// The files of the home, the project and the records that contain a text.
    ///
    /// # Errors
    ///
    /// Fails when a folder cannot be read.
    pub fn files_with(&self, text: &str) -> Result<Vec<PathBuf>> {
        let root = self.directory.path();
        let mut found = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if String::from_utf8_lossy(&fs::read(&path)?).contains(text) {
                    found.push(path.strip_prefix(root).unwrap_or(&path).to_owned());
                }
            }
        }
        Ok(found)
    }

    /// Writes the user's `context-guard.json`.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written.
    pub fn write_settings(&self, settings: &Value) -> Result<()> {
        let file = self.directory.path().join("agent/context-guard.json");
        fs::write(file, serde_json::to_string_pretty(settings)?).context("the settings cannot be written")
    }

    /// Pi with nothing of the caller's environment: its own home, no network beyond loopback, the guard loaded.
    fn pi(&self) -> Command {
        let mut command = self.bare();
        for companion in &self.plan.companions {
            command.arg("-e").arg(repository().join("tests/lab").join(companion));
        }
        if !self.plan.unguarded && !self.plan.installed {
            command.arg("-e").arg(repository().join("host-pi"));
        }
        command
    }

    /// The same without any extension.
    fn bare(&self) -> Command {
        let mut command = Command::new(&self.installed.node);
        let path = self.directory.path();
        if self.plan.provider.is_some() {
            command.arg("--import").arg(repository().join("tests/lab/provider/preload.mjs"));
        }
        command
            .arg(&self.installed.pi)
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", path)
            .env("LANG", "C.UTF-8")
            .env("PI_CODING_AGENT_DIR", self.agent(""))
            .env("PI_OFFLINE", "1")
            .env("PI_SKIP_VERSION_CHECK", "1")
            .env("PI_TELEMETRY", "0");
        if !self.plan.installed {
            command.env("CONTEXT_GUARD_BINARY", &self.installed.runner);
        }
        command.envs(self.plan.environment.iter().map(|(name, value)| (name, value)));
        if let Some(provider) = &self.plan.provider {
            command.envs(provider.environment(&self.model.url()));
            command.env("LAB_CLOCK_AHEAD_MS", self.ahead.get().as_millis().to_string());
        }
        if self.plan.granted {
            command.env("PI_CONTEXT_GUARD_ALLOW", self.classifier.url());
        }
        command
    }

    fn evidence(&self) -> String {
        let mut text = String::new();
        for (title, list) in [("model", self.requests()), ("classifier", self.classified())] {
            let list = list.unwrap_or_default();
            text.push_str(&format!("--- {} requests to the {title}\n", list.len()));
            for request in list {
                text.push_str(&format!("{}\n", shortened(request.get("messages").unwrap_or(&request))));
            }
        }
        if let Ok(session) = self.session() {
            text.push_str("--- the session\n");
            for entry in session.entries() {
                text.push_str(&format!("{}\n", shortened(entry)));
            }
        }
        text
    }
}

impl Drop for Lab {
    #[expect(clippy::print_stderr, reason = "the test harness shows it for a failed test alone")]
    fn drop(&mut self) {
        if !self.plan.silent {
            eprintln!("{}", self.evidence());
        }
        let refusals = self.refusals().unwrap_or_default();
        // A second panic would end the harness; the first tells enough.
        let expected = self.plan.refusals || thread::panicking();
        assert!(expected || refusals.is_empty(), "the model refused requests: {refusals:#?}");
    }
}

/// The plain scripted model in Pi's `models.json`.
fn plain(address: &str) -> Value {
    json!({ "baseUrl": address, "api": "anthropic-messages", "apiKey": "lab-key", "models": [{
        "id": "scripted", "name": "Scripted", "reasoning": false, "input": ["text", "image"],
        "contextWindow": 200_000, "maxTokens": 8192,
        "cost": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 },
    }] })
}

/// A value whose long texts are cut, so that what happened can be read at a glance.
fn shortened(value: &Value) -> Value {
    const LONGEST: usize = 160;
    match value {
        Value::String(text) if text.chars().count() > LONGEST => {
            json!(format!(
                "{}… ({} characters)",
                text.chars().take(LONGEST).collect::<String>(),
                text.chars().count()
            ))
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), shortened(field))).collect())
        }
        other => other.clone(),
    }
}

fn records(folder: &Path) -> Result<Vec<Value>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| {
            serde_json::from_str(&fs::read_to_string(file)?)
                .with_context(|| format!("{} is no JSON", file.display()))
        })
        .collect()
}

/// What was sent, of the record of a request to the model.
fn body(mut record: Value) -> Value {
    record["body"].take()
}
