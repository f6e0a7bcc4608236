//! A provider with a prompt cache in place of the scripted model: it charges each request as Anthropic's service or
//! Codex's would, refuses what they would refuse, and says what was read, written and paid. Its rules are in
//! `docs/CACHE.md`, its program is `tests/lab/provider/server.mjs`.
//!
//! ```no_run
//! # use context_guard_tests::lab::{Lab, Plan, Provider};
//! # use serde_json::json;
//! # fn main() -> anyhow::Result<()> {
//! let turns = json!([{ "tools": [{ "name": "bash", "input": { "command": "ls" } }] }, { "text": "Done." }]);
//! let lab = Lab::new(Plan { turns, provider: Some(Provider::anthropic()), ..Plan::default() })?;
//! lab.print(&["List the files."])?;
//! for charge in lab.charges()? {
//!     println!("read {} written {} paid ${}", charge.read, charge.written, charge.cost.total);
//! }
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

/// How the provider caches, and what its model costs and does. Start from [`Provider::anthropic`] or
/// [`Provider::codex`] and change fields.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Whose service it stands for.
    pub scheme: Scheme,
    /// What the model does with its thinking. Turns of the script have thinking with any of them.
    pub thinking: Thinking,
    /// Whether Anthropic's message threads are on. Codex continues on its connection in any case.
    pub threads: Threads,
    /// Dollars per million tokens, as in Pi's `models.json`.
    pub cost: Value,
    /// The model's context window in tokens, by the simulator's rule of four characters a token.
    pub context_window: u64,
    /// Whether Codex reports what it did not read as written; otherwise as plain input.
    pub reports_writes: bool,
    /// Whether Pi asks for entries that live an hour.
    pub long_retention: bool,
    /// Whether Pi keeps the cache warm with a refresh every half second: it takes the entries' life for that short, and
    /// the prompt for dear enough to be worth it.
    pub refreshed: bool,
    /// How far the provider's clock goes on with each request.
    pub step: Duration,
}

/// Whose service a [`Provider`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Anthropic's Messages service; Pi's provider is called `lab`.
    Anthropic,
    /// The Responses service behind Codex, over a WebSocket; Pi's provider is called `openai-codex`.
    Codex,
}

/// What a model does with its thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It does not reason, for Pi.
    Off,
    /// It reasons, and takes thinking back behind any history.
    Free,
    /// Thinking behind a changed history is left out.
    Dropped,
    /// Anthropic only: a request with thinking behind a changed history is refused.
    Refused,
    /// Anthropic only: as refused, but thinking of earlier runs is left out and not looked at.
    RefusedInRun,
}

/// Whether Anthropic's message threads are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// Each request is sent in full.
    Off,
    /// The model's settings turn them on.
    On,
    /// Pi has Anthropic's own address, which turns them on; the laboratory leads it to loopback.
    OnByAddress,
}

/// What one request was charged, from the report of the simulator. Tokens are by its rule of four characters a token.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Charge {
    /// The request's number, from 1.
    pub n: u64,
    /// The provider's clock in milliseconds.
    pub at: u64,
    /// `plain`, `create` or `continue` for Anthropic; `full` or `delta` for Codex; `refused`; `failed` for a scripted failure.
    pub kind: String,
    /// Whether it was a refresh of the cache.
    pub replay: bool,
    /// The prompt's tokens: read, written and uncached ones.
    pub prompt: u64,
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written to the cache.
    pub written: u64,
    /// Those of them that were written for an hour.
    pub written_long: u64,
    /// Tokens neither read nor written.
    pub uncached: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Dollars.
    pub cost: Cost,
    /// The breakpoints of the prompt, in its order.
    pub marks: Vec<Mark>,
    /// How many blocks of thinking were left out.
    pub dropped: u64,
    /// Why it was refused.
    pub refused: Option<String>,
    /// The provider's code of the refusal.
    pub code: Option<String>,
    /// Whether the refusal is part of the protocol, so that Pi sends the request again in another form.
    pub quiet: bool,
}

/// Dollars of a request by what they were paid for.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// For tokens read.
    pub read: f64,
    /// For tokens written.
    pub write: f64,
    /// For tokens neither read nor written.
    pub input: f64,
    /// For the reply.
    pub output: f64,
    /// For all of it.
    pub total: f64,
}

