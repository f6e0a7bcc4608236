//! What must hold of every pass, whatever the session and the answers.

use std::collections::HashSet;

use context_guard::guard::Guard;
use context_guard::session::{Mirror, context_size, text_of};
use context_guard::text::{MARKER, lines};
use serde_json::{Map, Value, json};

use super::host::blocks;
use crate::contract::sessions::{Outcome, Part, RecallRequest, Recalled, Reply, Verdict};
use crate::contract::types::{Block, StopReason, ThinkingBinding, View};

/// Pages that are read of one original.
const PAGES: usize = 200;

/// Returns what the record tells of each item.
pub(super) fn results(outcome: &Outcome) -> Vec<Value> {
    let Some(record) = &outcome.guard_record else { return vec![] };
    let record: Value = serde_json::from_str(record).expect("a record is JSON");
    record["results"].as_array().expect("a record has results").clone()
}

/// Returns whether any answer can be read as one.
pub(super) fn heard(verdicts: &[Verdict]) -> bool {
    let object =
        |json: &str| serde_json::from_str::<Map<String, Value>>(json).is_ok_and(|object| !object.is_empty());
    verdicts.iter().any(|verdict| matches!(&verdict.reply, Reply::Answers(json) if object(json)))
}

/// Checks what a pass says about itself.
pub(super) fn edits(before: &Mirror, outcome: &Outcome, heard: bool) {
    let results = results(outcome);
    if outcome.guard_record.is_none() {
        assert_eq!(outcome.edits, [], "no edit without a record");
    }
    let made: HashSet<&str> = outcome.edits.iter().map(|edit| edit.target.as_str()).collect();
    assert_eq!(made.len(), outcome.edits.len(), "one edit per target");
    for result in &results {
        let (size, left) = (result["beforeChars"].as_u64(), result["afterChars"].as_u64());
        if result["outcome"] == "kept" {
            assert_eq!(size, left);
        } else {
            assert!(left < size, "a replacement is shorter: {result}");
            assert!(heard || result["kind"] == "image", "without an answer all but images stays: {result}");
            assert!(made.contains(result["entryId"].as_str().unwrap()), "{result}");
        }
    }
    for edit in &outcome.edits {
        let item = before.index(&edit.target).and_then(|index| before.projection().get(index));
        let item = item.expect("an edit is of the context");
        let Some([Part::Text(text)]) = edit.replacement.as_deref() else { continue };
        if item.recorded().is_some_and(|recorded| recorded.tool_result().is_some()) {
            kept_lines(text, &text_of(blocks(item.entry)));
        }
    }
}

/// Checks that every line that is no note is one of the original, in order, and that every gap has a note.
fn kept_lines(replacement: &str, original: &str) {
    let mut shown = replacement.split('\n');
    let head = shown.next().unwrap_or_default();
    assert!(head.starts_with(MARKER), "a note opens a replacement: {head:?}");
    let note = |line: &str| line.starts_with("[… ") && line.ends_with(" …]") && line.contains(" omitted");
    let source: Vec<&str> = lines(original).collect();
    // Only a distilled output has its gaps noted one by one, and only where it holds no such line itself they can be told.
    let noted = head.starts_with(&format!("{MARKER} Distilled")) && !source.iter().any(|line| note(line));
    let shown: Vec<&str> = shown.collect();
    let stretches: Vec<&[&str]> =
        if noted { shown.split(|line| note(line)).collect() } else { shown.chunks(1).collect() };
    let mut at = 0;
    for (number, stretch) in stretches.into_iter().enumerate().filter(|(_, stretch)| !stretch.is_empty()) {
        if !noted && note(stretch[0]) {
            continue;
        }
        // Lines can repeat, so that only all of a stretch tells where it was.
        let rest = source.get(at..).unwrap_or_default();
        let place = rest.windows(stretch.len()).position(|lines| lines == stretch);
        let place =
            place.unwrap_or_else(|| panic!("{stretch:?} does not stand in the original from {at} on"));
        assert!(place == 0 || number > 0 || !noted, "the lines before {stretch:?} went without a note");
        at += place + stretch.len();
    }
}

