//! What the answers do to an output.

use super::*;

/// An output of 32 lines in four chunks, answered by one reply.
fn judged(reply: Reply) -> Judgement {
    judge(bash(lines(32)), &[reply])
}

/// The numbers of the chunks of [`judged`] that stay.
fn kept(judgement: &Judgement) -> Vec<usize> {
    let text = judgement.replacement.as_deref().unwrap_or_default();
    (1..=4).filter(|at| text.contains(&format!("\nline {} ", (at - 1) * 8))).collect()
}

fn whole(reason: &str, judgement: &Judgement) {
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Kept, reason));
    assert_eq!(judgement.replacement, None);
    assert_eq!(judgement.before_chars, judgement.after_chars);
}

#[test]
fn l27_all_of_it_is_needed() {
    whole("whole-needed", &judged(answers(0.7, "none", &[("none", 0.9)], &[])));
    assert_eq!(judged(answers(0.69, "none", &[("none", 0.9)], &[])).outcome, Outcome::Removed);
}

#[test]
fn l28_most_of_it_is_needed() {
    whole("whole-chosen", &judged(answers(0.2, "whole", &[("whole", 0.6)], &[(2, 0.9)])));
}

#[test]
fn l29_a_weak_most_does_not_outweigh_a_chosen_chunk() {
    let judgement = judged(answers(0.2, "whole", &[("whole", 0.59)], &[(2, 0.61)]));
    assert_eq!(kept(&judgement), [2]);
}

#[test]
fn l30_a_weak_most_removes_nothing_either() {
    whole("whole-chosen", &judged(answers(0.2, "whole", &[("whole", 0.43)], &[(2, 0.59)])));
}

#[test]
fn l31_the_chunk_in_focus_stays_whatever_its_own_answer() {
    let judgement = judged(answers(0.2, "chunk_3", &[("chunk_3", 0.5)], &[(1, 0.6), (3, 0.05)]));
    assert_eq!(kept(&judgement), [1, 3]);
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Distilled, "chunks"));
    assert_eq!((judgement.kept_lines, judgement.total_lines), (16, 32));
}

#[test]
fn l32_nothing_is_needed() {
    let judgement = judged(answers(0.2, "none", &[("none", 0.5)], &[(1, 0.59)]));
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Removed, "none-needed"));
    assert_eq!(judgement.traces, ["kw.20 focus=none:.50 keep 0/4"]);
}

#[test]
fn l33_a_weak_nothing_keeps_the_best_chunk() {
    let focus = [("none", 0.49), ("chunk_1", 0.2), ("chunk_4", 0.21)];
    assert_eq!(kept(&judged(answers(0.2, "none", &focus, &[]))), [4]);
    let tie = [("none", 0.49), ("chunk_2", 0.2), ("chunk_4", 0.2)];
    assert_eq!(kept(&judged(answers(0.2, "none", &tie, &[]))), [2]);
}

#[test]
fn l34_a_chunk_that_passes_outweighs_nothing() {
    assert_eq!(kept(&judged(answers(0.2, "none", &[("none", 0.9)], &[(2, 0.6)]))), [2]);
}

#[test]
fn l35_without_the_focus_everything_stays() {
    let reply = |focus: Value| {
        let Reply::Answers(mut answers) = answers(0.2, "none", &[("none", 0.9)], &[]) else { unreachable!() };
        answers.insert("focus".into(), focus);
        Reply::Answers(answers)
    };
    for focus in [
        json!(null),
        json!({ "type": "bool", "probability": 0.9 }),
        json!({ "type": "choice", "choice": "chunk_5", "probabilities": { "chunk_5": 0.9 } }),
        json!({ "type": "choice", "choice": "none", "probabilities": { "none": 7 } }),
        json!({ "type": "choice", "choice": "none", "probabilities": { "none": "much" } }),
    ] {
        let judgement = judged(reply(focus));
        whole("no-answer", &judgement);
        assert_eq!(judgement.traces, ["kw.20 focus=?:? keep all (no-answer)"]);
    }
    whole("no-answer", &judged(Reply::Answers(Map::new())));
}

