use std::sync::LazyLock;

use super::*;
use crate::cache::CacheLog;
use crate::contract::sessions::{Circumstances, Span, Tone};
use crate::session::Mirror;
use crate::session::fixtures::*;
use crate::settings::Settings;

const STUB: &str = "[context-guard] Omitted an earlier exchange judged unrelated to the current work.";

fn able() -> Circumstances {
    Circumstances {
        problem: None,
        destination: None,
        recall_active: true,
        working_directory: "/project".into(),
    }
}

fn footer(mirror: &Mirror) -> String {
    status(mirror, &Settings::default(), &able(), false).into_iter().map(|span| span.text).collect()
}

fn marked(length: usize) -> String {
    format!("{:x<length$}", "[context-guard] ")
}

/// A record that saved that much.
fn saving(chars: i64) -> Item {
    record(&format!(r#"{{"v":1,"savedChars":{chars}}}"#))
}

/// A result of 20,000 characters of which 3,200 are left.
fn distilled() -> Vec<Item> {
    let mut items = vec![
        u("p"),
        a("").call("c1", "bash", "{}"),
        r("c1", &"x".repeat(20_000)).id("big").replaced(&marked(3_200)),
        a("Done."),
    ];
    items.extend(guard_pass(&[("big", "distilled")]));
    items
}

#[test]
fn t13_a_distilled_output() {
    let mirror = session(distilled());
    assert_eq!(Statistics::of(&mirror).saved_chars, 16_800);
    assert_eq!(
        status(&mirror, &Settings::default(), &able(), false),
        [Span { text: "🛡 −4.2k".into(), tone: Tone::Success }, Span { text: " · 1".into(), tone: Tone::Dim }]
    );
}

#[test]
fn t14_the_count_is_of_all_kinds() {
    let mirror = session([
        u("old").replaced(STUB),
        a(&"y".repeat(4_000)).omitted(),
        u("p"),
        a("").call("c1", "bash", "{}").call("c2", "bash", "{}").call("c3", "shot", "{}"),
        r("c1", &"x".repeat(20_000)).replaced(&marked(3_200)),
        r("c2", &"x".repeat(2_000)).replaced(&marked(100)),
        r("c3", "page").block(png(750, 1)).replaced(&marked(100)),
    ]);
    let statistics = Statistics::of(&mirror);
    assert_eq!(
        (statistics.distilled_outputs, statistics.image_results, statistics.omitted_exchanges),
        (2, 1, 1)
    );
    assert!(footer(&mirror).ends_with(" · 4"), "{}", footer(&mirror));
}

#[test]
fn an_output_whose_text_went_while_an_image_stayed_is_no_image_result() {
    let blocks = [crate::contract::types::Block::Text(marked(40)), png(1, 1)];
    let item = r("c1", &"x".repeat(2_000)).block(png(1, 1)).replaced_by(blocks);
    assert_eq!(Statistics::of(&session([item])).distilled_outputs, 1);
}

#[test]
fn t15_before_the_edits_nothing_is_saved() {
    let mirror = session([u("p"), a("").call("c1", "bash", "{}"), r("c1", &"x".repeat(20_000))]);
    let nothing = [Span { text: "🛡 0 saved".into(), tone: Tone::Dim }];
    assert_eq!(status(&mirror, &Settings::default(), &able(), false), nothing);
}

#[test]
fn t16_after_a_compaction_the_lifetime_figure_is_left() {
    let mirror = session([u("p").compacted(), saving(316_000), compaction("so far"), u("next")]);
    let left = [Span { text: "🛡 0 · Σ−79k".into(), tone: Tone::Dim }];
    assert_eq!(status(&mirror, &Settings::default(), &able(), false), left);
}

#[test]
fn savings_now_and_before_a_compaction_stand_side_by_side() {
    let mut items = distilled();
    items.extend([saving(332_000), compaction("so far")]);
    assert_eq!(footer(&session(items)), "🛡 −4.2k · 1 · Σ−83k");
}

#[test]
fn t17_without_a_loss_there_is_no_lifetime_figure() {
    let mut items = distilled();
    items.extend([saving(16_800), compaction("so far")]);
    assert_eq!(footer(&session(items)), "🛡 −4.2k · 1");
}

#[test]
fn t18_a_compaction_before_the_first_saving_took_nothing() {
    let mut items = vec![saving(0), compaction("so far")];
    items.extend(distilled());
    items.push(saving(400_000));
    let mirror = session(items);
    assert!(!Statistics::of(&mirror).compacted);
    assert_eq!(footer(&mirror), "🛡 −4.2k · 1");
}

#[test]
fn t19_an_output_that_begins_with_the_marker_is_not_counted_unless_we_edited_it() {
    let raw = marked(9_000);
    let mirror = session([r("c1", &raw), r("c2", &raw).replaced(&marked(100))]);
    assert_eq!(Statistics::of(&mirror), Statistics::default());
    let mut items = vec![r("c2", &raw).id("r").replaced(&marked(100))];
    items.extend(guard_pass(&[("r", "distilled")]));
    assert_eq!(Statistics::of(&session(items)).saved_chars, 8_900);
}

#[test]
fn an_edit_without_the_marker_is_somebody_else_s() {
    let mirror = session([r("c1", &"x".repeat(9_000)).replaced("shorter"), u("p").replaced("q")]);
    assert_eq!(Statistics::of(&mirror), Statistics::default());
}

#[test]
fn t20_a_record_without_a_phase_is_a_run_end_and_another_version_is_ignored() {
    let mirror = session([
        saving(1_000),
        record(r#"{"v":1,"phase":"mid-run","requests":2,"costUsd":0.5}"#),
        record(r#"{"v":2,"savedChars":9000,"requests":7}"#),
    ]);
    let statistics = Statistics::of(&mirror);
    assert_eq!((statistics.run_ends, statistics.checkpoints), (1, 1));
    assert_eq!((statistics.lifetime_chars, statistics.requests, statistics.cost_usd), (1_000, 2, 0.5));
}

#[test]
fn t21_only_what_is_gone_from_an_exchange_is_saved() {
    let saved = |items: Vec<Item>| Statistics::of(&session(items)).saved_chars;
    let prompt = || u(&"p".repeat(1_000)).replaced(STUB);
    let exchange = |middle: Item| {
        vec![
            prompt(),
            a("").call("c1", "sh", "{}").omitted(),
            r("c1", "").omitted(),
            u("steer").omitted(),
            middle,
            u("next"),
            a("x").omitted(),
        ]
    };
    // The call counts 4 characters and the steering message 5; what was omitted elsewhere is not part of it.
    let base = 1_000 + 4 + 5 - STUB.len();
    assert_eq!(saved(exchange(a(&"y".repeat(4_000)).omitted())), base + 4_000);
    assert_eq!(saved(exchange(a(&"y".repeat(4_000)))), base);
    // A stub that is longer than what it stands for saves nothing.
    assert_eq!(saved(vec![u("p").replaced(STUB), a("x")]), 0);
}

#[test]
fn t22_a_negative_saving_leaves_the_lifetime_figure() {
    let statistics = Statistics::of(&session([saving(1_000), saving(-4_000)]));
    assert_eq!(statistics.lifetime_chars, 1_000);
}

#[test]
fn t23_the_switch_comes_before_a_problem() {
    let circumstances = Circumstances { problem: Some("no openrouter key".into()), ..able() };
    let show = |enabled, judging| {
        let settings = Settings { enabled, ..Settings::default() };
        status(&session([]), &settings, &circumstances, judging)
    };
    assert_eq!(show(false, true), [Span { text: "🛡 guard off".into(), tone: Tone::Dim }]);
    assert_eq!(show(true, true), [Span { text: "🛡 distilling…".into(), tone: Tone::Accent }]);
    assert_eq!(show(true, false), [Span { text: "🛡 no openrouter key".into(), tone: Tone::Warning }]);
}

#[test]
fn b20_the_bar_says_that_nothing_is_replaced_without_recall() {
    let without = Circumstances { recall_active: false, ..able() };
    let show = |circumstances: &Circumstances, enabled| {
        let settings = Settings { enabled, ..Settings::default() };
        let spans = status(&session(distilled()), &settings, circumstances, false);
        spans.into_iter().map(|span| span.text).collect::<String>()
    };
    assert_eq!(show(&without, true), "🛡 recall inactive");
    assert_eq!(show(&without, false), "🛡 guard off");
    let problem = Circumstances { problem: Some("no openrouter key".into()), ..without };
    assert_eq!(show(&problem, true), "🛡 no openrouter key", "first what it takes to judge");
}

#[test]
fn b20_the_views_say_that_nothing_is_replaced_without_recall_and_what_to_do() {
    let without = Circumstances { recall_active: false, ..able() };
    let view = |topic: &str, enabled| {
        let (mirror, settings) = (to_be_judged(), Settings { enabled, ..Settings::default() });
        report(topic, situation(&mirror, &settings, &without), None).unwrap()
    };
    let text = view("status", true);
    assert_eq!(
        text.lines().nth(1).unwrap(),
        "Nothing is replaced: the tool `recall` is not active, so the model could not get it back. In Pi, name it in \
         `--tools` and not in `--exclude-tools`; an extension that chooses the tools has to leave it in."
    );
    assert!(!view("status", false).contains("`recall`"));
    assert_eq!(
        view("preview", true),
        "Nothing would be sent. Nothing is replaced: the tool `recall` is not active, so the model could not get it \
         back."
    );
}

#[test]
fn without_earlier_conversation_no_exchange_is_judged_and_the_overview_says_so() {
    let settings = Settings { history_exchanges: 0, ..Settings::default() };
    assert!(view("status", &session([]), &settings).contains("; exchanges kept; "));
}

#[test]
fn a_problem_without_words_of_its_own_is_unavailability() {
    let shown = |problem: &str| {
        let circumstances = Circumstances { problem: Some(problem.into()), ..able() };
        let spans = status(&session([]), &Settings::default(), &circumstances, false);
        spans.into_iter().map(|span| span.text).collect::<String>()
    };
    assert_eq!(shown("network not allowed"), "🛡 network not allowed");
    assert_eq!(shown("Jev model not found"), "🛡 Jev model not found");
    assert_eq!(shown("no  key"), "🛡 guard unavailable");
    assert_eq!(shown("the runner ended with signal 9"), "🛡 guard unavailable");
}

fn full_record() -> Item {
    record(
        r#"{"v":1,"phase":"mid-run","model":"openrouter/jev","savedChars":16800,"requests":3,"inputTokens":9000,
        "costUsd":0.00123,"ms":1250,"timedOut":true,
        "expected":{"savedChars":16800,"rewrittenChars":31000,"lostThinkingChars":800,"requests":20,"netChars":-60500},
        "results":[
        {"kind":"large","entryId":"big","tool":"bash","label":"bash `rg foo`","outcome":"distilled",
         "reason":"chunks,timeout","beforeChars":20000,"afterChars":3200,
         "jev":["kw.15 focus=chunk_4:.52 keep 9/29","no answer timeout"]},
        {"kind":"large","entryId":"b","label":"read a.rs","outcome":"kept","reason":"whole-needed",
         "beforeChars":5489,"afterChars":5489,"jev":["kw.82 focus=whole:.71 keep all (whole-needed)"]},
        {"kind":"small","entryId":"c","label":"bash `ls`","outcome":"removed","reason":"not-needed",
         "beforeChars":1234,"afterChars":150,"jev":["p.06"]},
        {"kind":"exchange","entryId":"d","label":"\"rename it\"","outcome":"kept","reason":"deferred",
         "beforeChars":9600,"afterChars":9600,"jev":["p.04"]},
        {"kind":"image","entryId":"e","label":"shot (1 image)","outcome":"removed","reason":"4 turns old",
         "beforeChars":6556,"afterChars":140}]}"#,
    )
}

fn situation<'a>(
    mirror: &'a Mirror,
    settings: &'a Settings,
    circumstances: &'a Circumstances,
) -> Situation<'a> {
    static NOTHING_CACHED: LazyLock<CacheLog> = LazyLock::new(CacheLog::default);
    Situation { mirror, settings, circumstances, log: &NOTHING_CACHED }
}

fn view(topic: &str, mirror: &Mirror, settings: &Settings) -> String {
    report(topic, situation(mirror, settings, &able()), None).unwrap()
}

#[test]
fn the_overview_of_a_new_session() {
    let settings = Settings {
        enabled: false,
        mid_run: false,
        prune_exchanges: false,
        image_keep_turns: 0,
        ..Settings::default()
    };
    insta::assert_snapshot!(view("status", &session([]), &settings), @r#"
    Context guard off, classifier openrouter/~typesafe/jev-latest.
    Saved now: ~0 tokens (0 characters) by 0 distilled outputs, 0 image results and 0 omitted exchanges.
    On this branch: 0 run-end passes, 0 checkpoints, 0 requests, $0.
    No checkpoints; exchanges kept; images kept.
    Last pass: none on this branch.
    "#);
}

#[test]
fn the_overview_names_savings_work_rules_and_the_last_pass() {
    let mut items = distilled();
    items.extend([saving(316_000), compaction("so far"), full_record()]);
    insta::assert_snapshot!(view("status", &session(items), &Settings::default()), @r#"
    Context guard on, classifier openrouter/~typesafe/jev-latest.
    Saved now: ~4.2k tokens (16.8k characters) by 1 distilled output, 0 image results and 0 omitted exchanges.
    Since the start: ~83.2k tokens; a compaction dropped earlier edits.
    On this branch: 2 run-end passes, 1 checkpoint, 3 requests, $0.0012.
    Net so far: not known. Not counted: 3 passes (the provider reports no cache numbers).
    Checkpoints from 60.0k characters of outputs that are 4 turns old; exchanges judged, all but the last 2; images removed after 3 turns.
    Last pass: checkpoint, 1.3 s, timed out: 2 large outputs, 1 small output, 1 exchange, 1 image result.
      expected: 16.8k less in each request, 31.0k written anew, 800 of thinking dropped; over 20 requests worth −60.5k characters read from the cache
      distilled large 20.0k → 3.2k bash `rg foo` (chunks,timeout)
        kw.15 focus=chunk_4:.52 keep 9/29
        no answer timeout
      kept large 5.5k read a.rs (whole-needed)
        kw.82 focus=whole:.71 keep all (whole-needed)
      removed small 1.2k → 150 bash `ls` (not-needed)
        p.06
      kept exchange 9.6k "rename it" (deferred)
        p.04
      removed image 6.6k → 140 shot (1 image) (4 turns old)
    "#);
}

#[test]
fn the_overview_names_the_problem_only_while_on_and_calls_the_heuristic_one() {
    let circumstances = Circumstances { problem: Some("network not allowed".into()), ..able() };
    let first = |enabled, model: &str| {
        let settings = Settings { enabled, model: model.into(), ..Settings::default() };
        let text = report("status", situation(&session([]), &settings, &circumstances), None).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(
        first(true, "openrouter/jev"),
        "Context guard on (network not allowed), classifier openrouter/jev."
    );
    assert_eq!(first(false, "openrouter/jev"), "Context guard off, classifier openrouter/jev.");
    assert!(first(true, "builtin/lexical").contains("a heuristic"));
}

#[test]
fn the_explanation_puts_reasons_into_words() {
    insta::assert_snapshot!(view("explain", &session([saving(0), full_record()]), &Settings::default()), @r#"
    checkpoint, 1.3 s, timed out: 2 large outputs, 1 small output, 1 exchange, 1 image result.
      expected: 16.8k less in each request, 31.0k written anew, 800 of thinking dropped; over 20 requests worth −60.5k characters read from the cache
      distilled large 20.0k → 3.2k bash `rg foo`
        only the parts that the work still needs stay; the time was up
        kw.15 focus=chunk_4:.52 keep 9/29
        no answer timeout
      kept large 5.5k read a.rs
        all of it is needed
        kw.82 focus=whole:.71 keep all (whole-needed)
      removed small 1.2k → 150 bash `ls`
        it is not needed any more
        p.06
      kept exchange 9.6k "rename it"
        the edit would not pay off yet
        p.04
      removed image 6.6k → 140 shot (1 image)
        4 turns old

    run end, 0.0 s: no items.
    "#);
    assert_eq!(
        view("explain", &session([]), &Settings::default()),
        "Nothing was judged on this branch so far."
    );
}

#[test]
fn the_forecast_of_a_pass_that_put_something_back() {
    let mirror = session([record(
        r#"{"v":1,"expected":{"savedChars":-16800,"rewrittenChars":0,"requests":1,"netChars":1499},"results":[]}"#,
    )]);
    insta::assert_snapshot!(view("explain", &mirror, &Settings::default()), @r"
    run end, 0.0 s: no items.
      expected: 16.8k more in each request, 0 written anew; over 1 request worth 1.5k characters read from the cache
    ");
}

#[test]
fn the_overview_tells_when_a_checkpoint_comes() {
    let rules = |settings| {
        let text = view("status", &session([]), &settings);
        text.lines().find(|line| line.contains("heckpoints") && line.contains("images")).unwrap().to_owned()
    };
    let settings = Settings { mid_run_batch_chars: 9_000, mid_run_min_age_turns: 1, ..Settings::default() };
    insta::assert_snapshot!(rules(settings), @"Checkpoints from 9.0k characters (60.0k on Codex) of outputs that are 1 turn old; exchanges judged, all but the last 2; images removed after 3 turns.");
    insta::assert_snapshot!(rules(Settings { mid_run: false, ..Settings::default() }), @"No checkpoints; exchanges judged, all but the last 2; images removed after 3 turns.");
}

#[test]
fn an_unknown_view_names_those_there_are() {
    let (mirror, settings, circumstances) = (session([]), Settings::default(), able());
    let situation = situation(&mirror, &settings, &circumstances);
    let Err(Error::Invalid(text)) = report("weather", situation, None) else {
        panic!("there is no such view")
    };
    assert_eq!(text, "there is no view `weather`: ask for status, preview, explain or ledger");
}

/// A run with a large output that is yet to be judged.
fn to_be_judged() -> Mirror {
    let log: String = (0..100).map(|at| format!("{:.<99}\n", format!("step {at} "))).collect();
    session([
        u("Why is step 7 slow?"),
        a("").call("c1", "bash", r#"{"command":"cat a.log"}"#),
        r("c1", &log),
        a("Disk."),
    ])
}

fn preview(mirror: &Mirror, settings: &Settings, circumstances: &Circumstances) -> String {
    report("preview", situation(mirror, settings, circumstances), None).unwrap()
}

#[test]
fn b41_the_preview_shows_what_would_leave_and_where_to() {
    let destination = Some("https://openrouter.ai".into());
    let text = preview(&to_be_judged(), &Settings::default(), &Circumstances { destination, ..able() });
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("If the run ended now, 1 question of "), "{first}");
    assert!(
        first.ends_with(" bytes would go to https://openrouter.ai. Nothing was sent for this view."),
        "{first}"
    );
    assert!(text.contains("\n{\"state\":{\"situation\":") && text.contains(" more characters]"), "{text}");
}

#[test]
fn b41_the_preview_says_why_nothing_would_leave() {
    let settings = Settings::default();
    assert!(preview(&session([]), &settings, &able()).starts_with("Nothing would be sent: there is nothing"));
    let problem = Some("no openrouter key".into());
    let unable = Circumstances { problem, ..able() };
    assert_eq!(preview(&to_be_judged(), &settings, &unable), "Nothing would be sent: no openrouter key.");
    let off = Settings { enabled: false, ..settings };
    assert_eq!(preview(&to_be_judged(), &off, &able()), "The guard is off: nothing would be sent.");
}

#[test]
fn b41_the_ledger_counts_bytes_and_cost_per_origin() {
    let asked = |origin: &str, bytes: u64| {
        record(&format!(r#"{{"v":1,"requests":2,"costUsd":0.004,"origin":"{origin}","sentBytes":{bytes}}}"#))
    };
    let mirror = session([
        asked("https://a.example", 20_000),
        asked("https://b.example", 1_500),
        asked("https://a.example", 30_400),
        record(r#"{"v":1,"requests":1}"#),
        saving(1_000),
    ]);
    insta::assert_snapshot!(view("ledger", &mirror, &Settings::default()), @r"
    No origin on record: 1 request in 1 pass, nothing known to have been sent.
    https://a.example: 4 requests in 2 passes, 50.4k bytes sent, $0.0080.
    https://b.example: 2 requests in 1 pass, 1.5k bytes sent, $0.0040.

    Edits, newest first:
    run end
      expected: not on record
      seen: cannot be compared, no request before
    ");
    assert_eq!(view("ledger", &session([]), &Settings::default()), "Nothing was sent on this branch.");
}