/// Checks the context that a pass left.
pub(super) fn context(
    before: &Mirror,
    after: &Mirror,
    outcome: &Outcome,
    results: &[Value],
    thinking: ThinkingBinding,
) {
    if outcome.guard_record.is_none() {
        return;
    }
    let record: Value = serde_json::from_str(outcome.guard_record.as_deref().unwrap()).unwrap();
    let size = |mirror: &Mirror| i128::try_from(context_size(mirror.projection())).unwrap();
    assert_eq!(record["savedChars"], json!(i64::try_from(size(before) - size(after)).unwrap()));

    let (then, now) = (pairs(before), pairs(after));
    let shown: HashSet<&str> =
        after.projection().iter().filter(|item| item.shown().is_some()).map(|item| item.id()).collect();
    for (call, result) in &then {
        let call_shown = call.is_none_or(|call| shown.contains(call));
        assert_eq!(call_shown, shown.contains(result), "{call:?} and {result} go together");
    }
    let lifted = results.iter().any(|result| result["reason"] == "recalled");
    for pair in &now {
        assert!(then.contains(pair) || lifted && pair.0.is_some(), "{pair:?} was no pair before");
    }
    if thinking == ThinkingBinding::Refused {
        nothing_is_refused(before, after, outcome);
    }
}

/// Each visible result with the entry of the nearest call before it that it answers.
fn pairs(mirror: &Mirror) -> HashSet<(Option<&str>, &str)> {
    let items: Vec<_> =
        mirror.projection().iter().filter_map(|item| Some((item.id(), item.shown()?))).collect();
    let mut pairs = HashSet::new();
    for (at, (id, shown)) in items.iter().enumerate() {
        let Some(result) = shown.tool_result() else { continue };
        let answers = |block: &Block| matches!(block, Block::ToolCall(call) if call.id == result.call_id);
        let calls = items.get(..at).unwrap_or_default().iter().rev();
        let call =
            calls.clone().find(|(_, shown)| shown.assistant().is_some() && shown.blocks.iter().any(answers));
        pairs.insert((call.map(|(id, _)| *id), *id));
    }
    pairs
}

/// Checks that no thinking that is still sent stands behind an edit.
fn nothing_is_refused(before: &Mirror, after: &Mirror, outcome: &Outcome) {
    let first = outcome.edits.iter().filter_map(|edit| before.index(&edit.target)).min();
    let Some(first) = first else { return };
    for item in after.projection().after(first).iter() {
        let Some(shown) = item.shown() else { continue };
        let sent = shown.assistant().is_some_and(|reply| reply.stop_reason != StopReason::Aborted);
        let thinks = shown.blocks.iter().any(|block| matches!(block, Block::Thinking(_)));
        assert!(!(sent && thinks), "{} would be refused", item.id());
    }
}

/// The kinds and ids of what was edited.
pub(super) fn changed(results: &[Value]) -> HashSet<(String, String)> {
    let changed =
        results.iter().filter(|result| result["outcome"] != "kept" || result["reason"] == "recalled");
    changed.map(|result| (result["kind"].to_string(), result["entryId"].to_string())).collect()
}

