//! Measures the wording: asks a judge about a checked-in set of labelled situations, exactly as the guard would ask, and
//! counts at which threshold how many of its answers are right.

mod kind;
mod labels;
mod report;
mod score;
mod session;
mod set;
mod table;
#[cfg(test)]
mod tests;

use crate::contract::classifier::Service;
use crate::contract::sessions::{Budget, Circumstances, Failure, Question, Reply, Verdict};
use crate::engine::Limits;
use crate::gate::{Credential, Names, Origin};
use crate::replay::look::Look;
use crate::replay::{self, Judge, KEY_VARIABLE};
use crate::runner::{Asking, Options, Runner};
use crate::settings::SettingsFile;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use labels::Labelled;
use report::{Answerer, Report, Spent};
use serde_json::{Value, json};
use std::future;
use std::time::{Duration, Instant};

/// Requests in flight, as the guard has it by default.
const CONCURRENCY: u32 = 6;
/// For each batch of requests. In a session the guard waits for 8 s; here a slow answer is as good as a fast one.
const TIMEOUT_MS: u32 = 60_000;

/// What is measured, and how.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) judge: Judge,
    /// The classifier's name at its service.
    pub(crate) model: Option<String>,
    /// In US dollars per million input tokens.
    pub(crate) input_price: f64,
    /// The judge's key.
    pub(crate) key: Option<String>,
    /// Origins allowed for this call, beside those of the settings.
    pub(crate) allow: Vec<Origin>,
    /// Where the user's network permission stands; nothing else in it counts.
    pub(crate) settings: SettingsFile,
    pub(crate) json: bool,
}

/// A request with the labels of what it asks.
struct Asked {
    question: Question,
    labelled: Vec<Labelled>,
}

/// Asks about the whole set and returns what to print.
pub(crate) async fn probe(request: Request) -> Result<String> {
    let json = request.json;
    let report = report(request).await?;
    if json {
        return Ok(serde_json::to_string_pretty(&report)? + "\n");
    }
    Ok(table::table(&report, Look::of_stdout()))
}

async fn report(request: Request) -> Result<Report> {
    let service = request.judge.service(request.model.as_deref(), request.input_price);
    let service = service.context("a probe needs somebody to ask: give --judge builtin or --judge URL")?;
    let destination = request.judge.destination();
    let credential = match destination {
        None => None,
        Some(_) => replay::credential(request.key).with_context(|| KEY_VARIABLE.to_owned())?,
    };
    let runner = Runner::new(Options {
        allow: request.allow,
        warnings: Vec::new(),
        names: Names::System,
        settings: request.settings,
        limits: Limits::default(),
    })?;
    if let Some(origin) = destination {
        replay::permitted(&runner, origin, &service.base_url)?;
    }

    let situations = set::situations().context("the set inside this program is broken; build it anew")?;
    prepare(&runner).await?;
    let mut asked = Vec::new();
    let mut silent = Vec::new();
    for situation in &situations {
        let questions = questions(&runner, situation).await?;
        if questions.is_empty() {
            silent.push(situation.name.clone());
        }
        asked.extend(questions);
    }
    for (id, asked) in (0..).zip(&mut asked) {
        asked.question.id = id;
    }

    let started = Instant::now();
    let verdicts = ask(&runner, &service, credential.as_ref(), &asked).await?;
    let spent = Spent::of(&verdicts, started.elapsed());
    let heuristic = destination.is_none();
    Ok(Report {
        judge: Answerer {
            base_url: destination.map(|_| service.base_url),
            api: service.api,
            model: service.model,
            heuristic,
        },
        situations: situations.len(),
        silent,
        spent,
        kinds: score::kinds(asked.into_iter().map(|asked| asked.labelled).zip(&verdicts))?,
    })
}

/// Gives the guard default settings, but for what would keep it from asking about a small session.
async fn prepare(runner: &Runner) -> Result<()> {
    let settings = json!({
        "minRunChars": 0,
        "midRunBatchChars": 0,
        "midRunBatchCharsOpenAI": 0,
        "midRunBreakEven": false,
    });
    let configuration = runner.configure_with(settings.to_string()).await?;
    if let Some(warning) = configuration.warnings.first() {
        bail!("{warning}");
    }
    let circumstances = Circumstances {
        problem: None,
        destination: None,
        recall_active: true,
        working_directory: "/project".into(),
    };
    Ok(runner.observe(circumstances).await?)
}

/// Returns what the guard asks about a situation, in the way of every host: mirror the session, begin a pass.
async fn questions(runner: &Runner, situation: &set::Situation) -> Result<Vec<Asked>> {
    let delta = session::delta(situation);
    let now = delta.branch.last().map_or(0, |entry| entry.time);
    runner.update(delta).await?;
    let inquiry = runner.begin(situation.phase.into(), &session::model(), now).await?;
    let questions = inquiry.map(|inquiry| inquiry.questions).unwrap_or_default();
    let asked = |question: Question| {
        let body: Value = serde_json::from_str(&question.body)?;
        Ok(Asked { labelled: labels::labelled(situation, &body), question })
    };
    questions.into_iter().map(asked).collect()
}

/// Asks batch by batch, so that a watcher sees it move, and stops where nobody answers the first one.
async fn ask(
    runner: &Runner,
    service: &Service,
    credential: Option<&Credential>,
    asked: &[Asked],
) -> Result<Vec<Verdict>> {
    let bar = progress(asked.len());
    let mut verdicts = Vec::new();
    for batch in asked.chunks(CONCURRENCY as usize) {
        let asking = Asking {
            service: service.clone(),
            credential: credential.cloned(),
            questions: batch.iter().map(|asked| asked.question.clone()).collect(),
            budget: Budget { timeout_ms: TIMEOUT_MS, concurrency: CONCURRENCY },
        };
        verdicts.extend(runner.ask(&asking, future::pending()).await);
        if let Some(problem) = problem(&verdicts, service) {
            bar.finish_and_clear();
            bail!("{problem}");
        }
        bar.inc(batch.len() as u64);
    }
    bar.finish_and_clear();
    Ok(verdicts)
}

/// Says why nothing was answered so far, and what to do; none where something was.
fn problem(verdicts: &[Verdict], service: &Service) -> Option<String> {
    let Service { base_url, model, .. } = service;
    if verdicts.iter().any(|verdict| matches!(verdict.reply, Reply::Answers(_))) {
        return None;
    }
    let all = |failure: Failure| {
        verdicts.iter().all(|verdict| matches!(verdict.reply, Reply::Failed(other) if other == failure))
    };
    Some(if all(Failure::Timeout) {
        format!(
            "no answer from {base_url} within {} s; check that a System One service answers there",
            TIMEOUT_MS / 1_000
        )
    } else if verdicts.iter().all(|verdict| verdict.sent_bytes == 0) {
        format!(
            "no question reached {base_url}; check the address, and that a System One service answers there"
        )
    } else {
        format!(
            "{base_url} answered no question; check the key in {KEY_VARIABLE}, the model {model:?} (--model) and \
             the address"
        )
    })
}

/// On standard error, where that is a terminal.
fn progress(requests: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(requests as u64), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} request {pos} of {len}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
