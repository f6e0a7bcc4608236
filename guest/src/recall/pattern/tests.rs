use proptest::prelude::*;

use super::*;

fn matches(pattern: &str, line: &str) -> bool {
    !Pattern::new(pattern).unwrap().filter([line].into_iter()).unwrap().is_empty()
}

fn refused(pattern: &str) -> String {
    Pattern::new(pattern).unwrap_err().to_string()
}

/// Pattern, a line that matches, a line that does not; V8 agrees with each.
const TABLE: &[(&str, &str, &str)] = &[
    // Characters and escapes
    ("a.c", "abc", "a\rc"),
    ("a.c", "a\u{e9}c", "a\u{2028}c"),
    (r"\d\d", "x42", "x٤٢"),
    (r"^\w+$", "a_1", "é"),
    (r"^\W$", "é", "e"),
    (r"a\sb", "a\u{feff}b", "a\u{85}b"),
    (r"^\S$", "\u{85}", "\u{a0}"),
    (r"\/a\-b\.c", "/a-b.c", "/a-bxc"),
    (r"\x41\u0042", "AB", "ab"),
    (r"\xg", "xg", "x"),
    (r"\u12", "u12", "\u{12}"),
    (r"\uD83D\uDE00", "😀", "😁"),
    (r"\cA", "\u{1}", "cA"),
    (r"\c1", r"\c1", "c1"),
    (r"[\c1]", "\u{11}", "c"),
    (r"a\0b", "a\0b", "a0b"),
    (r"\t\v\f", "\t\u{b}\u{c}", "tvf"),
    (r"\a\e\i\k\p", "aeikp", "x"),
    // Places
    ("^a|b$", "xb", "ba "),
    (r"\bfoo\b", "éfoo bar", "xfoo"),
    (r"\Boo", "foo", "oo"),
    (r"\b", "a", "é"),
    // Classes
    ("x[^]y", "x\ry", "xy"),
    ("[[]", "[", "]"),
    ("[a[b]", "[", "]"),
    ("a]", "a]", "a"),
    (r"[\]]", "]", "\\"),
    ("[a-c]", "b", "-"),
    ("[a-]", "-", "b"),
    ("[-a]", "-", "b"),
    (r"[\w-.]", "-", " "),
    (r"[+--]", ",", "."),
    (r"[\b]", "\u{8}", "b"),
    (r"[^\d\s]", "a", "1 2"),
    ("[^^]", "a", "^"),
    ("[&&]", "&", "a"),
    // Repetition
    ("^a{2,3}$", "aaa", "aaaa"),
    ("^a{2,}$", "aaaa", "a"),
    ("a{,2}", "a{,2}", "aa"),
    ("a{", "a{", "a"),
    ("a{1", "a{1", "a"),
    ("x{1}{", "x{", "x"),
    ("{", "{", "}"),
    ("^(?:ab)+?c", "ababc", "abab"),
    ("^a*?$", "aa", "ab"),
    ("^(?:a?)*b", "aab", "ac"),
    ("(?:){3}a", "a", "b"),
    ("^(?:a|ab)(?:c|bcd)$", "abcd", "abc "),
    ("a{0}b", "b", "a"),
    // Groups and references
    (r"(a)(b)\2\1", "abba", "abab"),
    (r"(?<q>['x]).*\k<q>", "'a'", "'a"),
    (r"\k<n>(?<n>a)", "a", "b"),
    (r"(?:(a)|b)\1c", "bc", "a"),
    (r"^(?:(a)|b)*\1$", "ab", "aba c"),
    (r"(a\1)b", "ab", "b"),
    (r"^(?:a|(b))*?\1c", "bbc", "d"),
    (r"(?<year>\d{4})-(\d\d)\2", "2026-1111", "2026-1112"),
    // Look-around
    ("a(?=b)", "ab", "ac"),
    ("a(?!b)", "ac", "ab"),
    ("(?<=a)b", "ab", "cb"),
    ("(?<!a)b", "cb", "ab"),
    (r"(?<=\$\d+\.)\d", "$12.5", "12.5"),
    (r"(?<=(\w)\1)c", "abc", "c"),
    (r"(?<=\1(\w))c", "aac", "abc"),
    (r"(?<=\1(a))c", "aac", "ac"),
    (r"(?=(a+))a*b\1", "aaabac", "aab"),
    ("(?=a)*b", "b", "a"),
    (r"(?!(a))b\1", "b", "a"),
    (r"(?<=^|,)x", "a,x", "ax"),
    (r"(?<=a{2}?b*)c", "aabbc", "abbc"),
    (r"(?=.*\d)(?=.*[A-Z])^.{4,}$", "abC1", "abc1"),
];

#[test]
fn patterns_mean_what_they_mean_in_javascript() {
    for &(pattern, hit, miss) in TABLE {
        assert!(matches(pattern, hit), "{pattern} must match {hit:?}");
        assert!(!matches(pattern, miss), "{pattern} must not match {miss:?}");
    }
    assert!(!matches("[]", "a") && !matches("[]", ""));
    assert!(matches(r"^[\u0000-\uFFFF]*$", "a\r😀"));
}

