//! Text as it comes up in coding sessions, made from a seed: the same on every machine.

use fastrand::Rng;

const VERBS: [&str; 16] = [
    "parse", "load", "retry", "merge", "render", "encode", "validate", "flush", "resolve", "spawn", "drain",
    "commit", "schedule", "index", "rotate", "probe",
];
const NOUNS: [&str; 16] = [
    "session", "token", "backoff", "header", "ledger", "worker", "cursor", "manifest", "socket", "snapshot",
    "lease", "quota", "schema", "payload", "bucket", "replica",
];
const FOLDERS: [&str; 6] = ["src/core", "src/net", "src/store", "lib/jobs", "tests/unit", "packages/api/src"];
const EXTENSIONS: [&str; 3] = ["rs", "ts", "py"];
const LEVELS: [&str; 8] = ["INFO", "INFO", "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"];
const FILLERS: [&str; 16] = [
    "the", "because", "when", "after", "before", "should", "does", "not", "again", "only", "which", "so",
    "that", "every", "first", "still",
];

/// A name such as `retry_backoff`.
pub(super) fn name(random: &mut Rng) -> String {
    format!("{}_{}", pick(random, &VERBS), pick(random, &NOUNS))
}

/// A path such as `src/net/backoff_12.ts`.
pub(super) fn path(random: &mut Rng) -> String {
    let (folder, noun, ending) = (pick(random, &FOLDERS), pick(random, &NOUNS), pick(random, &EXTENSIONS));
    format!("{folder}/{noun}_{}.{ending}", random.u32(0..40))
}

/// Prose that speaks of names and paths.
pub(super) fn prose(random: &mut Rng, words: usize) -> String {
    let word = |random: &mut Rng| match random.u32(0..12) {
        0 => format!("`{}`", name(random)),
        1 => path(random),
        _ => pick(random, &FILLERS).to_owned(),
    };
    joined(words, " ", || word(random))
}

/// What a search prints: hits, file by file.
pub(super) fn search(random: &mut Rng, hits: usize) -> String {
    let mut file = path(random);
    joined(hits, "\n", || {
        if random.u32(0..5) == 0 {
            file = path(random);
        }
        format!("{file}:{}:{}", random.u32(1..900), code(random))
    })
}

/// What a read of a file shows.
pub(super) fn file(random: &mut Rng, lines: usize) -> String {
    joined(lines, "\n", || if random.u32(0..8) == 0 { String::new() } else { code(random) })
}

/// What a program logs.
pub(super) fn log(random: &mut Rng, lines: usize) -> String {
    let mut millisecond = 0;
    joined(lines, "\n", || {
        millisecond += random.u32(1..400);
        let (seconds, rest) = (millisecond / 1_000, millisecond % 1_000);
        format!(
            "2026-05-04T10:{:02}:{:02}.{rest:03}Z {:5} worker-{} {} request={:08x} took {} ms",
            seconds / 60 % 60,
            seconds % 60,
            pick(random, &LEVELS),
            random.u32(0..8),
            name(random),
            random.u32(..),
            random.u32(1..900)
        )
    })
}

/// Part of `text`: a line here and there, as a classifier would keep them.
pub(super) fn excerpt(text: &str) -> String {
    text.lines().step_by(5).collect::<Vec<_>>().join("\n")
}

fn code(random: &mut Rng) -> String {
    let indent = " ".repeat(4 * random.usize(0..4));
    match random.u32(0..4) {
        0 => format!("{indent}fn {}({}: &str) -> usize {{", name(random), pick(random, &NOUNS)),
        1 => format!(
            "{indent}let {} = {}(&{}, {});",
            pick(random, &NOUNS),
            name(random),
            name(random),
            random.u32(0..99)
        ),
        2 => format!(
            "{indent}if {}.{}() {{ return {}; }}",
            pick(random, &NOUNS),
            name(random),
            random.u32(0..99)
        ),
        _ => format!("{indent}// {}", joined(5, " ", || pick(random, &FILLERS).to_owned())),
    }
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

fn joined(count: usize, separator: &str, mut one: impl FnMut() -> String) -> String {
    (0..count).map(|_| one()).collect::<Vec<_>>().join(separator)
}
