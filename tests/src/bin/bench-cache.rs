//! `make bench-cache`: what a long run costs with and without the guard.

#![expect(clippy::print_stdout, reason = "the table is its output")]

use anyhow::Result;
use context_guard_tests::long_run::{self, Judge, Length};

fn main() -> Result<()> {
    for length in [Length::Long, Length::Short] {
        for judge in [Judge::Off, Judge::Rule, Judge::Builtin] {
            let run = long_run::run(length, judge)?;
            let sizes: Vec<usize> = run.requests.iter().map(|request| request.to_string().len()).collect();
            println!("{length:?} {judge:?}: {} requests, {sizes:?}", sizes.len());
        }
    }
    Ok(())
}
