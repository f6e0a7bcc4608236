//! `make bench-cache`: what a long and a short run cost with and without the guard. With `--requests` each request is
//! listed as well.

#![expect(clippy::print_stdout, reason = "the tables are its output")]

use anyhow::Result;
use context_guard_tests::lab::{Provider, Thinking, Threads};
use context_guard_tests::long_run::{self, Figures, Judge, Length, Row};
use serde_json::json;

/// The judges of a table, the one without the guard first.
const JUDGES: [(&str, Judge); 3] =
    [("off", Judge::Off), ("scripted classifier", Judge::Rule), ("built-in judge", Judge::Builtin)];

fn main() -> Result<()> {
    let each = std::env::args().any(|argument| argument == "--requests");
    let threads =
        Provider { threads: Threads::OnByAddress, thinking: Thinking::Dropped, ..Provider::anthropic() };
    // As the catalogue has Sonnet 5.5.
    let cost = json!({ "input": 2, "output": 10, "cacheRead": 0.1, "cacheWrite": 2.5 });
    let cheap_reads = Provider { cost, ..Provider::anthropic() };
    for (title, provider, length) in [
        ("Anthropic, long run", Provider::anthropic(), Length::Long),
        ("Codex, long run", Provider::codex(), Length::Long),
        ("Anthropic, short run", Provider::anthropic(), Length::Short),
        ("Codex, short run", Provider::codex(), Length::Short),
        ("Anthropic with message threads and bound thinking, long run", threads, Length::Long),
        ("Anthropic where a read costs a twentieth of the input, long run", cheap_reads, Length::Long),
    ] {
        compare(title, &provider, length, each)?;
    }
    Ok(())
}

/// Prints the tables of a run; with `each` one of its requests, too.
fn compare(title: &str, provider: &Provider, length: Length, each: bool) -> Result<()> {
    let figures = JUDGES
        .iter()
        .map(|(name, judge)| {
            let run = long_run::run(provider.clone(), length, *judge)?;
            Ok((*name, Figures::of(&run.session)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let rows: Vec<Row> = figures.iter().map(|(name, figures)| Row { name, figures }).collect();
    println!("### {title}\n\n{}", long_run::table(&rows));
    if let [(_, off), (_, on), ..] = figures.as_slice()
        && !on.checkpoints.is_empty()
    {
        println!("{}", long_run::cuts(off, on));
    }
    if each {
        println!("{}", long_run::requests(&rows));
    }
    Ok(())
}