#[test]
fn l35_a_probability_out_of_range_is_no_answer() {
    for p in [-0.1, 1.1] {
        whole("no-answer", &judged(answers(p, "none", &[("none", 0.9)], &[])));
        assert_eq!(kept(&judged(answers(0.2, "chunk_1", &[("chunk_1", 0.9)], &[(2, p)]))), [1]);
    }
}

#[test]
fn l36_a_missing_chunk_answer_is_one_that_did_not_pass() {
    assert_eq!(kept(&judged(answers(0.2, "chunk_1", &[("chunk_1", 0.9)], &[(2, 0.7)]))), [1, 2]);
}

#[test]
fn l37_more_than_six_tenths_is_not_worth_it() {
    // Chunks of 8 lines; the first of them is what makes the kept part 6,000 or 6,001 units of 10,000.
    let text = |first: usize| {
        let rest = 10_000 - first - 1;
        format!("{}\n{}", "k".repeat(first), vec!["r".repeat(99); 100].join("\n").get(..rest).unwrap())
    };
    let reply = || answers(0.2, "chunk_1", &[("chunk_1", 0.9)], &[]);
    assert_eq!(judge(bash(text(5_999)), &[reply()]).outcome, Outcome::Distilled);
    whole("not-worth", &judge(bash(text(6_000)), &[reply()]));
}

#[test]
fn l38_every_chunk_passes() {
    whole("all-chunks", &judged(answers(0.2, "chunk_1", &[], &[(1, 0.6), (2, 0.6), (3, 0.6), (4, 0.6)])));
}

/// Two segments of 40 and `rest` chunks.
fn two_segments(rest: usize) -> Candidate<'static> {
    bash(vec!["x".repeat(799); 40 + rest].join("\n"))
}

fn none() -> Reply {
    answers(0.2, "none", &[("none", 0.9)], &[])
}

#[test]
fn l39_b9_an_output_with_a_failed_segment_says_so() {
    let judgement = judge(two_segments(10), &[none(), Reply::Failed(Failure::Error)]);
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Distilled, "chunks,error"));
    assert_eq!(judgement.kept_lines, 10);
    assert_eq!(judgement.traces, ["kw.20 focus=none:.90 keep 0/40", "no answer keep all (error)"]);
}

#[test]
fn l40_b9_a_failed_segment_of_most_of_the_text() {
    whole("not-worth,error", &judge(two_segments(10), &[Reply::Failed(Failure::Error), none()]));
    whole("not-worth,timeout", &judge(two_segments(10), &[Reply::Failed(Failure::Timeout), none()]));
}

#[test]
fn l41_reasons_to_keep_are_joined() {
    let text = format!("{}\n{}", lines(16), "x".repeat(32_000));
    let judgement = judge(bash(text), &[answers(0.8, "none", &[("none", 0.9)], &[])]);
    whole("whole-needed,oversize", &judgement);
    assert_eq!(
        judgement.traces,
        ["kw.80 focus=none:.90 keep all (whole-needed)", "no answer keep all (oversize)"]
    );
    whole("error,timeout", &judge(two_segments(1), &[Reply::Failed(Failure::Error)]));
    whole("error", &judge(two_segments(1), &[Reply::Failed(Failure::Error), Reply::Failed(Failure::Error)]));
}

#[test]
fn l26_an_oversize_chunk_is_not_asked_about() {
    let settings = Settings::default();
    let plan = |len: usize| Plan::new(bash("x".repeat(len)), &settings);
    assert_eq!(plan(31_999).requests(&run_end(""), &Masks::default()).len(), 1);
    assert_eq!(plan(32_000).requests(&run_end(""), &Masks::default()).len(), 0);
    let judgement = plan(32_000).judge(&[], &run_end(""), &settings);
    whole("oversize", &judgement);
    assert_eq!(judgement.traces, ["no answer keep all (oversize)"]);
}

#[test]
fn l42_what_got_no_answer_in_time_stays() {
    for replies in [&[Reply::Failed(Failure::Timeout)][..], &[]] {
        let judgement = judge(bash(lines(32)), replies);
        whole("timeout", &judgement);
        assert_eq!(judgement.traces, ["no answer timeout"]);
    }
}

#[test]
fn l43_an_aborted_request_is_an_error() {
    whole("error", &judged(Reply::Failed(Failure::Error)));
}