/// A breakpoint in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Mark {
    /// Like `tools.3`, `system.0` or `messages.4.content.1`; in the whole prompt, also where a thread continues.
    pub place: String,
    /// `5m` or `1h`.
    pub ttl: String,
}

impl Provider {
    /// Anthropic's service without threads and thinking, with the prices of the catalogue's Sonnet 5.
    pub fn anthropic() -> Self {
        Self {
            scheme: Scheme::Anthropic,
            thinking: Thinking::Off,
            threads: Threads::Off,
            cost: json!({ "input": 2, "output": 10, "cacheRead": 0.2, "cacheWrite": 2.5 }),
            context_window: 200_000,
            reports_writes: true,
            long_retention: false,
            refreshed: false,
            step: Duration::from_secs(1),
        }
    }

    /// Codex without reasoning, with the prices of the catalogue's GPT-6 Luna.
    pub fn codex() -> Self {
        Self {
            scheme: Scheme::Codex,
            cost: json!({ "input": 0.1, "output": 0.5, "cacheRead": 0.01, "cacheWrite": 0.125 }),
            context_window: 272_000,
            ..Self::anthropic()
        }
    }

    /// The name of Pi's provider.
    pub fn name(&self) -> &'static str {
        match self.scheme {
            Scheme::Anthropic => "lab",
            Scheme::Codex => "openai-codex",
        }
    }

    /// What the simulator is told.
    pub(super) fn facts(&self) -> Value {
        json!({
            "scheme": match self.scheme { Scheme::Anthropic => "anthropic", Scheme::Codex => "codex" },
            "cost": self.cost,
            "threads": self.threads != Threads::Off,
            "binds": matches!(self.thinking, Thinking::Dropped | Thinking::Refused | Thinking::RefusedInRun),
            "forgets": self.thinking == Thinking::RefusedInRun,
            "systemMessages": self.thinking == Thinking::Dropped,
            "reportsWrites": self.reports_writes,
            "stepMs": u64::try_from(self.step.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// The provider in Pi's `models.json`.
    pub(super) fn entry(&self, address: &str) -> Value {
        let mut entry = json!({
            "baseUrl": if self.threads == Threads::OnByAddress { "https://api.anthropic.com" } else { address },
            "models": [{
                "id": "scripted", "name": "Scripted", "input": ["text", "image"], "maxTokens": 8192,
                "reasoning": self.thinking != Thinking::Off,
                "contextWindow": self.context_window,
                "cost": self.cost,
            }],
        });
        if self.refreshed {
            // Pi refreshes ten seconds before the end, if that is expected to save five cents.
            entry["models"][0]["promptCache"] = json!({ "short": 10.5, "long": 10.5 });
            entry["models"][0]["cost"] =
                json!({ "input": 20_000, "output": 0, "cacheRead": 0, "cacheWrite": 25_000 });
        }
        let managed = self.thinking == Thinking::Dropped;
        let (api, key, compat) = match self.scheme {
            Scheme::Anthropic => {
                let mut compat = json!({
                    "forceAdaptiveThinking": true,
                    "supportsMidConvoEffort": managed,
                    "supportsMidConvoSystemMessages": managed,
                    "supportsMidConvoToolChanges": managed,
                });
                if self.threads == Threads::On {
                    compat["supportsMessageThreads"] = json!(true);
                }
                ("anthropic-messages", "lab-key", compat)
            }
            // As the catalogue has GPT-6 and newer.
            Scheme::Codex => (
                "openai-codex-responses",
                CODEX_TOKEN,
                json!({
                    "supportsAdditionalTools": true,
                    "supportsToolSearch": true,
                    "supportsMidConvoSystemMessages": true,
                    "supportsMidConvoEffort": true,
                }),
            ),
        };
        entry["apiKey"] = json!(key);
        entry["models"][0]["api"] = json!(api);
        entry["models"][0]["compat"] = compat;
        entry
    }

    /// Variables that Pi gets.
    pub(super) fn environment(&self, address: &str) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        if self.long_retention {
            variables.push(("PI_CACHE_RETENTION", "long".to_owned()));
        }
        if self.threads == Threads::OnByAddress {
            variables.push(("LAB_REDIRECT", address.to_owned()));
        }
        variables
    }
}

/// A made-up token in the form that Pi needs: its payload names the account `lab`.
const CODEX_TOKEN: &str =
    "e30.eyJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoibGFiIn19.lab";
