//! A long run of the real Pi: what its outputs cost with and without the guard.

use anyhow::Result;
use context_guard_tests::long_run::{self, Figures, Judge, Length};

#[test]
fn a_long_run_gets_smaller_and_costs_no_more() -> Result<()> {
    let off = Figures::of(&long_run::run(Length::Long, Judge::Off)?.session)?;
    let on = Figures::of(&long_run::run(Length::Long, Judge::Rule)?.session)?;
    assert!(off.requests.len() >= 40, "{} requests", off.requests.len());
    assert_eq!(on.requests.len(), off.requests.len(), "the model does the same with the guard");
    assert!(!on.checkpoints.is_empty(), "{on:?}");
    assert!(on.cost() <= 1.02 * off.cost(), "{} and {}", off.cost(), on.cost());
    assert!(on.peak() as f64 <= 0.65 * off.peak() as f64, "{} and {}", off.peak(), on.peak());
    Ok(())
}

#[test]
fn a_short_run_is_left_alone() -> Result<()> {
    let off = Figures::of(&long_run::run(Length::Short, Judge::Off)?.session)?;
    let on = Figures::of(&long_run::run(Length::Short, Judge::Rule)?.session)?;
    assert!(off.requests.len() <= 14, "{} requests", off.requests.len());
    assert_eq!(on.requests.len(), off.requests.len(), "the model does the same with the guard");
    assert_eq!(on.checkpoints, []);
    assert!(on.cost() <= 1.01 * off.cost(), "{} and {}", off.cost(), on.cost());
    Ok(())
}
