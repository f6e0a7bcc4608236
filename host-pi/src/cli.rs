//! The command line.

use crate::component;
use crate::engine::Limits;
use crate::gate::{ALLOW_VARIABLE, Names, Origin};
use crate::probe;
use crate::protocol;
use crate::replay::{self, Judge, KEY_VARIABLE};
use crate::runner::{Options, Runner};
use crate::settings::SettingsFile;
use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::{env, fs, io};

/// Runs the context guard, a sandboxed component that keeps a coding agent's context small.
#[derive(Debug, Parser)]
#[command(name = "context-guard", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  context-guard inspect
  context-guard inspect --wasm guard.wasm
  context-guard replay ~/.pi/agent/sessions/PROJECT/SESSION.jsonl
  context-guard probe --judge https://api.typesafe.ai/v1 --allow-net https://api.typesafe.ai
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}' | context-guard serve

Environment:
  PI_CONTEXT_GUARD_CONFIG  the settings file
  PI_CONTEXT_GUARD_ALLOW   origins to allow, separated by commas
  CONTEXT_GUARD_KEY        the key of the judge at a URL that `replay` and `probe` ask
  CONTEXT_GUARD_LOG        any text switches the log on (standard error)";

const REPLAY: &str = "\
The passes at the ends of the session's runs are made one after another, each on what the earlier ones left, as if
`recall` had been there for the model. The session file is only read. Replies are the recorded ones: what the model
would have said to a smaller context is not known. What a guard did while the session was recorded is left out.

Within a run there is a checkpoint after a turn that left enough to judge, if that pays. The time of the entries counts,
so that after a long pause the provider's cache is cold, and the provider of the model that replied last: anthropic,
openai-codex, or any other. Without --run the turns that had no checkpoint are summed up for each long run.

With `--judge none` nothing is asked and nothing decided: what a pass could judge is shown, each item at the first
checkpoint or end of a run where it could be. Checkpoints come as if all had been kept.

Nothing leaves this machine without a judge or with the built-in one. With a URL, questions go there if its origin is granted, with the
key in CONTEXT_GUARD_KEY if there is one.

--json prints one object:
  session    file, version, entries, branch_entries, left_out {edits, records}
  judge      api, model, base_url or null, heuristic; null where there is none
  settings   the settings file, or null
  warnings   texts
  runs       number, question, ending (completed, aborted, failed, open), pass (at its end) or null where nothing was
             due, and the turns at whose end something could be judged: number, eligible_items, eligible (these by
             kind: large, small, exchanges, images), eligible_chars, least_chars (enough for a checkpoint), batch_chars
             (what the checkpoint judged) or null, pays (whether that was likely to pay) or null where it was not
             weighed, checkpoint (a pass) or null, and why there was none: held_back (batch: too little to judge;
             price: it would not have paid) or null
             A pass: requests, input_tokens, sent_bytes, cost_usd, ms, timed_out, warnings, failure or null,
             expected or null where nothing changed (saved_chars, rewritten_chars, lost_thinking_chars, requests,
             net_chars), and items: entry_id, kind (large, small, exchange, image), label, outcome (distilled, removed, kept; null without a
             judge), reason, before_chars, after_chars, lines, kept_lines, superseded (by which call) or null, again
             (an earlier pass looked at it, too), traces, replacement or null
  totals     sums of these, before_chars with every item once; the different items by kind; and
             saved_tokens_estimate: a quarter of the characters";

const PROBE: &str = "\
A small set of labelled session situations is inside this program. Each is made into a session, the guard says what it
would ask about it, the judge answers, and the answers are compared with the labels. Tables show for each kind of
question what each threshold would have kept and dropped, rightly and wrongly, and what was wrong at the default.

The guard runs on its default settings here. Nothing leaves this machine with the built-in judge. With a URL, the set
goes there (about 40 requests) if its origin is granted, with the key in CONTEXT_GUARD_KEY if there is one.

