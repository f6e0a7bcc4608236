//! Settings files: any text gives settings that work, and a project's can only narrow.

use context_guard::settings::Settings;

use crate::pi::Host;

/// Takes what comes before a NUL for the user's settings and what comes after it for the project's.
pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (user, project) =
        text.split_once('\0').map_or((&*text, None), |(user, project)| (user, Some(project)));
    let (own, _) = Settings::load(user, None);
    let (narrowed, warnings) = Settings::load(user, project);
    assert!(warnings.iter().all(|warning| !warning.is_empty()));

    for (wish, own) in [
        (narrowed.enabled, own.enabled),
        (narrowed.pin_anthropic_cache, own.pin_anthropic_cache),
        (narrowed.mid_run, own.mid_run),
        (narrowed.prune_exchanges, own.prune_exchanges),
    ] {
        assert!(own || !wish, "a project can only switch off");
    }
    assert!(narrowed.history_exchanges <= own.history_exchanges);
    assert!(narrowed.max_segment_chars <= own.max_segment_chars);
    assert!(own.exclude_tools.iter().all(|tool| narrowed.exclude_tools.contains(tool)));
    assert_eq!((&narrowed.model, narrowed.timeout_ms), (&own.model, own.timeout_ms));
    for share in [own.keep_whole_threshold, own.chunk_keep_threshold, own.max_keep_ratio, own.none_threshold]
    {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }

    let session = include_bytes!("../../corpus/sessions/v3-every-kind.jsonl");
    let mut host = Host::open(session).expect("the corpus has a session");
    host.configure(user, project);
    host.pass(&crate::pi::passing(crate::contract::sessions::Phase::RunEnd, "b"));
    host.report();
}
