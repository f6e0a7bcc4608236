//! The guard natively, in this process.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use context_guard::guard::Guard;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Hooks;

/// A guard without a sandbox.
#[derive(Debug, Default)]
pub struct Native(Guard);

impl Hooks for Native {
    fn call(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        let guard = &mut self.0;
        match method {
            "configure" => timed(|()| Ok::<_, ()>(guard.configure("{}", None).enabled), ()),
            "observe" => {
                let observe = |circumstances| {
                    guard.observe(circumstances);
                    Ok::<_, ()>(())
                };
                timed(observe, whole(params)?)
            }
            "update" => timed(|delta| guard.update(delta), whole(params)?),
            "begin" => {
                let moment = (field(params, "phase")?, field(params, "model")?, field(params, "now")?);
                timed(|(phase, model, now)| guard.begin(phase, model, now), moment)
            }
            "finish" => timed(|verdicts| guard.finish(verdicts, 1, false), field(params, "verdicts")?),
            "request" => {
                let departure = (field(params, "model")?, field(params, "shape")?, field(params, "now")?);
                timed(|(model, shape, now)| Ok::<_, ()>(guard.request(model, shape, now)), departure)
            }
            "status" => timed(|()| Ok::<_, ()>(guard.status()), ()),
            _ => bail!("{method} is not measured here"),
        }
    }
}

fn timed<P, T: Serialize, E: Debug>(
    call: impl FnOnce(P) -> Result<T, E>,
    params: P,
) -> Result<(Value, Duration)> {
    let started = Instant::now();
    let answer = call(params);
    let took = started.elapsed();
    Ok((serde_json::to_value(answer.map_err(|error| anyhow!("{error:?}"))?)?, took))
}

/// Reads all parameters as one value.
pub(super) fn whole<T: DeserializeOwned>(params: &Value) -> Result<T> {
    Ok(T::deserialize(params)?)
}

/// Reads one parameter.
pub(super) fn field<T: DeserializeOwned>(params: &Value, name: &str) -> Result<T> {
    whole(params.get(name).unwrap_or(&Value::Null))
}
