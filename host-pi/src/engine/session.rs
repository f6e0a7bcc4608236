//! The session in the guest, and what happens when the guest breaks.

use super::limits::Limits;
use super::sandbox::{Broken, Instance, Sandbox, State};
use crate::answer::{self, Mirror};
use crate::contract::sessions::{
    Breakpoint, Circumstances, Configuration, Delta, GuestSession, Inquiry, Outcome, Phase, RecallRequest,
    Recalled, RequestShape, Span, Verdict,
};
use crate::contract::types::{self, Model, Usage};
use crate::gate::Hooks;
use crate::log;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

/// Why a call gave no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The guest does not hold what the delta builds on.
    #[error("the delta does not fit what the guard holds; send the session whole")]
    OutOfSync,
    /// The guest refused the input, in its words.
    #[error("{0}")]
    Invalid(String),
    /// Anything else the guest answers.
    #[error("{0}")]
    Other(String),
    /// The guest trapped.
    #[error("the guard trapped ({0})")]
    Trapped(String),
    /// The guest took longer than the call may.
    #[error("the guard gave no answer in {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// Too many traps: nothing but `recall` is called until [`Session::enable`].
    #[error("the guard trapped {0} times in a short time and is off; `enable` tries again")]
    Off(usize),
}

impl From<types::Error> for Failure {
    fn from(error: types::Error) -> Self {
        match error {
            types::Error::OutOfSync => Self::OutOfSync,
            types::Error::Invalid(text) => Self::Invalid(text),
            types::Error::Other(text) => Self::Other(text),
        }
    }
}

/// One session, kept alive across traps.
pub struct Session {
    setup: Setup,
    live: Option<Live>,
    traps: Traps,
    mirror: Mirror,
    /// The session as told while the guard is off, whole: `recall` needs it, and no guest holds it then.
    held: Delta,
}

/// What a new instance begins with.
struct Setup {
    sandbox: Arc<Sandbox>,
    settings: Option<(String, Option<String>)>,
    circumstances: Option<Circumstances>,
}

struct Live {
    instance: Instance,
    session: ResourceAny,
}

/// When the guest trapped, as far as it still counts.
#[derive(Debug, Default)]
struct Traps {
    times: VecDeque<Instant>,
    off: bool,
}

impl Setup {
    /// Makes an instance that knows the settings and the circumstances, but nothing of the branch.
    async fn open(&self) -> wasmtime::Result<Live> {
        let Instance { mut store, guard } = self.sandbox.instance(Hooks::closed()).await?;
        let guest = guard.context_guard_guard_sessions().session();
        let session = guest.call_constructor(&mut store).await?;
        if let Some((user, project)) = &self.settings {
            guest.call_configure(&mut store, session, user, project.as_ref()).await?;
        }
        if let Some(circumstances) = &self.circumstances {
            guest.call_observe(&mut store, session, circumstances).await?;
        }
        Ok(Live { instance: Instance { store, guard }, session })
    }

    /// Recalls from a session in an instance that lives for this one call.
    async fn recall(&self, session: &Delta, request: &RecallRequest) -> Result<Vec<Recalled>, Failure> {
        let recalled = async {
            let Live { mut instance, session: guest } = self.open().await?;
            let (calls, store) = (instance.guard.context_guard_guard_sessions(), &mut instance.store);
            match calls.session().call_update(&mut *store, guest, session).await? {
                Ok(()) => calls.session().call_recall(store, guest, request).await,
                Err(error) => Ok(Err(error)),
            }
        };
        Ok(self.sandbox.within(self.sandbox.limits().call, recalled).await.map_err(failure)??)
    }
}

impl Traps {
    fn add(&mut self, now: Instant, limits: &Limits) {
        self.times.push_back(now);
        while self.times.front().is_some_and(|first| now.duration_since(*first) > limits.trap_window) {
            self.times.pop_front();
        }
        self.off |= self.times.len() >= limits.traps;
    }
}

