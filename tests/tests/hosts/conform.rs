//! The hosts at the other end of the conformance kit's line protocol.

use std::io::Write;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::host::Host;

/// What a host answers to calls that are numbered from 1.
fn answers(host: Host, calls: &[(&str, Value)]) -> Result<Vec<Value>> {
    let mut child = host.command()?.arg("conform").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("standard input is a pipe")?;
    for (number, (call, args)) in calls.iter().enumerate() {
        writeln!(input, "{}", json!({ "id": number + 1, "call": call, "args": args }))?;
    }
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(0), "{host:?} left with {}", output.status);
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[test]
fn each_kind_of_answer_has_its_form() -> Result<()> {
    let empty = json!({ "keep-branch": 0, "branch": [], "keep-context": 0, "context": [] });
    let entry = json!({
        "id": "p1", "time": 1_765_000_000_000_u64,
        "body": { "tag": "message", "val": { "tag": "user", "val": [{ "tag": "text", "val": "hi" }] } },
    });
    let shown = json!([{ "id": "p1", "view": { "tag": "as-recorded" } }]);
    let delta = json!({ "keep-branch": 0, "branch": [entry], "keep-context": 0, "context": shown });
    let ahead = json!({ "keep-branch": 9, "branch": [], "keep-context": 0, "context": [] });
    let service = json!({ "api": "builtin", "base-url": "", "model": "lexical", "headers": [["x-a", "b"]], "input-price": 0 });
    let calls = [
        ("session.new", json!({})),
        ("session.update", json!({ "delta": delta })),
        ("session.update", json!({ "delta": ahead })),
        ("session.report", json!({ "topic": "weather" })),
        (
            "session.recall",
            json!({ "request": { "entry-id": "p1", "pattern": null, "offset": null, "limit": null, "column": null, "image": null } }),
        ),
        (
            "classifier.ask",
            json!({ "service": service, "questions": [], "budget": { "timeout-ms": 1000, "concurrency": 1 } }),
        ),
        ("session.dance", json!({})),
        ("session.new", json!({})),
        ("session.update", json!({ "delta": empty })),
    ];
    for host in [Host::Node, Host::Python] {
        let answers = answers(host, &calls)?;
        let weather = answers[3]["err"].clone();
        assert_eq!(weather["tag"], "invalid", "{host:?}");
        assert!(answers[6]["unsupported"].is_string(), "{host:?}: {}", answers[6]);
        let expected = json!([
            { "id": 1, "ok": null },
            { "id": 2, "ok": null },
            { "id": 3, "err": { "tag": "out-of-sync" } },
            { "id": 4, "err": weather },
            { "id": 5, "ok": [{ "tag": "text", "val": "## user\nhi" }] },
            { "id": 6, "ok": [] },
            { "id": 7, "unsupported": answers[6]["unsupported"] },
            { "id": 8, "ok": null },
            { "id": 9, "ok": null },
        ]);
        assert_eq!(Value::from(answers), expected, "{host:?}");
    }
    Ok(())
}
