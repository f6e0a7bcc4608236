//! Replays a recorded session: runs the passes at the ends of its runs and turns as they would have happened, and
//! shows what would have been kept, and why.

mod detail;
mod former_guard;
mod hints;
mod judge;
pub(crate) mod look;
mod mapping;
mod notes;
mod passes;
mod progress;
mod projection;
mod record;
mod report;
mod rows;
mod runs;
mod session_file;
mod table;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) use judge::{Judge, KEY_VARIABLE, credential};

use crate::contract::sessions::Circumstances;
use crate::engine::Limits;
use crate::gate::{Names, Origin, State};
use crate::runner::{Options, Runner};
use crate::settings::SettingsFile;
use anyhow::{Context, Result, bail};
use look::Look;
use passes::{Asked, Replay, Watch};
use progress::Progress;
use report::{Answerer, Report, Run, Session, Totals};
use session_file::SessionFile;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use turns::Variants;

/// What is replayed, and how.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) session: PathBuf,
    pub(crate) judge: Judge,
    /// The classifier's name at its service.
    pub(crate) model: Option<String>,
    /// In US dollars per million input tokens.
    pub(crate) input_price: f64,
    /// The judge's key.
    pub(crate) key: Option<String>,
    /// Origins allowed for this replay, beside those of the settings.
    pub(crate) allow: Vec<Origin>,
    /// What was wrong with the origins in the environment.
    pub(crate) warnings: Vec<String>,
    pub(crate) settings: SettingsFile,
    /// Show only this run, in full.
    pub(crate) run: Option<usize>,
    pub(crate) json: bool,
}

/// Replays a session and returns what to print.
pub(crate) async fn replay(request: Request) -> Result<String> {
    let Request { run, json, .. } = request;
    let mut report = report(request, &Progress::new()).await?;
    if let Some(number) = run {
        let count = report.runs.len();
        let place = number.checked_sub(1).filter(|place| *place < count);
        let Some(place) = place else {
            bail!("there is no run {number}: the session has {}", look::plural(count, "run"));
        };
        report.runs = vec![report.runs.swap_remove(place)];
    }
    if json {
        return Ok(serde_json::to_string_pretty(&report)? + "\n");
    }
    Ok(match (run, report.runs.first()) {
        (Some(_), Some(run)) => detail::detail(&report, run, Look::of_stdout()),
        _ => table::table(&report, Look::of_stdout()),
    })
}

async fn report(request: Request, watch: &impl Watch) -> Result<Report> {
    let path = &request.session;
    let session = read(path).with_context(|| path.display().to_string())?;
    let SessionFile { version, directory, entries, mut branch, mut warnings } = session;
    let left_out = former_guard::leave_out(&mut branch);

    let variants = Variants::of(&request.settings.read().json);
    let settings = request.settings.path().to_owned();
    let settings = settings.is_file().then(|| settings.display().to_string());
    let service = request.judge.service(request.model.as_deref(), request.input_price);
    let runner = Runner::new(Options {
        allow: request.allow,
        warnings: request.warnings,
        names: Names::System,
        settings: request.settings,
        limits: Limits::default(),
    })?;
    let configured = runner.configure(None).await?;
    if !configured.configuration.enabled {
        bail!(
            "the guard is off in {}; set \"enabled\" to true there, or name other settings with --settings",
            configured.settings_file.display()
        );
    }
    warnings.extend(configured.configuration.warnings);
    if let Some(origin) = request.judge.destination() {
        let base_url = service.as_ref().map_or("", |service| service.base_url.as_str());
        permitted(&runner, origin, base_url)?;
    }
    runner
        .observe(Circumstances {
            problem: None,
            destination: request.judge.destination().map(Origin::to_string),
            // As if the extension had been there.
            recall_active: true,
            working_directory: directory,
        })
        .await?;

    let judge = service.as_ref().map(|service| Answerer {
        api: service.api.clone(),
        model: service.model.clone(),
        base_url: request.judge.destination().map(|_| service.base_url.clone()),
        heuristic: request.judge == Judge::Builtin,
    });
    let credential = match request.judge {
        Judge::None | Judge::Builtin => None,
        Judge::SystemOne { .. } => credential(request.key).with_context(|| KEY_VARIABLE.to_owned())?,
    };
    let session = Session {
        file: path.display().to_string(),
        version,
        entries,
        branch_entries: branch.len(),
        left_out,
    };
    let runs = Replay::new(&runner, Asked { service, credential }, variants).runs(branch, watch).await;
    if let Some(url) = judge.as_ref().and_then(|judge| judge.base_url.as_ref())
        && unanswered(&runs)
    {
        bail!("no question reached {url}; check the address, and that a System One service answers there");
    }
    Ok(Report { session, judge, settings, warnings, totals: Totals::of(&runs), runs })
}

fn read(path: &Path) -> Result<SessionFile> {
    Ok(session_file::read(BufReader::new(File::open(path)?))?)
}

/// Whether there were passes and none of them got as far as a request: the guard then judges nothing.
fn unanswered(runs: &[Run]) -> bool {
    let mut passes = runs.iter().flat_map(Run::passes).peekable();
    passes.peek().is_some() && passes.all(|pass| pass.sent_bytes == 0 && pass.failure.is_none())
}

/// Says before anything is judged that nothing could be.
pub(crate) fn permitted(runner: &Runner, origin: &Origin, base_url: &str) -> Result<()> {
    match runner.permission(base_url)?.state {
        State::Granted => Ok(()),
        State::Unknown => bail!("nothing may be sent to {origin}; allow it with --allow-net {origin}"),
        State::Denied => bail!(
            "nothing may be sent to {origin}, since the settings deny it; take it out of network.deny, or name other \
             settings with --settings"
        ),
    }
}
