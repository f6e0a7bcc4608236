//! Which images come with a text, and what is said about the others.

use std::ops::Range;

use crate::text::plural;

/// Most images in one answer.
const MOST: usize = 6;

/// Returns which of `total` images are attached, counted from 0; `first` counts from 1.
pub(super) fn attached(total: usize, first: usize, wanted: bool) -> Range<usize> {
    let start = if wanted { total.min(first - 1) } else { total };
    start..total.min(start + MOST)
}

/// Says how many images there are and how to get the rest; none where all are attached.
pub(super) fn note(total: usize, first: usize, attached: &Range<usize>, wanted: bool) -> Option<String> {
    if attached.len() == total {
        return None;
    }
    let images = plural(total, "image");
    if !wanted {
        let them = if total == 1 { "it" } else { "them" };
        return Some(format!(
            "[{images} in the original, 0 attached. Call recall without pattern, offset and column for {them}.]"
        ));
    }
    if attached.is_empty() {
        return Some(format!("[{images} in the original, 0 attached: there is no image {first}.]"));
    }
    let place = format!("{}–{}", attached.start + 1, attached.end);
    let more = if attached.end < total {
        format!(" Continue with image {}.", attached.end + 1)
    } else {
        String::new()
    };
    Some(format!("[{images} in the original, {} attached ({place}).{more}]", attached.len()))
}
