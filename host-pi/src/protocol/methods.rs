//! What each method does: read its parameters, call the runner, write the result.

use super::message::{Answer, Error, result};
use crate::contract::sessions::{
    Circumstances, Delta, Phase, Question, RecallRequest, RequestShape, Verdict,
};
use crate::contract::{CONTRACT, types::Model, types::Usage};
use crate::gate::Origin;
use crate::runner::{APIS, Runner};
use crate::{component, settings::SaveError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use std::future::Future;
use std::path::PathBuf;

/// Every method, for the message that a wrong name gets.
pub(super) const METHODS: [&str; 17] = [
    "hello",
    "configure",
    "observe",
    "update",
    "pass",
    "begin",
    "finish",
    "ask",
    "cancel",
    "recall",
    "status",
    "report",
    "request",
    "response",
    "permission",
    "grant",
    "enable",
];

#[derive(Deserialize)]
struct Configure {
    project: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Begin {
    phase: Phase,
    model: Model,
    now: u64,
}

#[derive(Deserialize)]
struct Finish {
    verdicts: Vec<Verdict>,
    elapsed_ms: u32,
    timed_out: bool,
}

#[derive(Deserialize)]
struct Report {
    topic: String,
}

#[derive(Deserialize)]
struct Departure {
    model: Model,
    shape: RequestShape,
    now: u64,
}

#[derive(Deserialize)]
struct Arrival {
    model: String,
    usage: Usage,
}

#[derive(Deserialize)]
struct Permission {
    base_url: String,
}

#[derive(Deserialize)]
struct Grant {
    origin: String,
    allow: bool,
}

#[derive(Deserialize)]
struct Enable {
    enabled: bool,
}

/// Whether calls of that method wait for the classifier.
pub(super) fn is_long(method: &str) -> bool {
    matches!(method, "pass" | "ask")
}

/// Whether that method is answered while a long one runs.
pub(super) fn is_urgent(method: &str) -> bool {
    matches!(method, "status" | "recall")
}

/// Answers a short call.
pub(super) async fn short(runner: &Runner, method: &str, params: Option<&RawValue>) -> Answer {
    match method {
        "hello" => hello(),
        "configure" => result(&runner.configure(read::<Configure>(params)?.project).await?),
        "observe" => result(&runner.observe(read::<Circumstances>(params)?).await?),
        "update" => result(&runner.update(read::<Delta>(params)?).await?),
        "begin" => {
            let Begin { phase, model, now } = read(params)?;
            result(&runner.begin(phase, &model, now).await?)
        }
        "finish" => {
            let Finish { verdicts, elapsed_ms, timed_out } = read(params)?;
            result(&runner.finish(&verdicts, elapsed_ms, timed_out).await?)
        }
        "recall" => result(&runner.recall(&read::<RecallRequest>(params)?).await?),
        "status" => result(&runner.status().await?),
        "report" => result(&runner.report(&read::<Report>(params)?.topic).await?),
        "request" => {
            let Departure { model, shape, now } = read(params)?;
            result(&runner.request(&model, &shape, now).await?)
        }
        "response" => {
            let Arrival { model, usage } = read(params)?;
            result(&runner.response(&model, usage).await?)
        }
        "permission" => {
            result(&runner.permission(&read::<Permission>(params)?.base_url).map_err(Error::params)?)
        }
        "grant" => {
            let Grant { origin, allow } = read(params)?;
            let origin: Origin = origin.parse().map_err(Error::params)?;
            result(&runner.grant(&origin, allow)?)
        }
        "enable" => result(&runner.enable(read::<Enable>(params)?.enabled).await?),
        _ => Err(Error::method(method, &METHODS)),
    }
}

/// Answers a long call.
pub(super) async fn long(
    runner: &Runner,
    method: &str,
    params: Option<&RawValue>,
    judging: impl FnOnce(usize, u32),
    cancel: impl Future<Output = ()>,
) -> Answer {
    match method {
        "ask" => result(&runner.ask(&read(params)?, cancel).await),
        _ => {
            let judging = |questions: &[Question], timeout_ms| judging(questions.len(), timeout_ms);
            result(&runner.pass(read(params)?, judging, cancel).await?)
        }
    }
}

fn hello() -> Answer {
    result(&json!({
        "name": "context-guard",
        "version": env!("CARGO_PKG_VERSION"),
        "contract": CONTRACT,
        "apis": APIS,
        "guest": {"sha256": component::SHA256, "bytes": component::WASM_BYTES},
    }))
}

/// Reads parameters; the error says where they are wrong.
fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, Error> {
    let text = params.map_or("{}", RawValue::get);
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(Error::params)
}

impl From<SaveError> for Error {
    fn from(error: SaveError) -> Self {
        Self::other(error)
    }
}
