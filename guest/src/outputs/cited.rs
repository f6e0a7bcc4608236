//! Which files an answer names.

/// Fewest characters of a file's bare name; shorter ones are words as often as names.
const NAME: usize = 4;

/// Returns whether `answer` names `file`, by its path or by its bare name.
pub(super) fn names(answer: &str, file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    mentions(answer, file) || name.chars().count() >= NAME && mentions(answer, name)
}

/// Returns whether `word` stands in `text` and is no part of a longer name there.
fn mentions(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(|c| joins(c) || c == '.') && !after.is_some_and(joins)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l48_a_bare_name_stands_alone() {
        assert!(names("See util.rs.", "src/util.rs"));
        assert!(!names("See util.rsx", "src/util.rs"));
        assert!(!names("See myutil.rs", "src/util.rs"));
        assert!(!names("See ../util.rs-old", "src/util.rs"));
        assert!(names("myutil.rs and util.rs", "src/util.rs"));
    }

    #[test]
    fn l49_a_name_under_four_characters_needs_its_path() {
        assert!(!names("x.c", "src/x.c"));
        assert!(names("in src/x.c", "src/x.c"));
        assert!(!names("in my-src/x.c", "src/x.c"));
    }

    #[test]
    fn b3_a_windows_path_has_a_bare_name_too() {
        assert!(names("changed store.ts", r"C:\src\store.ts"));
    }
}
