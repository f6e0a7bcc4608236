//! Patterns of `recall`: whatever a model writes, the search ends, with the same lines each time.

use context_guard::recall::pattern::{Pattern, PatternError};

/// Takes the first line for the pattern and the rest for the text.
pub(crate) fn run(data: &[u8]) {
    let data = String::from_utf8_lossy(data);
    let (source, text) = data.split_once('\n').unwrap_or((&data, ""));
    let pattern = match Pattern::new(source) {
        Ok(pattern) => pattern,
        Err(error) => {
            assert!(matches!(error, PatternError::TooLong(_) | PatternError::Invalid { .. }), "{error}");
            return;
        }
    };
    let lines: Vec<&str> = text.split('\n').collect();
    // A search that runs out of steps ends with an error; how long that takes, the fuzzer's own limit watches.
    let Ok(found) = pattern.filter(lines.iter().copied()) else { return };
    assert!(found.is_sorted_by(|one, next| one < next) && found.iter().all(|index| *index < lines.len()));
    // Each line is searched alone, so that no other changes whether it is found.
    for index in [0, lines.len() / 2, lines.len() - 1] {
        let alone = pattern.filter(lines.get(index).copied().into_iter());
        assert!(alone.is_ok_and(|alone| alone.is_empty() != found.contains(&index)), "line {index}");
    }
}
