//! `make bench-cache`: what a long and a short run cost with and without the guard. With `--requests` each request is
//! listed as well.

#![expect(clippy::print_stdout, reason = "the tables are its output")]

use anyhow::Result;
use context_guard_tests::lab::Provider;
use context_guard_tests::long_run::{self, Figures, Judge, Length, Row};

/// The judges of the table, the one without the guard first.
const JUDGES: [(&str, Judge); 3] =
    [("off", Judge::Off), ("scripted classifier", Judge::Rule), ("built-in judge", Judge::Builtin)];

fn main() -> Result<()> {
    let each = std::env::args().any(|argument| argument == "--requests");
    for (scheme, provider) in [("Anthropic", Provider::anthropic()), ("Codex", Provider::codex())] {
        for (title, length) in [("long run", Length::Long), ("short run", Length::Short)] {
            let figures = JUDGES
                .iter()
                .map(|(name, judge)| {
                    let run = long_run::run(provider.clone(), length, *judge)?;
                    Ok((*name, Figures::of(&run.session)?))
                })
                .collect::<Result<Vec<_>>>()?;
            let rows: Vec<Row> = figures.iter().map(|(name, figures)| Row { name, figures }).collect();
            println!("### {scheme}, {title}\n\n{}", long_run::table(&rows));
            if let [(_, off), (_, on), ..] = figures.as_slice()
                && !on.checkpoints.is_empty()
            {
                println!("{}", long_run::cuts(off, on));
            }
            if each {
                println!("{}", long_run::requests(&rows));
            }
        }
    }
    Ok(())
}