impl Session {
    /// Opens a session with default settings. The instance is made by the first call.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        Self {
            setup: Setup { sandbox, settings: None, circumstances: None },
            live: None,
            traps: Traps::default(),
            mirror: Mirror::default(),
            held: nothing(),
        }
    }

    /// Forgets earlier traps, so that a guard which is off tries again; the session must then be sent whole.
    pub fn enable(&mut self) {
        if std::mem::take(&mut self.traps).off {
            self.mirror = Mirror::default();
            self.held = nothing();
        }
    }

    /// Counts a trap of another instance, such as the one that asks.
    pub(crate) fn broke(&mut self, broken: Broken) -> Failure {
        let was_off = self.traps.off;
        self.traps.add(Instant::now(), self.setup.sandbox.limits());
        if self.traps.off && !was_off {
            // What a guest still holds is told again, to be held here.
            self.live = None;
            self.mirror = Mirror::default();
        }
        log::line(format_args!("guest broke: {broken}"));
        failure(broken)
    }

    /// Replaces the settings: the user's and the project's, as JSON text.
    pub async fn configure(
        &mut self,
        user: String,
        project: Option<String>,
    ) -> Result<Configuration, Failure> {
        let configuration = self
            .call(async |guest, store, session| {
                guest.call_configure(store, session, &user, project.as_ref()).await
            })
            .await?;
        self.setup.settings = Some((user, project));
        Ok(configuration)
    }

    /// Tells what changed around the session.
    pub async fn observe(&mut self, circumstances: Circumstances) -> Result<(), Failure> {
        self.call(async |guest, store, session| guest.call_observe(store, session, &circumstances).await)
            .await?;
        self.setup.circumstances = Some(circumstances);
        Ok(())
    }

    /// Takes the delta whole or, on an error, not at all. While the guard is off it is kept for [`Session::recall`].
    pub async fn update(&mut self, delta: Delta) -> Result<(), Failure> {
        if !self.mirror.fits(&delta) {
            return Err(Failure::OutOfSync);
        }
        if self.traps.off {
            self.mirror.update(&delta);
            self.held.branch.truncate(delta.keep_branch as usize);
            self.held.branch.extend(delta.branch);
            self.held.context.truncate(delta.keep_context as usize);
            self.held.context.extend(delta.context);
            return Ok(());
        }
        self.call(async |guest, store, session| guest.call_update(store, session, &delta).await).await??;
        self.mirror.update(&delta);
        Ok(())
    }

    /// Begins a pass; `None` when none is due. `now` is in milliseconds since the Unix epoch.
    pub async fn begin(&mut self, phase: Phase, model: &Model, now: u64) -> Result<Option<Inquiry>, Failure> {
        Ok(self
            .call(async |guest, store, session| guest.call_begin(store, session, phase, model, now).await)
            .await??)
    }

    /// Ends the pass that `begin` opened. An answer that would break the session comes back without edits and with a
    /// warning.
    pub async fn finish(
        &mut self,
        verdicts: &[Verdict],
        elapsed_ms: u32,
        timed_out: bool,
    ) -> Result<Outcome, Failure> {
        let outcome = self
            .call(async |guest, store, session| {
                guest.call_finish(store, session, verdicts, elapsed_ms, timed_out).await
            })
            .await??;
        Ok(answer::checked(&self.mirror, outcome, self.setup.sandbox.limits().edits))
    }

    /// Tells that a provider request is about to leave; returns the cache breakpoints to set or remove. An answer that
    /// the provider would refuse comes back empty.
    pub async fn request(
        &mut self,
        model: &Model,
        shape: &RequestShape,
        now: u64,
    ) -> Result<Vec<Breakpoint>, Failure> {
        let answer = self
            .call(async |guest, store, session| guest.call_request(store, session, model, shape, now).await)
            .await?;
        Ok(answer::checked_breakpoints(shape, answer))
    }

    /// Tells that the response to the last request arrived from that `provider/model`.
    pub async fn response(&mut self, model: &str, usage: Usage) -> Result<(), Failure> {
        self.call(async |guest, store, session| guest.call_response(store, session, model, usage).await).await
    }

    /// Returns what was removed from an entry. While the guard is off, an instance that lives for this one call
    /// answers, since what was removed must not be lost with the guard.
    pub async fn recall(&mut self, request: &RecallRequest) -> Result<Vec<Recalled>, Failure> {
        if self.traps.off {
            return self.setup.recall(&self.held, request).await;
        }
        Ok(self
            .call(async |guest, store, session| guest.call_recall(store, session, request).await)
            .await??)
    }

    /// Returns the status bar.
    pub async fn status(&mut self) -> Result<Vec<Span>, Failure> {
        self.call(async |guest, store, session| guest.call_status(store, session).await).await
    }

    /// Returns text for people about a topic.
    pub async fn report(&mut self, topic: &str) -> Result<String, Failure> {
        Ok(self.call(async |guest, store, session| guest.call_report(store, session, topic).await).await??)
    }

    async fn call<T>(
        &mut self,
        call: impl AsyncFnOnce(GuestSession<'_>, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        if self.traps.off {
            return Err(Failure::Off(self.setup.sandbox.limits().traps));
        }
        // Taken out for the call: whatever does not come back whole is dropped.
        let (live, setup) = (self.live.take(), &self.setup);
        let called = async {
            let mut live = match live {
                Some(live) => live,
                None => setup.open().await?,
            };
            let guest = live.instance.guard.context_guard_guard_sessions();
            let value = call(guest.session(), &mut live.instance.store, live.session).await?;
            Ok((value, live))
        };
        match setup.sandbox.within(setup.sandbox.limits().call, called).await {
            Ok((value, live)) => {
                self.live = Some(live);
                Ok(value)
            }
            Err(broken) => {
                self.mirror = Mirror::default();
                Err(self.broke(broken))
            }
        }
    }
}

fn failure(broken: Broken) -> Failure {
    match broken {
        Broken::Trapped(reason) => Failure::Trapped(reason),
        Broken::Late(limit) => Failure::Timeout(limit),
    }
}

/// A session without entries.
fn nothing() -> Delta {
    Delta { keep_branch: 0, branch: vec![], keep_context: 0, context: vec![] }
}

#[cfg(test)]
mod tests;