--json prints one object:
  judge       api, model, base_url or null, heuristic
  situations  how many there are
  silent      names of those that the guard asks nothing about
  spent       requests, failed, input_tokens, sent_bytes, cost_usd, ms
  kinds       kind, setting, default; items: name, needed (the label), probability or null, kept (at the default);
              counts by threshold: threshold, kept_rightly, dropped_rightly, kept_wrongly, dropped_wrongly, accuracy";

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve one session: JSON-RPC, a message a line, on standard input and output.
    #[command(
        after_help = "The methods are described in docs/PROTOCOL.md. Nothing is sent anywhere unless its origin is\n\
        granted: in the settings file, in PI_CONTEXT_GUARD_ALLOW or with --allow-net."
    )]
    Serve(Serve),
    /// Show what is in this program: the component with its imports and size, and the limits it runs under.
    Inspect(Inspect),
    /// Show what the guard would have done in a recorded session of Pi.
    #[command(after_help = REPLAY)]
    Replay(Replay),
    /// Measure how well a judge answers the guard's questions, on a small labelled set.
    #[command(after_help = PROBE)]
    Probe(Probe),
}

#[derive(Args, Debug)]
struct Serve {
    /// Allow requests to this origin, such as https://openrouter.ai; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_net: Vec<Origin>,
}

