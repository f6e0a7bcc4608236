use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A request as the guard asks it, at run end.
fn request(question: &str, answer: &str, chunks: &[String]) -> Request {
    let labels: Vec<String> = (1..=chunks.len()).map(|n| format!("chunk_{n}")).collect();
    let bool = json!({"type": "bool", "instructions": "?", "criteria": {"true": "yes", "false": "no"}});
    let mut criteria = Map::from_iter(["whole", "none"].map(|key| (key.to_owned(), "meaning".into())));
    criteria.extend(labels.iter().map(|label| (label.clone(), "meaning".into())));
    let mut questions = Map::new();
    questions.insert("keep_whole".into(), bool.clone());
    questions.insert("focus".into(), json!({"type": "choice", "instructions": "?", "criteria": criteria}));
    questions.extend(labels.iter().map(|label| (label.clone(), bool.clone())));
    let chunks: Map<String, Value> =
        labels.into_iter().zip(chunks).map(|(label, chunk)| (label, chunk.as_str().into())).collect();
    let state = json!({"user_question": question, "final_answer": answer, "chunks": chunks});
    Request { state: state.as_object().unwrap().clone(), questions }
}

/// What the guard makes of the answers: the numbers of the chunks that stay.
fn kept(request: &Request) -> Vec<usize> {
    let answers = judge(request);
    let p = |id: &str| answers[id]["probability"].as_f64().unwrap();
    let count = request.questions.len() - 2;
    let (choice, sure) = {
        let choice = answers["focus"]["choice"].as_str().unwrap();
        (choice, answers["focus"]["probabilities"][choice].as_f64().unwrap())
    };
    if p("keep_whole") >= 0.7 || (choice == "whole" && sure >= 0.6) {
        return (1..=count).collect();
    }
    let kept: Vec<usize> =
        (1..=count).filter(|n| p(&format!("chunk_{n}")) >= 0.6 || choice == format!("chunk_{n}")).collect();
    match choice {
        "none" if kept.is_empty() && sure >= 0.5 => kept,
        "whole" if kept.is_empty() => (1..=count).collect(),
        _ => kept,
    }
}

/// Hits of a search for `load_settings`, a chunk for each file.
fn hits() -> Vec<String> {
    let files = [
        ("src/app/boot.rs", ["let settings = load_settings(&root)?;", "boot_order.push(Stage::Settings);"]),
        ("src/app/cli.rs", ["// prints what load_settings found", "println!(\"{settings:#?}\");"]),
        ("src/config/mod.rs", ["pub use loader::load_settings;", "pub mod loader;"]),
        (
            "src/config/loader.rs",
            [
                "pub fn load_settings(root: &Path) -> Result<Settings> {",
                "let merged = merge_layers(defaults, file);",
            ],
        ),
        ("src/config/watch.rs", ["let fresh = load_settings(&self.root)?;", "self.sender.send(fresh)"]),
        (
            "src/daemon/reload.rs",
            ["match load_settings(&root) {", "Err(error) => warn!(%error, \"kept the old settings\"),"],
        ),
        ("tests/boot.rs", ["load_settings(dir.path()).unwrap();", "assert!(booted);"]),
        (
            "tests/loader.rs",
            ["let settings = load_settings(dir.path()).unwrap();", "assert_eq!(settings.port, 8080);"],
        ),
        (
            "tests/layers.rs",
            ["let settings = load_settings(dir.path()).unwrap();", "assert_eq!(settings.layers.len(), 3);"],
        ),
        ("examples/minimal.rs", ["let settings = load_settings(Path::new(\".\"))?;", "run(settings)"]),
        ("examples/daemon.rs", ["let settings = load_settings(&args.root)?;", "Daemon::new(settings).run()"]),
        ("docs/settings.md", ["Call `load_settings` once, early.", "It reads the file and the environment."]),
    ];
    let chunk = |(file, lines): (&str, [&str; 2])| {
        lines.iter().zip([12, 48]).map(|(line, at)| format!("{file}:{at}:    {line}\n")).collect()
    };
    files.into_iter().map(chunk).collect()
}

