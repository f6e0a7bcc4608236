//! Cuts text and code into terms that can be compared.

/// What a term is, which tells how much it says when two texts share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A path with its folders.
    Path,
    /// The folder of a path.
    Folder,
    /// The file of a path, or another last part of it.
    Base,
    /// A name that only code or data has: camelCase, snake_case, dotted, letters with digits.
    Identifier,
    /// A number, a version, a date.
    Number,
    /// A word of a language, or a part of an identifier.
    Word,
}

/// Longer tokens are data rather than names.
const LONGEST: usize = 200;

/// Words that say nothing about what a text is about: English function words, words that agents use of any
/// work, and keywords of common programming languages. Sorted.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "about", "above", "after", "again", "all", "also", "and", "any", "are", "args", "because", "been",
    "before", "being", "below", "between", "bool", "both", "but", "can", "class", "const", "could", "def",
    "did", "does", "done", "each", "else", "enum", "export", "false", "few", "for", "from", "func",
    "function", "had", "has", "have", "her", "here", "his", "how", "https", "impl", "import", "int", "into",
    "its", "just", "let", "like", "may", "more", "most", "must", "mut", "new", "nil", "none", "not", "now",
    "null", "off", "once", "one", "only", "or", "other", "our", "out", "over", "own", "private", "pub",
    "public", "return", "same", "self", "shall", "she", "should", "since", "some", "static", "str", "string",
    "struct", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "too", "true", "two", "under", "use", "used", "uses", "using", "var", "very", "via", "void",
    "was", "were", "what", "when", "where", "which", "while", "will", "with", "would", "you",
];

/// Calls `found` with every term of `text`, in order. Terms are in lower case.
pub(super) fn visit(text: &str, mut found: impl FnMut(Kind, &str)) {
    for token in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || is_joint(c))) {
        let token = token.trim_matches(is_joint);
        if token.len() <= LONGEST && token.contains(is_joint) {
            compound(token, &mut found);
        }
        for word in token.split(is_joint).filter(|word| !word.is_empty() && word.len() <= LONGEST) {
            visit_word(word, &mut found);
        }
    }
}

/// Returns whether the character joins words to a path or another compound.
fn is_joint(c: char) -> bool {
    matches!(c, '.' | '/' | '-' | '\\')
}

fn compound(token: &str, found: &mut impl FnMut(Kind, &str)) {
    let token = token.to_lowercase().replace('\\', "/");
    if !token.contains(char::is_alphabetic) {
        found(Kind::Number, &token);
    } else if let Some((folder, base)) = token.rsplit_once('/') {
        found(Kind::Path, &token);
        found(Kind::Folder, folder);
        found(Kind::Base, base);
    } else if token.contains('.') {
        found(Kind::Identifier, &token);
    } else {
        found(Kind::Word, &token);
    }
}

fn visit_word(word: &str, found: &mut impl FnMut(Kind, &str)) {
    let mut rest = word.trim_matches('_');
    while let Some(first) = rest.chars().next() {
        let dense = is_dense(first);
        let (run, later) = rest.split_at(rest.find(|c| is_dense(c) != dense).unwrap_or(rest.len()));
        if dense {
            pairs(run, found)
        } else {
            name(run, found)
        }
        rest = later;
    }
}

/// Returns whether the character belongs to a script that sets no space between words, or glues particles
/// to them: Chinese, Japanese, Korean.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
}

/// Takes a run of such characters by pairs, the usual stand-in for words there.
fn pairs(run: &str, found: &mut impl FnMut(Kind, &str)) {
    let ends = run.char_indices().map(|(at, c)| at + c.len_utf8());
    for (start, end) in run.char_indices().map(|(at, _)| at).zip(ends.skip(1)) {
        found(Kind::Word, &run[start..end]);
    }
}

fn name(name: &str, found: &mut impl FnMut(Kind, &str)) {
    let letters = name.contains(char::is_alphabetic);
    if !letters {
        if name.len() > 1 {
            found(Kind::Number, name);
        }
        return;
    }
    let parts = parts(name);
    if parts.len() > 1 || name.contains(char::is_numeric) {
        // Without its underscores, so that parse_config and parseConfig are the same name.
        found(Kind::Identifier, &name.to_lowercase().replace('_', ""));
    }
    for part in parts {
        let part = part.to_lowercase();
        let stem = stem(&part);
        if stem.chars().nth(2).is_some() && STOP.binary_search(&part.as_str()).is_err() {
            found(Kind::Word, &stem);
        }
    }
}

/// Cuts an identifier at its underscores and where its case tells of a new word (`HTTPServer` has two).
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in name.split('_') {
        let mut start = 0;
        let mut before = None;
        let mut chars = piece.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next_is_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let opens = before.is_some_and(|before: char| {
                c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small))
            });
            if opens {
                parts.push(&piece[start..at]);
                start = at;
            }
            before = Some(c);
        }
        parts.push(&piece[start..]);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the singular of a regular English plural (Harman's S-stemmer, which leaves all else alone).
fn stem(word: &str) -> std::borrow::Cow<'_, str> {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => {
            if let Some(stem) = stem.strip_suffix("ie") {
                return format!("{stem}y").into();
            }
            let sibilant = ["che", "she", "sse", "xe"].iter().any(|end| stem.ends_with(end));
            if sibilant { stem[..stem.len() - 1].into() } else { stem.into() }
        }
        _ => word.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        visit(text, |kind, term| terms.push(format!("{kind:?} {term}")));
        terms
    }

    #[test]
    fn the_stop_words_are_sorted() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn an_identifier_counts_as_a_whole_and_by_its_parts() {
        assert_eq!(terms("parse_config"), ["Identifier parseconfig", "Word parse", "Word config"]);
        assert_eq!(terms("parseConfig"), terms("parse_config"));
        assert_eq!(terms("HTTPServer"), ["Identifier httpserver", "Word http", "Word server"]);
        assert_eq!(terms("E0308"), ["Identifier e0308", "Word e0308"]);
        assert_eq!(terms("__init__"), ["Word init"]);
    }

    #[test]
    fn a_path_counts_with_its_folder_and_its_file() {
        assert_eq!(
            terms("(./src/jev/mod.rs:12)."),
            [
                "Path src/jev/mod.rs",
                "Folder src/jev",
                "Base mod.rs",
                "Word src",
                "Word jev",
                "Word mod",
                "Number 12"
            ]
        );
        assert_eq!(terms(r"src\Main.cs")[0], "Path src/main.cs");
    }

    #[test]
    fn numbers_versions_and_dates_are_numbers() {
        assert_eq!(terms("404 7 1.2.3"), ["Number 404", "Number 1.2.3"]);
    }

    #[test]
    fn plurals_meet_their_singular_and_function_words_go() {
        assert_eq!(
            terms("the matches of these entries, classes and buses"),
            ["Word match", "Word entry", "Word class", "Word buse"]
        );
        assert_eq!(terms("status glass analysis"), ["Word status", "Word glass", "Word analysis"]);
    }

    #[test]
    fn scripts_without_spaces_count_by_pairs() {
        assert_eq!(terms("함수를"), ["Word 함수", "Word 수를"]);
        assert_eq!(terms("getValue関数"), ["Identifier getvalue", "Word get", "Word value", "Word 関数"]);
    }
}