#[test]
fn what_cannot_be_read_says_where_and_what_to_write() {
    let all = [
        "(",
        "a(b",
        ")",
        "[a",
        "*a",
        "a**",
        "a|+",
        "{1}",
        "a{2,1}",
        "[b-a]",
        "(?i)a",
        "(?P<n>a)",
        "(?>a)",
        "(?<1>a)",
        "(?<n>a)(?<n>b)",
        r"\k<m>(?<n>a)",
        r"(?<n>a)\k",
        r"(a)\2",
        r"\01",
        r"[\1]",
        r"\p{L}",
        r"\u{1F600}",
        "a\\",
        "^*",
        r"\b+",
        "(?<=a)+",
    ];
    let texts = all.map(|pattern| format!("{pattern}  {}", refused(pattern))).join("\n");
    insta::assert_snapshot!(texts);
}

#[test]
fn groups_may_be_nested_but_not_without_end() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
    assert!(matches(&nested(100), "a"));
    assert!(refused(&nested(101)).contains("more than 100 deep"));
    assert!(refused(&"(".repeat(500)).contains("more than 100 deep"));
}

#[test]
fn q11_a_pattern_of_501_characters_is_refused() {
    assert!(Pattern::new(&"a".repeat(500)).is_ok());
    assert_eq!(Pattern::new(&"a".repeat(501)), Err(PatternError::TooLong(501)));
    assert_eq!(Pattern::new(&"😀".repeat(251)), Err(PatternError::TooLong(502)));
}

#[test]
fn q12_only_the_first_4000_characters_of_a_line_are_matched() {
    let needle_at = |start: usize| format!("{}needle", "-".repeat(start));
    assert!(matches("needle", &needle_at(3_994)));
    assert!(!matches("needle", &needle_at(3_995)));
}

#[test]
fn q10_b25_runaway_patterns_end_with_an_error() {
    let line = format!("{}!", "a".repeat(40));
    let error = Pattern::new("(a+)+$").unwrap().filter([line.as_str()].into_iter()).unwrap_err();
    assert_eq!(error, PatternError::TooSlow);
    assert!(error.to_string().contains("simpler pattern"));
}

#[test]
fn a_carriage_return_hides_no_line_end_and_can_be_found() {
    assert!(matches("error$", "an error\r"));
    assert!(matches(r"\r$", "an error\r"));
    assert!(!matches("error$", "an error\r\r"));
}

/// Worst cases over 2,000 lines of 4,000 characters. Run it with `--release`: a debug build is some ten times
/// slower.
#[test]
#[ignore = "measures time"]
fn a_search_ends_within_a_second() {
    let mut random = 12_345u32;
    let mut line = |letters: &[u8]| -> String {
        let letter = |_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(letters[(random >> 16) as usize % letters.len()])
        };
        (0..4_000).map(letter).collect()
    };
    let texts = [line(b"a"), line(b"ab"), line(b"abcdefghij klmnop/.:(){}0123456789")];
    let groups = "(?:".to_owned() + &"()".repeat(200) + "a)*x";
    let deep = "(?=.*".repeat(80) + "x" + &")".repeat(80);
    let patterns = [
        "x",
        "error|warning|failed to (\\w+)",
        "(a+)+$",
        "(.*)*x",
        "(?:(?:a*)*)*x",
        "(?:a|a)*x",
        "(?=.*(?=.*(?=.*x)))y",
        "(?=.*x)(.)\\1",
        "(?:(?=[ab]*a[ab]{100}c)|a)*(q)\\1x",
        "[ab]*a[ab]{400}c",
        "(?<=(?<=(?<=.*).*).*)x",
        "(.*)\\1\\1x",
        "(?:){99999999}x",
        "(?:a{0,99}){0,99}x",
        "(?:(a)|b)*?x",
        "(?=(?=(a*)*b)*c)*x",
        &groups,
        &deep,
    ];
    for pattern in patterns {
        for text in &texts {
            let started = std::time::Instant::now();
            let found = Pattern::new(pattern).unwrap().filter(std::iter::repeat_n(text.as_str(), 2_000));
            let took = started.elapsed();
            println!(
                "{took:>12.1?} {:<8} {:.40}",
                found.map_or("too slow".into(), |f| f.len().to_string()),
                pattern
            );
            assert!(took.as_millis() < 1_000, "{pattern}");
        }
    }
}

/// Patterns in the syntax that JavaScript and the `regex` crate share.
fn shared() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[abc]",
        Just(".".to_owned()),
        Just("[^a]".into()),
        Just("[a-b]".into()),
        Just("^".into()),
        Just("$".into()),
        Just(String::new())
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a + &b),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            (inner, prop::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?"]))
                .prop_map(|(a, quantifier)| format!("({a}){quantifier}")),
        ]
    })
}

proptest! {
    #[test]
    fn no_pattern_and_no_line_panics(pattern in "(\\PC|[\\\\()\\[\\]{}?*+|^$.<>=!:,0-9k-]){0,40}", line in "(\\PC|[\r\u{2028}]){0,40}") {
        if let Ok(pattern) = Pattern::new(&pattern) {
            let _ = pattern.filter([line.as_str()].into_iter());
        }
    }

    #[test]
    fn where_the_syntax_is_shared_the_regex_crate_agrees(pattern in shared(), line in "[abcd]{0,8}") {
        let theirs = regex::Regex::new(&pattern).unwrap();
        prop_assert_eq!(matches(&pattern, &line), theirs.is_match(&line), "{} on {}", pattern, line);
    }
}
