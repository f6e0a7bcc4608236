//! Texts that are shortened: only between characters, and to no more than was said.

use context_guard::text::{clip, clip_tail, ellipsis, lines, prefix, squeeze, suffix, units};

/// Takes the first two bytes for the limit and the rest for the text.
pub(crate) fn run(data: &[u8]) {
    let Some((limit, text)) = data.split_first_chunk() else { return };
    let (max, text) = (usize::from(u16::from_le_bytes(*limit)) % 5_000, String::from_utf8_lossy(text));
    let text = &*text;
    let (start, end) = (prefix(text, max), suffix(text, max));
    assert!(text.starts_with(start) && units(start) <= max);
    assert!(text.ends_with(end) && units(end) <= max);
    assert!(units(text) > max || start == text && end == text, "what fits stays");
    for (short, least) in [(clip(text, max), 5), (clip_tail(text, max), 4), (ellipsis(text, max), 1)] {
        assert!(units(&short) <= max.max(least), "{max}: {short:?}");
        assert!(units(text) > max || short == text, "what fits stays");
    }
    assert!(units(&squeeze(text)) <= units(text));
    let whole = text.strip_suffix('\n').unwrap_or(text);
    assert_eq!(lines(text).collect::<Vec<_>>().join("\n"), whole, "lines can be put back byte for byte");
}
