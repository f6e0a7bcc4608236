use super::*;
use crate::contract::types::{CacheScheme, Prices, ThinkingBinding};
use crate::session::fixtures::*;

fn reply(cache_read: u64, cache_write: u64, input: u64) -> Item {
    a("ok").usage(Usage { input, output: 100, cache_read, cache_write })
}

fn model() -> Model {
    Model {
        name: "anthropic/claude".into(),
        cache: CacheScheme::Anthropic,
        prices: Some(Prices { input: 2.5, output: 12.5, cache_read: 0.25, cache_write: 3.125 }),
        cache_lifetime: 300,
        thinking: ThinkingBinding::Unbound,
    }
}

/// A checkpoint that saved 16,000 characters, which are 4,000 tokens.
fn checkpoint() -> Item {
    record(
        r#"{"v":1,"phase":"mid-run","savedChars":16000,"costUsd":0.0012,"expected":
        {"savedChars":16000,"rewrittenChars":100000,"requests":12,"netChars":-774000},"results":[]}"#,
    )
}

/// A checkpoint that 28,000 tokens were written anew for, 100 requests that read 4,000 less, and a run end that nobody
/// has asked anything since.
fn session_with_edits() -> Mirror {
    let mut items = vec![u("p"), reply(50_000, 2_000, 10), checkpoint(), reply(20_000, 29_000, 10)];
    items.extend((0..99).map(|_| reply(49_000, 300, 10)));
    items.push(record(r#"{"v":1,"savedChars":9000,"results":[]}"#));
    session(items)
}

fn net_of(mirror: &Mirror, model: Option<&Model>) -> String {
    net(mirror, model, 0.0012).join("\n")
}

#[test]
fn the_net_is_an_estimate_beside_what_the_provider_reported() {
    // 100 requests save 4,000 reads each; 28,000 tokens cost 11.5 reads more.
    insta::assert_snapshot!(net_of(&session_with_edits(), Some(&model())), @r"
    Net so far (estimate): $0.02 saved (as much as 78.0k tokens read from the cache cost), before the classifier's $0.0012.
      By the provider, requests just before 1 edit read 50.0k tokens from the cache and 2.0k afresh, those just after 20.0k and 29.0k. Not counted: 1 pass (no request since).
    ");
}

#[test]
fn without_prices_the_net_is_told_in_reads() {
    insta::assert_snapshot!(net_of(&session_with_edits(), None), @r"
    Net so far (estimate): as much saved as 78.0k tokens read from the cache cost, before the classifier's $0.0012.
      By the provider, requests just before 1 edit read 50.0k tokens from the cache and 2.0k afresh, those just after 20.0k and 29.0k. Not counted: 1 pass (no request since).
    ");
}

#[test]
fn an_edit_that_has_not_paid_yet_is_a_loss() {
    let mirror = session([u("p"), reply(50_000, 2_000, 10), checkpoint(), reply(20_000, 29_000, 10)]);
    insta::assert_snapshot!(net_of(&mirror, Some(&model())), @r"
    Net so far (estimate): $0.08 lost (as much as 318.0k tokens read from the cache cost), before the classifier's $0.0012.
      By the provider, requests just before 1 edit read 50.0k tokens from the cache and 2.0k afresh, those just after 20.0k and 29.0k.
    ");
}

#[test]
fn where_nothing_is_seen_the_overview_says_why() {
    let silent =
        session([u("p"), a("ok"), checkpoint(), a("ok"), checkpoint(), a("ok").model("other/model")]);
    insta::assert_snapshot!(net_of(&silent, None), @"Net so far: not known. Not counted: 2 passes (the provider reports no cache numbers).");
    assert_eq!(net_of(&session([u("p"), reply(1, 1, 1)]), None), "");
}

#[test]
fn the_ledger_puts_what_was_expected_beside_what_was_seen() {
    insta::assert_snapshot!(by_pass(&session_with_edits(), Some(&model())).unwrap(), @r"
    Edits, newest first:
    run end
      expected: not on record
      seen: cannot be compared, no request since
    checkpoint
      expected: 16.0k less in each request, 100.0k written anew; over 12 requests worth −774.0k characters read from the cache
      seen: last request before 50.0k tokens read, 2.0k written, 10 neither; first after 20.0k tokens read, 29.0k written, 10 neither
      estimate: ~4.0k tokens less in each of 100 requests so far, ~28.0k more written; net $0.02 saved (as much as 78.0k tokens read from the cache cost)
    ");
    assert_eq!(by_pass(&session([u("p"), reply(1, 1, 1)]), None), None);
}

#[test]
fn an_expired_cache_and_originals_that_came_back_are_named() {
    let mirror = session([
        u("p"),
        reply(50_000, 2_000, 10),
        checkpoint(),
        u("q").at(6 * 60_000),
        reply(0, 49_000, 10).at(6 * 60_000),
        record(r#"{"v":1,"savedChars":-16000,"results":[]}"#),
        u("r").at(7 * 60_000),
        reply(0, 53_500, 10).at(7 * 60_000),
    ]);
    insta::assert_snapshot!(by_pass(&mirror, Some(&model())).unwrap(), @r"
    Edits, newest first:
    run end
      expected: not on record
      seen: last request before 0 tokens read, 49.0k written, 10 neither; first after 0 tokens read, 53.5k written, 10 neither
      estimate: ~4.0k tokens more in 1 request so far, ~53.0k more written; net $0.15 lost (as much as 613.5k tokens read from the cache cost)
    checkpoint
      expected: 16.0k less in each request, 100.0k written anew; over 12 requests worth −774.0k characters read from the cache
      seen: last request before 50.0k tokens read, 2.0k written, 10 neither; first after 0 tokens read, 49.0k written, 10 neither
      estimate: ~4.0k tokens less in each of 2 requests so far, nothing written because of it, since the cache had expired; net $0.01 saved (as much as 54.0k tokens read from the cache cost)
    ");
}

#[test]
fn a_long_list_of_edits_is_cut() {
    let items = (0..12).flat_map(|_| [reply(50_000, 10, 10), checkpoint()]);
    let text = by_pass(&session(items), None).unwrap();
    assert_eq!(text.lines().next(), Some("The last 10 of 12 edits, newest first:"));
    assert_eq!(text.matches("checkpoint").count(), 10);
}

#[test]
fn numbers_without_sense_are_written_all_the_same() {
    let huge = || reply(u64::MAX, u64::MAX, u64::MAX);
    let mirror = session([huge(), checkpoint(), huge(), checkpoint(), huge()]);
    assert!(net_of(&mirror, Some(&model())).contains("estimate"));
    assert!(by_pass(&mirror, None).is_some());
}
