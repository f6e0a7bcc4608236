//! A long run of the real Pi: what it costs with and without the guard, by a provider with a prompt cache.

use anyhow::Result;
use context_guard_tests::lab::Provider;
use context_guard_tests::long_run::{self, Figures, Judge, Length};

/// The figures of a run. That the provider took each of its requests is the laboratory's to check.
fn figures(provider: Provider, length: Length, judge: Judge) -> Result<Figures> {
    Figures::of(&long_run::run(provider, length, judge)?.session)
}

fn a_long_run_needs_less_room_and_costs_no_more(provider: Provider) -> Result<()> {
    let off = figures(provider.clone(), Length::Long, Judge::Off)?;
    let on = figures(provider, Length::Long, Judge::Rule)?;
    assert!(off.requests.len() >= 40, "{} requests", off.requests.len());
    assert_eq!(on.requests.len(), off.requests.len(), "the model does the same with the guard");
    assert!(on.edits() > 0, "{on:?}");
    assert!(on.cost() <= 1.02 * off.cost(), "{} and {}", off.cost(), on.cost());
    assert!(on.peak() as f64 <= 0.65 * off.peak() as f64, "{} and {}", off.peak(), on.peak());
    for checkpoint in &on.checkpoints {
        let last = checkpoint.after + 1;
        let loss = on.cost_of_first(last) - off.cost_of_first(last);
        assert!(loss <= on.bound(checkpoint), "ending with request {last} loses {loss}: {on:?}");
    }
    Ok(())
}

fn a_short_run_is_left_alone(provider: Provider) -> Result<()> {
    let off = figures(provider.clone(), Length::Short, Judge::Off)?;
    let on = figures(provider, Length::Short, Judge::Rule)?;
    assert!(off.requests.len() <= 14, "{} requests", off.requests.len());
    assert_eq!(on.requests.len(), off.requests.len(), "the model does the same with the guard");
    assert_eq!(on.checkpoints, []);
    assert!(on.cost() <= 1.01 * off.cost(), "{} and {}", off.cost(), on.cost());
    Ok(())
}

#[test]
fn a_long_run_on_anthropic_needs_less_room_and_costs_no_more() -> Result<()> {
    a_long_run_needs_less_room_and_costs_no_more(Provider::anthropic())
}

#[test]
fn a_long_run_on_codex_needs_less_room_and_costs_no_more() -> Result<()> {
    a_long_run_needs_less_room_and_costs_no_more(Provider::codex())
}

#[test]
fn a_short_run_on_anthropic_is_left_alone() -> Result<()> {
    a_short_run_is_left_alone(Provider::anthropic())
}

#[test]
fn a_short_run_on_codex_is_left_alone() -> Result<()> {
    a_short_run_is_left_alone(Provider::codex())
}
