//! Checkpoints: passes during a run, once so much has gathered that judging it pays for what its edits rewrite.

use std::cell::LazyCell;

use super::Situation;
use super::found::Found;
use super::selection::{LargeOutput, Selection};
use super::work::Work;
use crate::cache::{Price, can_pay_off};
use crate::contract::types::{Block, CacheScheme, Model, StopReason, Timestamp};
use crate::items::{self, Calls};
use crate::secrets::Masks;
use crate::session::{Phase, Projected, Run};
use crate::settings::Settings;

/// Finds what a checkpoint judges; none where none is due.
pub(super) fn find<'a>(situation: Situation<'a>, model: &Model, now: Timestamp) -> Option<Work<'a>> {
    let Situation { mirror, settings, log, .. } = situation;
    if !settings.mid_run {
        return None;
    }
    let run = Run::of(mirror.projection()).filter(goes_on)?;
    let turns = run.turns as usize;
    // Most turns end here, before anything is looked at that grows with the session.
    if settings.mid_run_break_even && !can_pay_off(mirror, model, turns, now) {
        return None;
    }
    let masks = Masks::default();
    let mut selection = select(situation, &run, model, &masks);
    let price = LazyCell::new(|| Price::new(mirror, model, settings, log, now));
    // What is put back comes with the pass, so the pass has to pay for that as well.
    let pays = |selection: &Selection<'_>| {
        let cost = price.cost(selection.first(mirror), None);
        !settings.mid_run_break_even || price.pays_off(selection.chars(), turns, cost)
    };
    let due = |selection: &Selection<'_>| {
        !selection.judges_nothing() && selection.chars() >= least(model, settings) && pays(selection)
    };

    // What lies far back costs the most to change, and may make the rest not pay.
    if !due(&selection) {
        selection.exchanges.clear();
    }
    if !due(&selection) {
        let prompt = mirror.projection().last_user();
        selection.images.retain(|image| Some(image.index) > prompt);
    }
    due(&selection).then(|| Work::new(Phase::MidRun, situation, run, selection, masks))
}

/// Returns whether the turn that just ended called tools, so that another follows. The final turn belongs to the
/// run's end.
fn goes_on(run: &Run<'_>) -> bool {
    let mut shown = run.span.iter().rev().filter_map(Projected::shown);
    let Some((shown, reply)) = shown.find_map(|shown| Some((shown, shown.assistant()?))) else {
        return false;
    };
    shown.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)))
        && !matches!(reply.stop_reason, StopReason::Aborted | StopReason::Error)
}

/// Picks everything that a checkpoint may judge: of the run's outputs those that are old enough, that no checkpoint
/// judged before, and that `recall` did not just give back.
fn select<'a>(situation: Situation<'a>, run: &Run<'a>, model: &Model, masks: &Masks) -> Selection<'a> {
    let Situation { mirror, settings, circumstances, .. } = situation;
    let found = Found::in_session(Phase::MidRun, situation, run, Some(model));
    let judged = items::judged_outputs(mirror);
    let due = found
        .outputs
        .into_iter()
        .filter(|output| items::due_at_checkpoint(output, run, settings) && !judged.contains(output.entry));
    let (large, small): (Vec<_>, Vec<_>) = due.partition(|output| output.is_large(settings));
    let calls = Calls::of(run, &circumstances.working_directory, settings, masks);
    Selection {
        // The question about a large output tells what was called since, so its own call must be known.
        large: large
            .into_iter()
            .filter(|output| output.turn.is_some())
            .map(|output| LargeOutput { superseded: calls.superseding(&output), output })
            .collect(),
        small: items::small_outputs(small, &calls, settings),
        exchanges: found.exchanges,
        images: found.images,
        lifts: found.lifts,
    }
}

/// Returns the least batch, in characters.
fn least(model: &Model, settings: &Settings) -> u64 {
    let least = match model.cache {
        CacheScheme::OpenaiCodex => settings.mid_run_batch_chars_openai,
        CacheScheme::Anthropic | CacheScheme::Other => settings.mid_run_batch_chars,
    };
    least as u64
}
