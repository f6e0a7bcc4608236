//! `make soak`: 2,000 passes in one runner process. It fails where memory or handles grow.

#![expect(clippy::print_stdout, reason = "the table is its output")]

use std::time::Duration;

use anyhow::Result;
use context_guard_tests::contract::repository;
use context_guard_tests::soak::{Sample, flat, parts, percentile, soak};

/// Passes unless the first argument says otherwise.
const PASSES: usize = 2_000;

fn main() -> Result<()> {
    let passes = std::env::args().nth(1).map_or(Ok(PASSES), |passes| passes.parse())?;
    let samples = soak(&repository().join("target/release/context-guard"), passes)?;
    println!("   passes    pass p50    p99   update p50    p99 ms    memory MB   handles   threads");
    let mut done = 0;
    let parts = parts(&samples, 5);
    for part in &parts {
        done += part.len();
        row(done, part);
    }
    if let [first, .., last] = parts[..] {
        let ratio = |of: fn(&Sample) -> Duration| {
            percentile(last.iter().map(of), 99).as_secs_f64()
                / percentile(first.iter().map(of), 99).as_secs_f64()
        };
        println!(
            "p99 of the last part to the first: pass {:.2}, update {:.2}",
            ratio(|s| s.pass),
            ratio(|s| s.update)
        );
    }
    flat(&samples)?;
    println!("memory and handles are flat");
    Ok(())
}

fn row(done: usize, part: &[Sample]) {
    let time =
        |of: fn(&Sample) -> Duration, percent| percentile(part.iter().map(of), percent).as_secs_f64() * 1e3;
    let most = |of: fn(&Sample) -> u64| part.iter().map(of).max().unwrap_or_default();
    println!(
        "{done:9} {:11.1} {:6.1} {:12.2} {:9.2} {:12.1} {:9} {:9}",
        time(|s| s.pass, 50),
        time(|s| s.pass, 99),
        time(|s| s.update, 50),
        time(|s| s.update, 99),
        most(|s| s.holding.memory_kb) as f64 / 1024.0,
        most(|s| s.holding.handles),
        most(|s| s.holding.threads),
    );
}
