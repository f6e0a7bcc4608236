//! Lengths, cuts and numbers as the guard counts and writes them.

use std::borrow::Cow;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Starts every text that the guard puts into the context.
pub const MARKER: &str = "[context-guard]";

/// What stands for the left-out middle of a clipped text.
const GAP: &str = "\n[…]\n";

/// Returns the length of `text` in UTF-16 code units, the unit of every "characters" figure.
///
/// Hosts written in JavaScript count the same way, so figures agree on both sides.
pub fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Estimates the tokens of `chars` characters: a quarter, rounded, halves up.
pub fn tokens(chars: usize) -> usize {
    chars.saturating_add(2) / 4
}

/// Returns the longest start of `text` that has at most `max` units and ends between two characters as a
/// reader sees them (grapheme clusters).
pub fn prefix(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > max {
            return &text[..boundary(text, at, Side::Before)];
        }
    }
    text
}

/// Returns the longest end of `text` that has at most `max` units and starts between two characters.
pub fn suffix(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.len_utf16();
        if used > max {
            return &text[boundary(text, at + c.len_utf8(), Side::After)..];
        }
    }
    text
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Returns the grapheme boundary nearest to `at` on that side, `at` itself included.
fn boundary(text: &str, at: usize, side: Side) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The whole text is given as one chunk, so the cursor never asks for more context.
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    match side {
        Side::Before => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        Side::After => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    }
}

/// Shortens `text` to at most `max` units: seven tenths from its start, the rest from its end.
pub fn clip(text: &str, max: usize) -> Cow<'_, str> {
    if units(text) <= max {
        return Cow::Borrowed(text);
    }
    let room = max.saturating_sub(units(GAP));
    let head = room * 7 / 10;
    Cow::Owned(format!("{}{GAP}{}", prefix(text, head), suffix(text, room - head)))
}

/// Shortens `text` to at most `max` units by leaving out its start.
pub fn clip_tail(text: &str, max: usize) -> Cow<'_, str> {
    const LEAD: &str = "[…]\n";
    if units(text) <= max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{LEAD}{}", suffix(text, max.saturating_sub(units(LEAD)))))
}

/// Cuts `text` to `max` units, the last of them an ellipsis where something was left out.
pub fn ellipsis(text: &str, max: usize) -> Cow<'_, str> {
    if units(text) <= max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", prefix(text, max.saturating_sub(1))))
}

/// Turns every run of white space into one space and trims the ends.
pub fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether `text` has nothing but white space.
pub fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns the lines of `text` as an editor counts them: a newline at the end opens no line of its own.
///
/// A carriage return stays part of its line, so that lines can be put back byte for byte.
pub fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// Returns the characters of `text` as a reader sees them.
pub fn characters(text: &str) -> impl Iterator<Item = &str> {
    text.graphemes(true)
}

/// Writes a non-negative number with `digits` decimals, exact ties away from zero.
///
/// `format!` rounds ties to even. A double is an exact tie only as an odd multiple of 1/2^(digits+1), since
/// the five in 1/(2·10^digits) has no finite binary form.
pub fn decimal(value: f64, digits: u32) -> String {
    let steps = value * f64::from(1u32 << (digits + 1));
    let tie = steps.fract() == 0.0 && steps % 2.0 == 1.0;
    let scale = f64::from(10u32.pow(digits));
    let value = if tie { (value * scale).ceil() / scale } else { value };
    format!("{value:.0$}", digits as usize)
}

/// Writes a count in short form: `999`, `1.0k`, `50.4k`, `2.3M`.
pub fn short(count: usize) -> String {
    let count = count as f64;
    if count < 1e3 {
        return format!("{count}");
    }
    let thousands = decimal(count / 1e3, 1);
    if count < 1e6 && thousands != "1000.0" {
        format!("{thousands}k")
    } else {
        format!("{}M", decimal(count / 1e6, 1))
    }
}