#[derive(Args, Debug)]
struct Inspect {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the component to this file, so that another WASI host can load it.
    #[arg(long, value_name = "FILE")]
    wasm: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Replay {
    /// A session file of Pi's.
    session: PathBuf,
    /// Who answers: builtin (a heuristic that compares words), the base URL of a System One service, or none to see
    /// what would be judged.
    #[arg(long, value_name = "builtin|none|URL", default_value = "builtin")]
    judge: Judge,
    /// The classifier's name at the URL; jev-latest if none is given.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What the classifier costs, in US dollars per million input tokens, where its answers do not say.
    #[arg(long, value_name = "USD", default_value_t = 0.0, hide_default_value = true)]
    input_price: f64,
    /// Allow requests to this origin, such as https://openrouter.ai; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_net: Vec<Origin>,
    /// Use these settings instead of the user's.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Show only this run, in full: all replacements, and how each request was decided.
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Probe {
    /// Who answers: builtin (a heuristic that compares words) or the base URL of a System One service.
    #[arg(long, value_name = "builtin|URL", default_value = "builtin")]
    judge: Judge,
    /// The classifier's name at the URL; jev-latest if none is given.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What the classifier costs, in US dollars per million input tokens, where its answers do not say.
    #[arg(long, value_name = "USD", default_value_t = 0.0, hide_default_value = true)]
    input_price: f64,
    /// Allow requests to this origin, such as https://openrouter.ai; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_net: Vec<Origin>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the program and returns its exit code: 0, 1 on an error, 2 on a wrong command line.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(options) => serve(options),
        Command::Inspect(options) => inspect(&options, &mut io::stdout().lock()),
        Command::Replay(options) => replay(options),
        Command::Probe(options) => probe(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed; the exit code says it as well.
            let _ = writeln!(io::stderr(), "context-guard: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn serve(options: Serve) -> Result<()> {
    let (mut allow, warnings) = allowed(&env::var(ALLOW_VARIABLE).unwrap_or_default());
    allow.extend(options.allow_net);
    // One thread runs the session, two the connections.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let settings = SettingsFile::from_env();
    let result = runtime.block_on(async {
        let runner = Runner::new(Options {
            allow,
            warnings,
            names: Names::System,
            settings,
            limits: Limits::default(),
        })?;
        protocol::serve(Arc::new(runner), io::stdin(), io::stdout()).await.context("standard output")
    });
    // The thread that reads standard input may sit in a read for ever.
    runtime.shutdown_background();
    result
}

fn replay(options: Replay) -> Result<()> {
    if options.model.is_some() && matches!(options.judge, Judge::Builtin | Judge::None) {
        bail!("--model names a classifier at a URL; give one with --judge URL, or leave --model out");
    }
    let settings = match options.settings {
        Some(path) if !path.is_file() => {
            bail!("{} is no file; --settings names an existing one", path.display())
        }
        Some(path) => SettingsFile::at(path),
        None => SettingsFile::from_env(),
    };
    let mut allow = options.allow_net;
    let (granted, warnings) = allowed(&env::var(ALLOW_VARIABLE).unwrap_or_default());
    allow.extend(granted);
    let request = replay::Request {
        session: options.session,
        judge: options.judge,
        model: options.model,
        input_price: options.input_price,
        key: env::var(KEY_VARIABLE).ok(),
        allow,
        warnings,
        settings,
        run: options.run,
        json: options.json,
    };
    print(replay::replay(request))
}

fn probe(options: Probe) -> Result<()> {
    if options.model.is_some() && options.judge == Judge::Builtin {
        bail!("--model names a classifier at a URL; give one with --judge URL, or leave --model out");
    }
    let mut allow = options.allow_net;
    let (granted, warnings) = allowed(&env::var(ALLOW_VARIABLE).unwrap_or_default());
    allow.extend(granted);
    for warning in warnings {
        // Standard error may be closed; the origin is then missed all the same.
        let _ = writeln!(io::stderr(), "context-guard: {warning}");
    }
    print(probe::probe(probe::Request {
        judge: options.judge,
        model: options.model,
        input_price: options.input_price,
        key: env::var(KEY_VARIABLE).ok(),
        allow,
        settings: SettingsFile::from_env(),
        json: options.json,
    }))
}

/// Waits for a text and writes it to standard output.
fn print(text: impl Future<Output = Result<String>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let text = runtime.block_on(text)?;
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output"),
    }
}

/// Reads the origins in the environment. What is none becomes a warning: a typing error there must not cost the guard.
fn allowed(list: &str) -> (Vec<Origin>, Vec<String>) {
    let (mut origins, mut warnings) = (Vec::new(), Vec::new());
    for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        match text.parse() {
            Ok(origin) => origins.push(origin),
            Err(error) => warnings.push(format!("{ALLOW_VARIABLE}: {error}")),
        }
    }
    (origins, warnings)
}

fn inspect(options: &Inspect, output: &mut impl Write) -> Result<()> {
    if let Some(path) = &options.wasm {
        write(path)?;
    }
    let limits = Limits::default().table();
    if options.json {
        let limits: serde_json::Map<_, _> =
            limits.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let facts = serde_json::json!({
            "version": env!("CARGO_PKG_VERSION"),
            "wasmtime": component::WASMTIME,
            "guest": {
                "contract": crate::contract::CONTRACT,
                "sha256": component::SHA256,
                "bytes": component::WASM_BYTES,
                "compiled_bytes": component::CODE_BYTES,
                "imports": component::IMPORTS,
                "exports": component::EXPORTS,
            },
            "limits": limits,
        });
        writeln!(output, "{facts:#}")?;
        return Ok(());
    }
    writeln!(output, "context-guard {} on wasmtime {}", env!("CARGO_PKG_VERSION"), component::WASMTIME)?;
    writeln!(output, "\nguest      {} bytes, {} compiled", component::WASM_BYTES, component::CODE_BYTES)?;
    writeln!(output, "sha256     {}", component::SHA256)?;
    for import in component::IMPORTS {
        writeln!(output, "import     {import}")?;
    }
    for export in component::EXPORTS {
        writeln!(output, "export     {export}")?;
    }
    writeln!(output, "\nlimits")?;
    for (name, value) in limits {
        writeln!(output, "  {name:18}{value}")?;
    }
    Ok(())
}

fn write(path: &Path) -> Result<()> {
    fs::write(path, component::wasm()?).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_of_probe() {
        let mut cli = Cli::command();
        let probe = cli.find_subcommand_mut("probe").unwrap();
        insta::assert_snapshot!(probe.render_long_help());
    }

    #[test]
    fn a_model_has_to_have_a_service() {
        let cli = Cli::parse_from(["context-guard", "probe", "--model", "jev"]);
        let Command::Probe(options) = cli.command else { panic!("{cli:?}") };
        let error = probe(options).unwrap_err().to_string();
        assert!(
            error.starts_with("--model names a classifier at a URL; give one with --judge URL"),
            "{error}"
        );
    }

    #[test]
    fn the_list_in_the_environment_is_read_origin_by_origin() {
        let (origins, warnings) = allowed(" https://openrouter.ai, openrouter.ai,http://localhost:9931 ,");
        let origins: Vec<_> = origins.iter().map(Origin::to_string).collect();
        assert_eq!(origins, ["https://openrouter.ai", "http://localhost:9931"]);
        insta::assert_snapshot!(
            warnings.join("\n"),
            @r#"PI_CONTEXT_GUARD_ALLOW: "openrouter.ai" has no scheme; write https://openrouter.ai"#
        );
    }
}
