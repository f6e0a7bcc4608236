//! What left, where it went and what it cost, one line per origin; and what came of each pass with edits.

use std::collections::BTreeMap;

use super::costs;
use crate::contract::types::Model;
use crate::session::Mirror;
use crate::text::{cost, plural, short};

/// What went to one origin, over all passes on the branch.
#[derive(Default)]
struct Account {
    passes: usize,
    requests: u64,
    bytes: u64,
    cost_usd: f64,
}

/// Writes the accounts, and below them what the passes with edits cost and saved.
pub(super) fn ledger(mirror: &Mirror, model: Option<&Model>) -> String {
    let passes = costs::by_pass(mirror, model).map(|passes| format!("\n\n{passes}"));
    accounts(mirror) + &passes.unwrap_or_default()
}

/// Adds up the records of the branch by origin.
fn accounts(mirror: &Mirror) -> String {
    let mut accounts: BTreeMap<Option<&str>, Account> = BTreeMap::new();
    for (_, record) in mirror.records().iter().filter(|(_, record)| record.requests > 0) {
        let account = accounts.entry(record.origin.as_deref()).or_default();
        account.passes += 1;
        account.requests = account.requests.saturating_add(record.requests);
        account.bytes = account.bytes.saturating_add(record.sent_bytes.unwrap_or(0));
        account.cost_usd += record.cost_usd;
    }
    if accounts.is_empty() {
        return "Nothing was sent on this branch.".into();
    }
    let line = |(origin, account): (&Option<&str>, &Account)| {
        let requests = plural(usize::try_from(account.requests).unwrap_or(usize::MAX), "request");
        let passes = if account.passes == 1 { "1 pass".into() } else { format!("{} passes", account.passes) };
        let bytes = short(usize::try_from(account.bytes).unwrap_or(usize::MAX));
        match origin {
            Some(origin) => {
                format!("{origin}: {requests} in {passes}, {bytes} bytes sent, {}.", cost(account.cost_usd))
            }
            // The built-in judge, a service that was never reached, and records of versions that kept no account.
            None => format!("No origin on record: {requests} in {passes}, nothing known to have been sent."),
        }
    };
    accounts.iter().map(line).collect::<Vec<_>>().join("\n")
}