/// Writes a lifetime count: as [`short`], without a `.0`.
pub fn short_whole(count: usize) -> String {
    short(count).replace(".0", "")
}

/// Writes a number with its noun: `1 line`, `0 lines`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Writes a cost in US dollars: `$0`, `$0.0012`, `$1.23`.
pub fn cost(usd: f64) -> String {
    if usd <= 0.0 || !usd.is_finite() {
        return "$0".into();
    }
    format!("${}", decimal(usd, if usd < 0.01 { 4 } else { 2 }))
}

/// Writes a probability for a trace: two decimals without a leading zero, `?` where there is none.
pub fn probability(p: Option<f64>) -> String {
    match p {
        Some(p) if p.is_finite() && p >= 0.0 => {
            let text = decimal(p, 2);
            text.strip_prefix('0').map_or_else(|| text.clone(), str::to_owned)
        }
        _ => "?".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_emoji_outside_the_bmp_counts_two() {
        assert_eq!(units("a😀é"), 4);
    }

    #[test]
    fn t1_numbers_round_exact_ties_away_from_zero() {
        assert_eq!([1_250, 2_250, 1_450].map(short), ["1.3k", "2.3k", "1.4k"]);
        assert_eq!(
            [999, 1_000, 15_093, 50_413, 2_345_678].map(short),
            ["999", "1.0k", "15.1k", "50.4k", "2.3M"]
        );
    }

    #[test]
    fn t2_b4_what_rounds_to_a_thousand_thousands_is_a_million() {
        assert_eq!(short(999_960), "1.0M");
        assert_eq!(short(999_949), "999.9k");
    }

    #[test]
    fn t12_probabilities_have_two_decimals_and_no_leading_zero() {
        assert_eq!([0.125, 1.0, 0.0].map(|p| probability(Some(p))), [".13", "1.00", ".00"]);
        assert_eq!(probability(None), "?");
        assert_eq!(probability(Some(f64::NAN)), "?");
    }

    #[test]
    fn t24_costs() {
        assert_eq!([0.0, 0.00123, 1.234].map(cost), ["$0", "$0.0012", "$1.23"]);
    }

    #[test]
    fn r22_b5_a_clipped_text_keeps_to_its_limit() {
        let clipped = clip(&"x".repeat(3_000), 2_000).into_owned();
        let (head, tail) = clipped.split_once(GAP).unwrap();
        assert_eq!((head.len(), tail.len(), units(&clipped)), (1_396, 599, 2_000));
    }

    #[test]
    fn b5_no_combining_sequence_is_cut() {
        let text = "e\u{301}".repeat(10);
        assert_eq!(prefix(&text, 3), "e\u{301}");
        assert_eq!(suffix(&text, 3), "e\u{301}");
        assert_eq!(prefix("a👨‍👩‍👧", 4), "a");
    }

    #[test]
    fn l50_b4_a_newline_at_the_end_is_no_line() {
        assert_eq!(lines("a\nb\n").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(lines("a\n\n").collect::<Vec<_>>(), ["a", ""]);
        assert_eq!(lines("a\r\nb").collect::<Vec<_>>(), ["a\r", "b"]);
        assert_eq!(lines("").count(), 1);
    }

    proptest! {
        #[test]
        fn cuts_keep_to_their_limit_and_to_the_text(text in "\\PC{0,60}|(e\u{301}|😀|\r\n){0,20}", max in 0usize..80) {
            prop_assert!(units(prefix(&text, max)) <= max);
            prop_assert!(text.starts_with(prefix(&text, max)));
            prop_assert!(units(suffix(&text, max)) <= max);
            prop_assert!(text.ends_with(suffix(&text, max)));
            if max >= 5 {
                prop_assert!(units(&clip(&text, max)) <= max);
                prop_assert!(units(&clip_tail(&text, max)) <= max);
            }
        }
    }
}
