//! The guard as the component, in a sandbox in this process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use context_guard_pi::contract::sessions::{Phase, Verdict};
use context_guard_pi::contract::types::Model;
use context_guard_pi::engine::{Failure, Limits, Sandbox, Session};
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::Hooks;
use super::native::{field, whole};

/// A guard in the runner's sandbox, without the runner's pipe.
pub struct Component {
    session: Session,
    runtime: Runtime,
}

impl Component {
    /// Loads the guest that the runner embeds.
    ///
    /// # Errors
    ///
    /// Fails where the machine cannot run it.
    pub fn load() -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        Ok(Self { session: Session::new(Arc::new(Sandbox::new(Limits::default())?)), runtime })
    }
}

impl Hooks for Component {
    fn call(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        let Self { session, runtime } = self;
        match method {
            "configure" => timed(runtime, async { Ok(session.configure("{}".into(), None).await?.enabled) }),
            "observe" => timed(runtime, session.observe(whole(params)?)),
            "update" => timed(runtime, session.update(whole(params)?)),
            "begin" => {
                let (phase, model): (Phase, Model) = (field(params, "phase")?, field(params, "model")?);
                timed(runtime, session.begin(phase, &model, field(params, "now")?))
            }
            "finish" => {
                let verdicts: Vec<Verdict> = field(params, "verdicts")?;
                timed(runtime, session.finish(&verdicts, 1, false))
            }
            "request" => {
                let (model, shape) = (field(params, "model")?, field(params, "shape")?);
                timed(runtime, session.request(&model, &shape, field(params, "now")?))
            }
            "status" => timed(runtime, session.status()),
            _ => bail!("{method} is not measured here"),
        }
    }
}

fn timed<T: Serialize>(
    runtime: &Runtime,
    call: impl Future<Output = Result<T, Failure>>,
) -> Result<(Value, Duration)> {
    let started = Instant::now();
    let answer = runtime.block_on(call);
    let took = started.elapsed();
    Ok((serde_json::to_value(answer?)?, took))
}