#[test]
fn of_search_hits_those_stay_whose_files_the_answer_cites() {
    let answer = "`load_settings` runs three times: `src/app/boot.rs` calls it at start, `src/config/watch.rs` \
                  when the file changes, and src/daemon/reload.rs:12 on SIGHUP, where an error keeps the old settings.";
    assert_eq!(kept(&request("who calls load_settings at run time?", answer, &hits())), [1, 5, 6]);
}

/// A source file, a chunk for each function.
fn source() -> Vec<String> {
    [
        ("open_ledger", "let file = File::options().append(true).open(path)?;\n    Ok(Ledger { file, rows: 0 })"),
        ("append_row", "self.file.write_all(row.encode().as_bytes())?;\n    self.rows += 1;"),
        ("round_half_even", "let scaled = amount * 100.0;\n    let floor = scaled.floor();\n    if scaled - floor == 0.5 && floor % 2.0 == 0.0 { floor } else { scaled.round() }"),
        ("close_ledger", "self.file.sync_all()?;\n    drop(self.file);"),
        ("count_rows", "BufReader::new(&self.file).lines().count()"),
        ("export_csv", "for row in self.rows()? {\n        writer.serialize(row)?;\n    }"),
        ("import_csv", "for record in reader.deserialize() {\n        self.append_row(&record?)?;\n    }"),
        ("verify_checksum", "let sum = crc32(&self.bytes()?);\n    ensure!(sum == self.header.sum);"),
    ]
    .map(|(name, body)| {
        format!("/// Part of the ledger.\npub fn {name}(&mut self) -> Result<f64> {{\n    {body}\n}}\n")
    })
    .into()
}

#[test]
fn of_a_long_file_the_function_stays_that_the_answer_names() {
    let answer = "The sums differ because `roundHalfEven` compares `scaled - floor` with 0.5 exactly, which \
                  binary floats rarely meet. Compare with a tolerance there.";
    assert_eq!(kept(&request("why are the totals a cent off?", answer, &source())), [3]);
}

#[test]
fn a_long_answer_does_not_keep_everything_that_shares_its_words() {
    let answer = "The totals are a cent off since `round_half_even` takes its tie branch by comparing binary \
                  floats exactly. A float that prints as 0.125 can sit slightly beside it, so the branch is \
                  missed and the ordinary rounding decides. I replaced the comparison by a tolerance of one \
                  billionth, which is far below a cent and far above the noise of a sum over a year of rows. \
                  Nothing else had to change: rows are still written one by one, the file is opened for \
                  appending, synced before it is closed, and a header checksum covers what was imported or \
                  exported meanwhile. Reading back a large ledger counts its lines first, which takes a moment \
                  but never matters for an amount. I ran the accounting suite twice with both locales, compared \
                  the quarterly reports with the printed ones, and found the three known differences gone. If \
                  you want exact decimals instead, a fixed point type would be the next step; it touches every \
                  writer and reader of the format, therefore I left it alone for today.";
    assert_eq!(kept(&request("why are the totals a cent off?", answer, &source())), [3]);
}

/// A log of a build, ten lines a chunk, with one failure.
fn log() -> Vec<String> {
    (0..12)
        .map(|chunk| {
            (0..10)
                .map(|line| match chunk * 10 + line {
                    73 => {
                        "14:02:11 ERROR worker-3 lost connection to db-replica after 30s (attempt 5)\n".into()
                    }
                    n => format!(
                        "14:0{}:{:02} INFO worker-{} finished job {n} in {} ms\n",
                        chunk % 10,
                        line * 6,
                        n % 5,
                        100 + n * 7 % 50
                    ),
                })
                .collect()
        })
        .collect()
}

