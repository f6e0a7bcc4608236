//! Old images.

use super::*;
use crate::contract::types::Block;
use crate::text::units;

/// A screenshot that `turns` replies followed.
fn shot_then(result: Item, turns: usize) -> Vec<Item> {
    let mut items = vec![u("p"), a("").call("c1", "browser", r#"{"path":"shot.png"}"#), result];
    items.extend((0..turns).map(|_| a("Going on.")));
    items
}

fn shot() -> Item {
    r("c1", "saved shot.png").block(png(1_500, 1_000)).id("0b44d2f7")
}

fn removed_with(items: Vec<Item>, settings: &Settings) -> Vec<Judgement> {
    let mirror = session(items);
    unless_edited(&old_images(&mirror, settings), &[])
}

fn removed(items: Vec<Item>) -> Vec<Judgement> {
    removed_with(items, &Settings::default())
}

fn stub(result: Item, turns: usize) -> String {
    text(&removed(shot_then(result, turns)).remove(0)).to_owned()
}

#[test]
fn i1_removed_after_three_replies() {
    assert_eq!(removed(shot_then(shot(), 2)).len(), 0);
    let judgement = removed(shot_then(shot(), 3)).remove(0);
    assert_eq!(told(&judgement), (ItemOutcome::Removed, "3 turns old", ""));
    let result = &judgement.result;
    assert_eq!((result.kind, result.tool.as_str()), (ItemKind::Image, "browser"));
    assert_eq!(result.label, "browser shot.png (1 image)");
    assert_eq!(result.before_chars, 14 + 8_000);
    assert_eq!(result.after_chars, 14 + units(text(&judgement)) as u64);
}

#[test]
fn i2_the_age_can_be_set_and_0_keeps_all() {
    let count = |keep, turns| {
        let settings = Settings { image_keep_turns: keep, ..Settings::default() };
        removed_with(shot_then(shot(), turns), &settings).len()
    };
    assert_eq!((count(0, 99), count(1, 0), count(1, 1)), (0, 0, 1));
}

#[test]
fn only_replies_that_the_model_sees_make_an_image_older() {
    let mut items = shot_then(shot(), 2);
    items.extend([a("hidden").omitted(), u("steer"), n("notice")]);
    assert_eq!(removed(items).len(), 0);
}

#[test]
fn i3_the_stub_of_two_images() {
    let result = shot().block(image("image/png", "unreadable"));
    assert_eq!(
        stub(result, 5),
        "[context-guard] Removed 2 images from this output (1500×1000; ~3.6k tokens), 5 turns old. \
         recall({\"entryId\":\"0b44d2f7\"}) shows them again."
    );
    assert_eq!(
        stub(shot(), 5),
        "[context-guard] Removed 1 image from this output (1500×1000; ~2.0k tokens), 5 turns old. \
         recall({\"entryId\":\"0b44d2f7\"}) shows it again."
    );
}

#[test]
fn i4_of_four_images_three_sizes_are_told() {
    let result = (1..4).fold(shot(), |result, size| result.block(png(size * 100, size * 100)));
    assert!(stub(result, 3).contains("(1500×1000, 100×100, 200×200, …; ~2.2k tokens)"));
}

#[test]
fn i5_without_a_readable_size_only_the_tokens_are_told() {
    assert!(stub(r("c1", "").block(image("image/png", "?")), 3).contains("(~1.6k tokens)"));
}

#[test]
fn i6_b7_text_and_unknown_blocks_stay_as_they_were() {
    let result = r("c1", "saved shot.png")
        .block(png(900, 900))
        .block(Block::Opaque(40))
        .block(Block::Text("done".into()));
    let judgement = removed(shot_then(result, 3)).remove(0);
    let parts = judgement.edits[0].replacement.as_deref().unwrap();
    assert!(matches!(parts[0], Part::Text(_)));
    assert_eq!(parts[1..], [Part::Recorded(0), Part::Recorded(2), Part::Recorded(3)]);
    let expected = units(text(&judgement)) + 14 + 40 + 4;
    assert_eq!(judgement.result.after_chars, expected as u64);
}

#[test]
fn b7_an_image_that_is_cheaper_than_its_stub_stays() {
    assert_eq!(removed(shot_then(r("c1", "icon").block(png(16, 16)), 9)).len(), 0);
}

#[test]
fn i7_images_of_the_user_and_of_extensions_stay() {
    let mut items = vec![u("look").block(png(900, 900)), n("chart").block(png(900, 900))];
    items.extend((0..9).map(|_| a("Going on.")));
    assert_eq!(removed(items).len(), 0);
}

#[test]
fn i8_what_somebody_else_changed_is_left_alone() {
    let Block::Text(words) = ["saved shot.png"].map(|text| Block::Text(text.into()))[0].clone() else {
        unreachable!()
    };
    let changed = |blocks: Vec<Block>| removed(shot_then(shot().replaced_by(blocks), 9)).len();
    assert_eq!(changed(vec![Block::Text("rewritten".into()), png(1_500, 1_000)]), 0);
    assert_eq!(changed(vec![Block::Text(words.clone()), png(9, 9), png(1_500, 1_000)]), 0);
    assert_eq!(changed(vec![Block::Text(words.clone()), png(1_500, 1_000), Block::Opaque(9)]), 0);
    assert_eq!(changed(vec![Block::Text(words), png(1_400, 900)]), 1, "the same text and number of images");
    assert_eq!(removed(shot_then(shot().omitted(), 9)).len(), 0);
}

#[test]
fn i9_an_image_whose_exchange_is_omitted_in_the_same_pass_waits() {
    let mut items = shot_then(shot(), 3);
    for name in ["two", "three", "now"] {
        items.extend([u(name), a("Done.")]);
    }
    let mirror = session(items);
    let settings = Settings::default();
    let start = Run::of(mirror.projection()).unwrap().start;
    let exchanges = Plan::new(old_exchanges(&mirror, start, |_| false, &settings), &settings);
    let images = old_images(&mirror, &settings);
    assert_eq!((exchanges.items().len(), images.len()), (1, 1));
    let images_beside = |p| unless_edited(&images, &exchanges.judge(&[all(p)], &settings)).len();
    assert_eq!((images_beside(0.1), images_beside(0.9)), (0, 1));
}

#[test]
fn i10_images_need_no_question() {
    let judgement = removed(shot_then(shot(), 3)).remove(0);
    assert!(judgement.result.jev.is_empty());
}

#[test]
fn i11_the_tool_and_the_error_flag_play_no_role() {
    let settings =
        Settings { exclude_tools: vec!["browser".into()], distill_errors: false, ..Settings::default() };
    assert_eq!(removed_with(shot_then(shot().failed(), 3), &settings).len(), 1);
}

#[test]
fn i12_once_removed_there_is_nothing_left_to_remove() {
    let stub = stub(shot(), 3);
    let blocks = [stub, "saved shot.png".to_owned()].map(Block::Text);
    let mut items = shot_then(shot().replaced_by(blocks), 3);
    items.extend(guard_pass(&[("0b44d2f7", "removed")]));
    assert_eq!(removed(items).len(), 0);
}

#[test]
fn results_of_earlier_runs_are_labelled_by_their_calls() {
    let mut items = shot_then(shot(), 1);
    items.extend([u("next"), a("").call("c1", "bash", r#"{"command":"ls"}"#), r("c1", "x"), a("Done.")]);
    assert_eq!(removed(items)[0].result.label, "browser shot.png (1 image)");
    let orphan = vec![u("p"), r("gone", "").block(png(900, 900)), a("1"), a("2"), a("3")];
    assert_eq!(removed(orphan)[0].result.label, "tool (1 image)");
}
