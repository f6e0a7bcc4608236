//! Images in tool results that have grown old.
//!
//! A classifier of text cannot see them, and what the model took from one is in the text that it wrote next, which
//! stays. So age alone decides.

use std::collections::{HashMap, HashSet};

use super::Judgement;
use crate::contract::sessions::{Edit, Part};
use crate::contract::types::{Block, Image, ToolCall, ToolResult};
use crate::label::label;
use crate::outputs::recall;
use crate::session::{
    ItemKind, ItemOutcome, ItemResult, Kind, Projected, Projection, content_size, dimensions, image_tokens,
};
use crate::settings::Settings;
use crate::text::{MARKER, plural, short, units};

/// Image sizes that a stub tells.
const SIZES: usize = 3;

/// The images of one tool result, old enough to go.
#[derive(Clone, Debug, PartialEq)]
pub struct OldImage<'a> {
    /// Id of the result's entry.
    pub entry: &'a str,
    /// Index of the result in the projection.
    pub index: usize,
    tool: &'a str,
    label: String,
    /// Replies after it.
    age: usize,
    parts: Vec<Part>,
    before: usize,
    after: usize,
}

/// Finds the results of the whole context whose images are old enough to go, as far as that makes the context
/// smaller.
pub fn old_images<'a>(projection: Projection<'a>, settings: &Settings) -> Vec<OldImage<'a>> {
    let keep_turns = settings.image_keep_turns as usize;
    if keep_turns == 0 {
        return vec![];
    }
    let mut age = projection.iter().filter(|item| is_reply(item)).count();
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    let mut found = vec![];
    for (index, item) in projection.iter().enumerate() {
        let Some(shown) = item.shown() else { continue };
        match shown.kind {
            Kind::Assistant(_) => {
                age -= 1;
                let made = shown.blocks.iter().filter_map(|block| match block {
                    Block::ToolCall(call) => Some((call.id.as_str(), call)),
                    _ => None,
                });
                calls.extend(made);
            }
            Kind::ToolResult(result) if age >= keep_turns => {
                let call = calls.get(result.call_id.as_str()).copied();
                found.extend(OldImage::of(index, &item, result, call, age));
            }
            _ => {}
        }
    }
    found
}

fn is_reply(item: &Projected<'_>) -> bool {
    item.shown().is_some_and(|shown| shown.assistant().is_some())
}

/// Judges the images whose results no other judgement of the pass edits.
///
/// An edit on top of an omission would show a result without its call. So images in an exchange that is omitted
/// now and brought back by a gate wait for the next pass.
pub fn unless_edited(images: &[OldImage<'_>], others: &[Judgement]) -> Vec<Judgement> {
    let edited: HashSet<&str> =
        others.iter().flat_map(|other| &other.edits).map(|edit| edit.target.as_str()).collect();
    images.iter().filter(|image| !edited.contains(image.entry)).map(OldImage::judgement).collect()
}

impl<'a> OldImage<'a> {
    fn of(
        index: usize,
        item: &Projected<'a>,
        result: &'a ToolResult,
        call: Option<&'a ToolCall>,
        age: usize,
    ) -> Option<Self> {
        let (shown, recorded) = (item.shown()?, item.recorded()?);
        let images: Vec<&Image> = shown.blocks.iter().filter_map(as_image).collect();
        let images_changed = recorded.blocks.iter().filter_map(as_image).count() != images.len();
        // A result that somebody else changed is left alone, since its recorded blocks come back.
        let others = |blocks: &[Block]| {
            blocks.iter().filter(|block| !matches!(block, Block::Text(_) | Block::Image(_))).count()
        };
        if images.is_empty()
            || images_changed
            || item.text_altered()
            || others(shown.blocks) != others(recorded.blocks)
        {
            return None;
        }
        let stub = stub(item.id(), &images, age);
        let stays = |(_, block): &(u32, &Block)| as_image(block).is_none();
        let (places, blocks): (Vec<u32>, Vec<Block>) =
            (0..).zip(recorded.blocks).filter(stays).map(|(place, block)| (place, block.clone())).unzip();
        let before = content_size(shown.blocks);
        let after = units(&stub).saturating_add(content_size(&blocks));
        let tool = result.tool_name.as_deref().or(call.map(|call| call.name.as_str())).unwrap_or("tool");
        let parts = std::iter::once(Part::Text(stub)).chain(places.into_iter().map(Part::Recorded)).collect();
        let named = label(tool, call.map(|call| call.arguments.as_str()));
        let label = format!("{named} ({})", plural(images.len(), "image"));
        (after < before).then_some(OldImage {
            entry: item.id(),
            index,
            tool,
            label,
            age,
            parts,
            before,
            after,
        })
    }

    /// Returns the characters that go with the images.
    pub fn saved_chars(&self) -> usize {
        self.before.saturating_sub(self.after)
    }

    fn judgement(&self) -> Judgement {
        Judgement {
            edits: vec![Edit { target: self.entry.to_owned(), replacement: Some(self.parts.clone()) }],
            result: ItemResult {
                kind: ItemKind::Image,
                entry_id: self.entry.to_owned(),
                tool: self.tool.to_owned(),
                label: self.label.clone(),
                outcome: ItemOutcome::Removed,
                reason: format!("{} turns old", self.age),
                before_chars: self.before as u64,
                after_chars: self.after as u64,
                ..ItemResult::default()
            },
        }
    }
}

fn as_image(block: &Block) -> Option<&Image> {
    match block {
        Block::Image(image) => Some(image),
        _ => None,
    }
}

fn stub(entry: &str, images: &[&Image], age: usize) -> String {
    let known: Vec<(u32, u32)> = images.iter().filter_map(|image| dimensions(image)).collect();
    let mut sizes: Vec<String> =
        known.iter().take(SIZES).map(|(width, height)| format!("{width}×{height}")).collect();
    if known.len() > SIZES {
        sizes.push("…".into());
    }
    let sizes = if sizes.is_empty() { String::new() } else { format!("{}; ", sizes.join(", ")) };
    let tokens = short(images.iter().map(|image| image_tokens(image)).sum());
    let again = if images.len() == 1 { "it" } else { "them" };
    format!(
        "{MARKER} Removed {} from this output ({sizes}~{tokens} tokens), {age} turns old. {} shows {again} again.",
        plural(images.len(), "image"),
        recall(entry)
    )
}