#[test]
fn of_a_log_the_line_stays_that_the_answer_quotes() {
    let answer = "One worker failed:\n\n> 14:02:11 ERROR worker-3 lost connection to db-replica after 30s (attempt 5)\n\n\
                  Everything else finished.";
    let request = request("did all jobs finish?", answer, &log());
    assert_eq!(kept(&request), [8]);
    assert_eq!(judge(&request)["chunk_8"]["probability"], QUOTED);
}

#[test]
fn a_part_of_a_line_is_quoted_as_well() {
    let answer = "It says `lost connection to db-replica`, so the replica is at fault.";
    assert_eq!(kept(&request("what failed?", answer, &log())), [8]);
}

#[test]
fn a_plain_word_set_as_code_is_a_name() {
    let chunks: Vec<String> = ["max-age=60", "retry(3)", "open(path)", "close(path)", "seek(0)", "flush()"]
        .map(String::from)
        .into();
    for (answer, chunk) in [("The value comes from `max-age` alone.", 1), ("So `retry()` gives up.", 2)] {
        let p = |answer: &str| {
            let request = request("where does it come from?", answer, &chunks);
            judge(&request)[&format!("chunk_{chunk}")]["probability"].as_f64().unwrap()
        };
        assert!(p(answer) >= KEEP);
        assert!(p(&answer.replace('`', "")) < p(answer));
    }
}

#[test]
fn a_line_that_most_chunks_have_is_kept_once() {
    let chunks: Vec<String> = (0..8).map(|n| format!("warning: unused import here\n{n}\n")).collect();
    let answer = "All of them print \"warning: unused import here\" and nothing else.";
    assert_eq!(kept(&request("what do they print?", answer, &chunks)), [1]);
}

#[test]
fn what_shares_nothing_goes() {
    let answer = "The invoice template lacked its footer; I added the bank details and the VAT number.";
    assert_eq!(kept(&request("fix the invoice footer", answer, &log())), [] as [usize; 0]);
}