/// Checks that `recall` gives back what an item held.
pub(super) fn comes_back(guard: &Guard, mirror: &Mirror, result: &Value) {
    let id = result["entryId"].as_str().unwrap();
    let recorded = |id: &str| blocks(mirror.entry(id).expect("an edit is of the branch")).to_vec();
    if result["kind"] != "exchange" {
        let original = recorded(id);
        let images = original.iter().filter(|block| matches!(block, Block::Image(_))).count();
        assert_eq!(same_text(guard, id, &text_of(&original)), images, "{id} comes back with its images");
        return;
    }
    let transcript = pages(guard, id).join("\n");
    let shown: HashSet<&str> = transcript.split('\n').collect();
    let rest = result["omitted"].as_array().into_iter().flatten().map(|id| id.as_str().unwrap());
    for id in std::iter::once(id).chain(rest) {
        let omitted = mirror.index(id).and_then(|index| mirror.projection().get(index));
        assert!(omitted.is_some_and(|item| !matches!(item.view, View::AsRecorded)), "{id} is edited");
        // A line above a page's size comes in parts.
        for line in
            lines(&text_of(&recorded(id))).filter(|line| line.len() < 10_000 && !line.trim().is_empty())
        {
            let line = line.trim_end();
            assert!(
                shown.iter().any(|shown| shown.trim_end() == line),
                "{line:?} of {id} does not come back"
            );
        }
    }
}

fn page(guard: &Guard, id: &str, offset: u32, column: u32) -> (String, usize) {
    let request = RecallRequest {
        entry_id: id.into(),
        pattern: None,
        offset: Some(offset),
        limit: None,
        column: Some(column),
        image: None,
    };
    let parts = guard.recall(request).expect("an item comes back");
    let images = parts.iter().filter(|part| matches!(part, Recalled::Image(_))).count();
    let text = parts.into_iter().find_map(|part| match part {
        Recalled::Text(text) => Some(text),
        Recalled::Image(_) => None,
    });
    (text.unwrap_or_default(), images)
}

/// Returns where a page says that the original goes on, and what stands before that.
fn next(page: &str) -> Option<(&str, u32, u32)> {
    let (shown, note) = page.rsplit_once("\n\n[")?;
    let (_, next) = note.strip_suffix(".]")?.rsplit_once("Continue with offset ")?;
    let (offset, column) = next.split_once(" and column ").unwrap_or((next, "1"));
    Some((shown, offset.parse().ok()?, column.parse().ok()?))
}

/// Reads an original page by page, and checks that it is that text; returns the number of images on its first page.
fn same_text(guard: &Guard, id: &str, original: &str) -> usize {
    let (mut rest, mut offset, mut column) = (original, 0, 1);
    let mut images = 0;
    for number in 0..PAGES {
        let (text, attached) = page(guard, id, offset, column);
        images += if number == 0 { attached } else { 0 };
        let text =
            text.strip_prefix("[The original has no text.]").filter(|_| original.is_empty()).unwrap_or(&text);
        let last = text.split("\n[image").next().unwrap_or_default();
        if text.trim_end() == rest.trim_end() || last.trim_end() == rest.trim_end() {
            return images;
        }
        let goes_on = next(text).unwrap_or_else(|| panic!("{text:?} is not the rest of {id}, {rest:?}"));
        let (shown, cut) = match goes_on.0.rsplit_once("\n[line ") {
            Some((shown, note)) if note.ends_with(" cut at 50KB]") && goes_on.2 > 1 => (shown, true),
            _ => (goes_on.0, false),
        };
        rest = rest.strip_prefix(shown).unwrap_or_else(|| panic!("{shown:?} is not how {rest:?} starts"));
        rest = if cut { rest } else { rest.strip_prefix('\n').unwrap_or(rest) };
        (offset, column) = (goes_on.1, goes_on.2);
    }
    images
}

fn pages(guard: &Guard, id: &str) -> Vec<String> {
    let (mut offset, mut column) = (0, 1);
    let mut pages = vec![];
    while pages.len() < PAGES {
        let (text, _) = page(guard, id, offset, column);
        let Some((shown, next_offset, next_column)) = next(&text) else {
            pages.push(text);
            break;
        };
        if (next_offset, next_column) <= (offset, column) {
            pages.push(text);
            break;
        }
        pages.push(shown.to_owned());
        (offset, column) = (next_offset, next_column);
    }
    pages
}
