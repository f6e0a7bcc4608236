//! Run end: what a run called is judged by its answer.

use super::Situation;
use super::found::Found;
use super::selection::{LargeOutput, Selection};
use super::work::Work;
use crate::contract::types::Model;
use crate::items::{self, Calls};
use crate::outputs;
use crate::secrets::Masks;
use crate::session::{Phase, Run};

/// Finds what a pass at run end judges; none where there is nothing. Without a model, as for a preview, nothing waits
/// for the sake of the provider.
pub(super) fn find<'a>(situation: Situation<'a>, model: Option<&Model>) -> Option<Work<'a>> {
    let Situation { mirror, settings, circumstances, .. } = situation;
    let run = Run::of(mirror.projection())?;
    let masks = Masks::default();
    let found = Found::in_session(Phase::RunEnd, situation, &run, model);
    let (mut large, small): (Vec<_>, Vec<_>) =
        found.outputs.into_iter().partition(|output| output.is_large(settings));
    if !outputs::worth_asking(&large, settings) {
        large.clear();
    }
    let small = if small.is_empty() {
        vec![]
    } else {
        let calls = Calls::of(&run, &circumstances.working_directory, settings, &masks);
        items::small_outputs(small, &calls, settings)
    };
    let selection = Selection {
        large: large.into_iter().map(|output| LargeOutput { output, superseded: None }).collect(),
        small,
        exchanges: found.exchanges,
        images: found.images,
        lifts: found.lifts,
    };
    let nothing = selection.judges_nothing() && selection.lifts.is_empty();
    (!nothing).then(|| Work::new(Phase::RunEnd, situation, run, selection, masks))
}