#[test]
fn an_output_of_a_file_that_the_answer_names_never_goes_whole() {
    let answer = "The invoice template `mail/invoice.hbs` lacked its footer; I added it.";
    let mut request = request("fix the invoice footer", answer, &log());
    request.state.insert("tool_arguments".into(), r#"{"path":"mail/invoice.hbs"}"#.into());
    assert_ne!(kept(&request), [] as [usize; 0]);
}

#[test]
fn where_most_chunks_matter_all_stay() {
    let answer =
        hits().iter().map(|chunk| chunk.split(':').next().unwrap().to_owned() + "\n").collect::<String>();
    assert_eq!(kept(&request("list the files", &answer, &hits())).len(), 12);
}

#[test]
fn an_answer_that_says_nothing_removes_nothing() {
    for answer in ["", "Done.", "継続"] {
        assert_eq!(kept(&request("go on", answer, &hits())).len(), 12, "{answer}");
    }
}

#[test]
fn korean_and_japanese_answers_find_their_words() {
    let chunks: Vec<String> =
        ["설정을 읽는 함수", "로그를 지우는 함수", "파일을 여는 함수", "소켓을 닫는 함수"]
            .map(String::from)
            .into();
    let answer = "로그가 사라지는 원인은 로그를 지우는 쪽에 있습니다.";
    assert_eq!(kept(&request("로그가 왜 사라지나요?", answer, &chunks)), [2]);
}

#[test]
fn failed_and_superseded_outputs_count_for_less() {
    let answer = "`append_row` is slow, since every row is written by itself.";
    let p = |field: &str, value: &str| {
        let mut request = request("why is it slow?", answer, &source());
        request.state.insert(field.into(), value.into());
        judge(&request)["chunk_2"]["probability"].as_f64().unwrap()
    };
    let plain = p("tool", "read");
    assert!(plain >= KEEP);
    assert!(p("tool_status", "failed: exit code 1") < plain);
    assert!(p("superseded", "file changed later by edit src/ledger.rs (3 turns on)") < KEEP);
}

#[test]
fn items_and_exchanges_are_judged_by_their_texts() {
    let bool = json!({"type": "bool", "instructions": "?", "criteria": {}});
    let request: Request = serde_json::from_value(json!({
        "state": {
            "user_question": "why does parse_header fail on CRLF?",
            "final_answer": "`parse_header` splits at \\n only; src/http/head.rs now trims the \\r.",
            "items": {
                "item_1": {"tool": "read src/http/head.rs", "output": "fn parse_header(line: &str) {}"},
                "item_2": {"tool": "ls assets", "output": "logo.svg\nfavicon.ico"},
                "item_3": {"tool": "read src/http/head.rs", "superseded": "file changed later", "output": "x"},
            },
            "exchanges": {
                "exchange_1": {"user_prompt": "write parse_header", "final_answer": "In src/http/head.rs."},
                "exchange_2": {"user_prompt": "draw a logo", "final_answer": "assets/logo.svg is new."},
            },
        },
        "questions": {"item_1": bool, "item_2": bool, "item_3": bool, "exchange_1": bool, "exchange_2": bool},
    }))
    .unwrap();
    let answers = judge(&request);
    let p = |id: &str| answers[id]["probability"].as_f64().unwrap();
    assert!(p("item_1") >= 0.6 && p("exchange_1") >= 0.6);
    assert!(p("item_2") < 0.2 && p("exchange_2") < 0.2);
    assert!(p("item_3") < p("item_1"));
}

#[test]
fn unknown_questions_are_answered_with_a_doubt_and_unknown_types_not_at_all() {
    let mut request = request("who?", "src/app/boot.rs calls it at start, as the log shows", &hits());
    request.questions = json!({
        "is_it_nice": {"type": "bool", "instructions": "?", "criteria": {}},
        "colour": {"type": "choice", "instructions": "?", "criteria": {"red": "r", "blue": "b"}},
        "nothing_to_choose": {"type": "choice", "instructions": "?", "criteria": {}},
        "risk": {"type": "score", "instructions": "?", "criteria": ["low", "high"]},
    })
    .as_object()
    .unwrap()
    .clone();
    let answers = judge(&request);
    assert_eq!(answers["is_it_nice"]["probability"], 0.5);
    assert_eq!(answers["colour"]["probabilities"]["blue"], 0.5);
    assert_eq!(answers.len(), 2);
}

/// Any JSON, with the names that the judge looks for.
fn state() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        "([a-zA-Z_./`\"-]{1,12}[ \n]){0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = prop_oneof![
            Just("chunks".to_owned()),
            Just("items".to_owned()),
            Just("final_answer".to_owned()),
            Just("user_question".to_owned()),
            Just("agent_progress".to_owned()),
            Just("latest_note".to_owned()),
            Just("chunk_1".to_owned()),
            "\\PC{0,8}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_state_is_judged_alike_every_time(state in state(), questions in state()) {
        let mut request = request("what?", "src/a.rs and parse_config", &hits());
        request.state.extend(state.as_object().cloned().unwrap_or_default());
        request.questions.extend(questions.as_object().cloned().unwrap_or_default());
        let answers = judge(&request);
        prop_assert_eq!(&answers, &judge(&request));
        for (id, answer) in &answers {
            let answer: Answer = serde_json::from_value(answer.clone()).unwrap();
            let probabilities = match answer {
                Answer::Bool { probability } => vec![probability],
                Answer::Choice { choice, probabilities } => {
                    prop_assert!(probabilities.contains_key(&choice), "{}", id);
                    probabilities.values().map(|p| p.as_f64().unwrap()).collect()
                }
            };
            prop_assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }

    #[test]
    fn any_text_is_judged(question in "\\PC{0,60}", answer in "(\\PC|[ `\"\n]){0,200}", chunks in proptest::collection::vec("(\\PC|\n){0,80}", 1..6)) {
        kept(&request(&question, &answer, &chunks));
    }
}
