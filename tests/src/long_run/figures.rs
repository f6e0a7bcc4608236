//! What a run cost, by the usage that the model's service reported and the prices of Pi's catalogue.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::lab::Session;

/// One request to the main model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Input tokens that came from the cache.
    pub read: u64,
    /// Input tokens that were written to the cache.
    pub written: u64,
    /// Input tokens that the cache had no part in.
    pub uncached: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// What it cost in US dollars, the reply included.
    pub cost: f64,
    /// Entries that were edited since the request before.
    pub edits: usize,
}

impl Request {
    /// All input tokens.
    pub fn context(&self) -> u64 {
        self.read + self.written + self.uncached
    }
}

/// A run's requests, and what the guard says of its passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// The requests, oldest first.
    pub requests: Vec<Request>,
    /// What the classifier cost during the run in US dollars, by the guard's records. What is judged after the last reply is left out:
    /// no request of the run has a part in it.
    pub classifier: f64,
    /// The number of checkpoints that were recorded.
    pub checkpoints: usize,
}

impl Figures {
    /// Reads them from Pi's session.
    ///
    /// # Errors
    ///
    /// Fails when a reply has no usage.
    pub fn of(session: &Session) -> Result<Self> {
        let mut figures = Self { requests: Vec::new(), classifier: 0.0, checkpoints: 0 };
        let mut edits = 0;
        for entry in session.entries() {
            let message = &entry["message"];
            if entry["type"] == "context_edit" {
                edits += 1;
            } else if entry["customType"] == "context-guard" && entry["data"]["phase"] == "mid-run" {
                figures.checkpoints += 1;
                figures.classifier += entry["data"]["costUsd"].as_f64().unwrap_or_default();
            } else if message["role"] == "assistant" {
                let request = request(&message["usage"], std::mem::take(&mut edits));
                figures.requests.push(request.with_context(|| format!("no usage in {entry}"))?);
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

    /// The number of edits that took effect within the run.
    pub fn edits(&self) -> usize {
        self.requests.iter().map(|request| request.edits).sum()
    }

    /// A sum over all requests.
    pub fn sum(&self, of: impl Fn(&Request) -> u64) -> u64 {
        self.requests.iter().map(of).sum()
    }

    /// The requests that a checkpoint's edits come before, by their number, from 1.
    pub fn edited(&self) -> Vec<usize> {
        let numbered = self.requests.iter().enumerate();
        numbered.filter(|(_, request)| request.edits > 0).map(|(index, _)| index + 1).collect()
    }
}

fn request(usage: &Value, edits: usize) -> Option<Request> {
    let tokens = |name: &str| usage[name].as_u64();
    Some(Request {
        read: tokens("cacheRead")?,
        written: tokens("cacheWrite")?,
        uncached: tokens("input")?,
        output: tokens("output")?,
        cost: usage["cost"]["total"].as_f64()?,
        edits,
    })
}
