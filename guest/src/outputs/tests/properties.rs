//! What holds for any output and any answers.

use proptest::prelude::*;

use super::*;

/// Outputs of all kinds: prose, search hits, failures, control characters, long lines.
fn texts() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-z ]{0,80}",
        2 => "[\\x00-\\x09\\x0b-\\x7f\u{2028}\u{85}é😀]{0,60}",
        2 => "[a-c]\\.rs[:-][0-9]{1,3}[:-][a-z ]{0,60}",
        1 => Just("error: it broke".to_owned()),
        1 => Just("thread 'a' panicked at src/a.rs:1:2:".to_owned()),
        1 => Just("--".to_owned()),
        1 => Just(String::new()),
        1 => Just("x".repeat(2_000)),
    ];
    let end = prop_oneof![
        Just(""),
        Just("\n"),
        Just("\n\n[Showing lines 1-2 of 9 (50KB limit). Use offset=3 to continue.]"),
    ];
    (prop::collection::vec(line, 1..150), end).prop_map(|(lines, end)| lines.join("\n") + end)
}

fn calls() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        Just(("bash", r#"{"command":"make"}"#)),
        Just(("bash", r#"{"command":"rg -n x"}"#)),
        Just(("read", r#"{"path":"src/a.rs","offset":201}"#)),
    ]
}

/// Replies that mean something, or nothing at all.
fn replies() -> impl Strategy<Value = Vec<Reply>> {
    let reply = (0.0..1.0f64, 0usize..45, 0.0..1.0f64, prop::collection::vec(0.0..1.0f64, 0..45));
    let reply = reply.prop_map(|(whole, choice, p, chunks)| {
        let choice = match choice {
            0 => "whole".to_owned(),
            1 => "none".to_owned(),
            at => format!("chunk_{}", at - 1),
        };
        let chunks: Vec<(usize, f64)> = chunks.into_iter().enumerate().map(|(at, p)| (at + 1, p)).collect();
        answers(whole, &choice, &[(choice.as_str(), p)], &chunks)
    });
    let any = prop_oneof![
        6 => reply,
        1 => Just(Reply::Failed(Failure::Error)),
        1 => Just(Reply::Failed(Failure::Timeout)),
    ];
    prop::collection::vec(any, 0..4)
}

/// Checks that a replacement is the original with notes in place of what is gone.
fn is_reduced(original: &str, replacement: &str, kept: usize) -> Result<(), TestCaseError> {
    let original: Vec<&str> = crate::text::lines(original).collect();
    let mut lines = replacement.split('\n');
    prop_assert!(lines.next().unwrap().starts_with("[context-guard] "));
    let (mut at, mut copied, mut noted) = (0, 0, 0);
    for line in lines {
        if let Some(count) = line.strip_prefix("[… ").and_then(|note| note.split_once(" line")) {
            let count: usize = count.0.parse().unwrap();
            at += count;
            noted += count;
            continue;
        }
        prop_assert_eq!(line, original[at]);
        at += 1;
        copied += 1;
    }
    prop_assert_eq!(copied, kept);
    let untold = original.len() - copied - noted;
    let continues = original.last().is_some_and(|last| last.starts_with("[Showing lines"));
    prop_assert!(untold == 0 || continues && untold <= 2, "{} lines went without a note", untold);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn kept_lines_are_lines_of_the_original_and_every_gap_has_its_note(
        text in texts(), (tool, arguments) in calls(), failed: bool, replies in replies(),
    ) {
        let candidate = Candidate { tool, arguments: Some(arguments), failed, ..bash(text.clone()) };
        let judgement = judge(candidate, &replies);
        prop_assert_eq!(judgement.before_chars, units(&text));
        if let (true, Some(replacement)) = (failed, &judgement.replacement) {
            let kept: Vec<&str> = replacement.split('\n').collect();
            let spoken = crate::text::lines(&text).rev().filter(|line| !line.trim().is_empty());
            prop_assert!(spoken.take(5).all(|line| kept.contains(&line)), "a failure lost its end");
        }
        match judgement.outcome {
            Outcome::Kept => prop_assert_eq!(judgement.replacement, None),
            Outcome::Removed => {
                let replacement = judgement.replacement.unwrap();
                prop_assert!(!replacement.contains('\n'));
                prop_assert_eq!(judgement.kept_lines, 0);
                prop_assert!(units(&replacement) < units(&text));
            }
            Outcome::Distilled => {
                let replacement = judgement.replacement.unwrap();
                prop_assert_eq!(judgement.after_chars, units(&replacement));
                prop_assert!(judgement.after_chars < judgement.before_chars);
                is_reduced(&text, &replacement, judgement.kept_lines)?;
            }
        }
    }

    #[test]
    fn without_answers_everything_stays(
        text in texts(), (tool, arguments) in calls(), failed: bool, garbage in "\\PC{0,20}",
    ) {
        let candidate = || Candidate { tool, arguments: Some(arguments), failed, ..bash(text.clone()) };
        let malformed = ["keep_whole", "focus", "chunk_1"].map(|id| (id.to_owned(), json!({ "type": garbage })));
        for reply in [
            Reply::Failed(Failure::Error),
            Reply::Failed(Failure::Timeout),
            Reply::Answers(malformed.into_iter().collect()),
        ] {
            let judgement = judge(candidate(), &vec![reply; 9]);
            prop_assert_eq!(judgement.outcome, Outcome::Kept);
        }
    }
}
