//! What a run cost, by the usage that the model's service reported and the prices of Pi's catalogue.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::lab::Session;

/// The guard's estimate of how many characters are a token.
const CHARS_PER_TOKEN: f64 = 4.0;

/// One request to the main model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Input tokens that came from the cache.
    pub read: u64,
    /// Input tokens that were written to the cache.
    pub written: u64,
    /// Input tokens that the cache had no part in.
    pub uncached: u64,
    /// What it cost in US dollars, the reply included.
    pub cost: f64,
    /// What the tokens read from the cache cost of that.
    read_cost: f64,
}

impl Request {
    /// All input tokens.
    pub fn context(&self) -> u64 {
        self.read + self.written + self.uncached
    }
}

/// A pass in the middle of the run, by the guard's record.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// How many requests came before it.
    pub after: usize,
    /// Entries that it edited.
    pub edits: usize,
    /// Characters that its edits took out of the context.
    pub saved_chars: u64,
    /// What its classifier cost in US dollars.
    pub classifier: f64,
}

/// A run's requests, and what the guard did in between.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// The requests, oldest first.
    pub requests: Vec<Request>,
    /// The checkpoints, oldest first. The pass at the run's end is none: no request of the run has a part in it.
    pub checkpoints: Vec<Checkpoint>,
}

impl Figures {
    /// Reads them from Pi's session.
    ///
    /// # Errors
    ///
    /// Fails when a reply has no usage.
    pub fn of(session: &Session) -> Result<Self> {
        let mut figures = Self { requests: Vec::new(), checkpoints: Vec::new() };
        let mut edits = 0;
        for entry in session.entries() {
            let message = &entry["message"];
            if entry["type"] == "context_edit" {
                edits += 1;
            } else if entry["customType"] == "context-guard" && entry["data"]["phase"] == "mid-run" {
                figures.checkpoints.push(Checkpoint {
                    after: figures.requests.len(),
                    edits: std::mem::take(&mut edits),
                    saved_chars: entry["data"]["savedChars"].as_u64().unwrap_or_default(),
                    classifier: entry["data"]["costUsd"].as_f64().unwrap_or_default(),
                });
            } else if message["role"] == "assistant" {
                let request = request(&message["usage"]).with_context(|| format!("no usage in {entry}"))?;
                figures.requests.push(request);
            }
        }
        Ok(figures)
    }

    /// Input tokens of the largest request.
    pub fn peak(&self) -> u64 {
        self.requests.iter().map(Request::context).max().unwrap_or_default()
    }

    /// What the main model cost in US dollars.
    pub fn cost(&self) -> f64 {
        self.cost_of_first(self.requests.len())
    }

    /// What the main model cost up to its request `count`, in US dollars: what a run that ends there would have cost.
    pub fn cost_of_first(&self, count: usize) -> f64 {
        self.requests.iter().take(count).map(|request| request.cost).sum()
    }

    /// What the classifier cost in US dollars.
    pub fn classifier(&self) -> f64 {
        self.checkpoints.iter().fold(0.0, |total, checkpoint| total + checkpoint.classifier)
    }

    /// The number of edits that took effect within the run.
    pub fn edits(&self) -> usize {
        self.checkpoints.iter().map(|checkpoint| checkpoint.edits).sum()
    }

    /// A sum over all requests.
    pub fn sum(&self, of: impl Fn(&Request) -> u64) -> u64 {
        self.requests.iter().map(of).sum()
    }

    /// The most that a run can lose by ending right after a checkpoint, in US dollars.
    ///
    /// A checkpoint's edits are applied only where reading what they take out, once more for each turn so far, would
    /// cost more than writing anew what lies behind them. So the loss is at most the former.
    pub fn bound(&self, checkpoint: &Checkpoint) -> f64 {
        let tokens = checkpoint.saved_chars as f64 / CHARS_PER_TOKEN;
        tokens * checkpoint.after as f64 * self.read_price()
    }

    /// What a token costs that is read from the cache, in US dollars; 0 when none was.
    fn read_price(&self) -> f64 {
        let tokens = self.sum(|request| request.read);
        let cost: f64 = self.requests.iter().map(|request| request.read_cost).sum();
        if tokens > 0 { cost / tokens as f64 } else { 0.0 }
    }
}

fn request(usage: &Value) -> Option<Request> {
    let tokens = |name: &str| usage[name].as_u64();
    Some(Request {
        read: tokens("cacheRead")?,
        written: tokens("cacheWrite")?,
        uncached: tokens("input")?,
        cost: usage["cost"]["total"].as_f64()?,
        read_cost: usage["cost"]["cacheRead"].as_f64()?,
    })
}