#[test]
fn a_checkpoint_has_its_own_threshold() {
    let settings = Settings { mid_run_chunk_keep_threshold: 0.8, ..Settings::default() };
    let phase = Phase::Checkpoint { latest_note: "", earlier_notes: "", later_calls: &[], superseded: None };
    let scene = Scene { phase, ..run_end("") };
    let reply = [answers(0.2, "chunk_1", &[("chunk_1", 0.9)], &[(2, 0.7), (3, 0.8)])];
    let judgement = Plan::new(bash(lines(32)), &settings).judge(&reply, &scene, &settings);
    assert_eq!(kept(&judgement), [1, 3]);
}

#[test]
fn l48_files_that_the_answer_names_stay_where_that_is_wanted() {
    let hits = |file: &str| (0..8).map(|at| format!("{:.<99}", format!("{file}:{at}:"))).collect::<Vec<_>>();
    let text =
        [hits("src/util.rs"), hits("src/a.rs"), hits("src/b.rs"), hits("src/c.rs")].concat().join("\n");
    let settings = |keep_cited_files| Settings { keep_cited_files, ..Settings::default() };
    let outcome = |answer: &str, on: bool| {
        Plan::new(bash(text.clone()), &settings(on)).judge(&[none()], &run_end(answer), &settings(on))
    };
    assert!(outcome("See util.rs.", true).replacement.unwrap().contains("\nsrc/util.rs:0:"));
    assert_eq!(outcome("See util.rs.", true).outcome, Outcome::Distilled);
    assert_eq!(outcome("See util.rs.", false).outcome, Outcome::Removed);
    assert_eq!(outcome("See util.rsx", true).outcome, Outcome::Removed);
    assert_eq!(outcome("See myutil.rs", true).outcome, Outcome::Removed);
}

#[test]
fn b24_a_failing_result_keeps_its_failure() {
    let mut all: Vec<String> = lines(40).lines().map(str::to_owned).collect();
    all[12] = "error[E0308]: mismatched types".into();
    let failed = |failed| Candidate { failed, ..bash(all.join("\n")) };
    let judgement = judge(failed(true), &[none()]);
    assert_eq!((judgement.outcome, judgement.reason.as_str()), (Outcome::Distilled, "chunks"));
    assert_eq!(judgement.kept_lines, 6);
    insta::assert_snapshot!(judgement.replacement.unwrap());
    assert_eq!(judge(failed(false), &[none()]).outcome, Outcome::Removed);
}

#[test]
fn b24_a_failing_search_does_not_keep_its_hits() {
    let hits: Vec<String> = (0..60).map(|at| format!("src/a.rs:{at}:    error: {:.<60}", "x")).collect();
    let text = format!("{}\nrg: src/secret: Permission denied (os error 13)", hits.join("\n"));
    let search = Candidate { failed: true, arguments: Some(r#"{"command":"rg -n error"}"#), ..bash(text) };
    let judgement = judge(search, &[none()]);
    assert_eq!(judgement.kept_lines, 5);
    assert!(judgement.replacement.unwrap().ends_with("Permission denied (os error 13)"));
}

#[test]
fn a_note_that_is_not_shorter_is_not_worth_it() {
    whole("not-worth", &judge(bash("x\ny\nz"), &[none()]));
}

#[test]
fn b3_what_a_compiler_prints_is_never_called_matches() {
    let text = |at: usize| format!("src/f{}.rs:{at}:5: warning: {:.<80}", at / 10, "unused ");
    let log: Vec<String> = (0..60).map(text).collect();
    let note = |command: &str| {
        let arguments = json!({ "command": command }).to_string();
        let candidate = Candidate { arguments: Some(&arguments), ..bash(log.join("\n")) };
        let judged = judge(candidate, &[answers(0.1, "chunk_1", &[("chunk_1", 0.9)], &[])]);
        judged.replacement.unwrap().lines().last().unwrap().to_owned()
    };
    assert!(note("cargo build").contains("(output lines "), "{}", note("cargo build"));
    assert!(note("grep -n unused src").contains("matches in src/f1.rs, "), "{}", note("grep -n unused src"));
}
