//! One session with everything around it: the guest, the gate, the settings. What the protocol offers line by line
//! is here as calls, for programs that run in the same process.

use crate::contract::sessions::{
    self, Breakpoint, Circumstances, Configuration, Delta, Inquiry, Outcome, Phase, Question, RecallRequest,
    Recalled, RequestShape, Span, Verdict,
};
use crate::contract::{classifier::Service, sessions::Budget, types::Model, types::Usage};
use crate::engine::{Failure, Limits, Sandbox, Session, asking};
use crate::gate::{Credential, Gate, Names, Origin, OriginError, State};
use crate::settings::{self, SaveError, SettingsFile};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Wire protocols that `service.api` can name.
pub const APIS: [&str; 3] = ["typesafe-system-one", "cloudflare-workers-ai-system-one", BUILTIN];
/// The judge inside the guest, which needs no network.
const BUILTIN: &str = "builtin";

/// How a runner is set up.
#[derive(Debug)]
pub struct Options {
    /// Origins allowed for this run, beside those in the settings file.
    pub allow: Vec<Origin>,
    /// Sentences for the user, told with every `configure`.
    pub warnings: Vec<String>,
    /// Who says where the names of granted origins lead.
    pub names: Names,
    /// The user's settings file.
    pub settings: SettingsFile,
    /// Bounds on the guest and its requests.
    pub limits: Limits,
}

/// One session and all that it needs.
pub struct Runner {
    sandbox: Arc<Sandbox>,
    // Held for single calls, never while the classifier is asked.
    session: Mutex<Session>,
    gate: Gate,
    settings: SettingsFile,
    warnings: Vec<String>,
}

/// What `ask` needs.
#[derive(Debug, Deserialize)]
pub struct Asking {
    /// Where to ask.
    pub service: Service,
    /// Added to requests on their way out.
    pub credential: Option<Credential>,
    /// What to ask.
    pub questions: Vec<Question>,
    /// How long and how many at once.
    pub budget: Budget,
}

/// What `pass` needs.
#[derive(Debug, Deserialize)]
pub struct Pass {
    /// What changed since the last update, if anything.
    pub delta: Option<Delta>,
    /// The moment.
    pub phase: Phase,
    /// The model of the next request.
    pub model: Model,
    /// In milliseconds since the Unix epoch.
    pub now: u64,
    /// Where to ask; without one every question fails.
    pub service: Option<Service>,
    /// Added to requests on their way out.
    pub credential: Option<Credential>,
}

/// What a pass came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passed {
    /// `None` when no pass was due.
    pub outcome: Option<Outcome>,
    /// From the beginning of the pass to its last answer.
    pub elapsed_ms: u32,
    /// Why the network gate refused, with the remedy.
    pub refusal: Option<String>,
}

/// What `configure` came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Configured {
    /// The settings in force.
    pub configuration: Configuration,
    /// The user's settings file, whether or not it exists.
    pub settings_file: PathBuf,
}

/// The state of an origin in the network permission.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Permitted {
    /// The origin of the address asked about.
    pub origin: String,
    /// Whether requests may go there.
    pub state: State,
}

/// Verdicts, and why the gate refused if it did.
struct Asked {
    verdicts: Vec<Verdict>,
    refusal: Option<String>,
    cancelled: bool,
}

impl Runner {
    /// Loads the guest and reads the network permission. Nothing is connected to and no instance made yet.
    ///
    /// # Errors
    ///
    /// When the guest cannot be loaded.
    pub fn new(options: Options) -> anyhow::Result<Self> {
        Ok(Self::with_sandbox(Sandbox::new(options.limits.clone())?, options))
    }

    /// The same around a guest that is loaded already; its own limits count.
    pub fn with_sandbox(sandbox: Sandbox, options: Options) -> Self {
        let sandbox = Arc::new(sandbox);
        let gate = Gate::new(options.allow, options.names, Arc::clone(sandbox.limits()));
        gate.grant_only(&options.settings.network());
        let session = Mutex::new(Session::new(Arc::clone(&sandbox)));
        Self { sandbox, session, gate, settings: options.settings, warnings: options.warnings }
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        self.sandbox.limits()
    }

    /// Reads the settings files anew. Name the project's only if the user trusts the project.
    pub async fn configure(&self, project: Option<PathBuf>) -> Result<Configured, Failure> {
        let user = self.settings.read();
        let project = project.as_deref().and_then(settings::read);
        let refused = self.gate.grant_only(&self.settings.network());
        let (project, project_warning) = project.map_or((None, None), |text| (Some(text.json), text.warning));
        let mut configuration = self.session.lock().await.configure(user.json, project).await?;
        let warnings = user.warning.into_iter().chain(project_warning).chain(refused);
        configuration.warnings.extend(warnings.chain(self.warnings.iter().cloned()));
        Ok(Configured { configuration, settings_file: self.settings.path().to_owned() })
    }

    /// Gives the guard these settings, whatever the files say. The network permission stays that of the user's file.
    pub async fn configure_with(&self, settings: String) -> Result<Configuration, Failure> {
        self.session.lock().await.configure(settings, None).await
    }

    /// Tells what changed around the session.
    pub async fn observe(&self, circumstances: Circumstances) -> Result<(), Failure> {
        self.session.lock().await.observe(circumstances).await
    }

    /// Takes the delta whole or, on an error, not at all.
    pub async fn update(&self, delta: Delta) -> Result<(), Failure> {
        self.session.lock().await.update(delta).await
    }

    /// Begins a pass; `None` when none is due.
    pub async fn begin(&self, phase: Phase, model: &Model, now: u64) -> Result<Option<Inquiry>, Failure> {
        self.session.lock().await.begin(phase, model, now).await
    }

    /// Ends the pass that `begin` opened; the answer is checked.
    pub async fn finish(
        &self,
        verdicts: &[Verdict],
        elapsed_ms: u32,
        timed_out: bool,
    ) -> Result<Outcome, Failure> {
        self.session.lock().await.finish(verdicts, elapsed_ms, timed_out).await
    }

    /// Asks the classifier through the gate. `cancel` ends it at once: what is unanswered has failed as aborted.
    pub async fn ask(&self, asking: &Asking, cancel: impl Future<Output = ()>) -> Vec<Verdict> {
        let Asking { service, credential, questions, budget } = asking;
        self.answer(Some(service), credential.as_ref(), questions, *budget, cancel).await.verdicts
    }

    /// Runs a whole pass: update, begin, ask and finish. `judging` hears which questions are about to be asked, and the
    /// milliseconds that they may take together.
    pub async fn pass(
        &self,
        pass: Pass,
        judging: impl FnOnce(&[Question], u32),
        cancel: impl Future<Output = ()>,
    ) -> Result<Passed, Failure> {
        let started = Instant::now();
        let inquiry = {
            let mut session = self.session.lock().await;
            if let Some(delta) = pass.delta {
                session.update(delta).await?;
            }
            session.begin(pass.phase, &pass.model, pass.now).await?
        };
        let Some(Inquiry { questions, budget }) = inquiry else {
            return Ok(Passed { outcome: None, elapsed_ms: milliseconds(started.elapsed()), refusal: None });
        };
        let mut asked = Asked { verdicts: Vec::new(), refusal: None, cancelled: false };
        if !questions.is_empty() {
            judging(&questions, budget.timeout_ms);
            asked = self
                .answer(pass.service.as_ref(), pass.credential.as_ref(), &questions, budget, cancel)
                .await;
        }
        let elapsed_ms = milliseconds(started.elapsed());
        let timed_out = !asked.cancelled && !questions.is_empty() && elapsed_ms >= budget.timeout_ms;
        let outcome = self.session.lock().await.finish(&asked.verdicts, elapsed_ms, timed_out).await?;
        Ok(Passed { outcome: Some(outcome), elapsed_ms, refusal: asked.refusal })
    }

    /// Tells that a provider request is about to leave; returns the cache breakpoints to set or remove.
    pub async fn request(
        &self,
        model: &Model,
        shape: &RequestShape,
        now: u64,
    ) -> Result<Vec<Breakpoint>, Failure> {
        self.session.lock().await.request(model, shape, now).await
    }

    /// Tells that the response to the last request arrived from that `provider/model`.
    pub async fn response(&self, model: &str, usage: Usage) -> Result<(), Failure> {
        self.session.lock().await.response(model, usage).await
    }

    /// Returns what was removed from an entry.
    pub async fn recall(&self, request: &RecallRequest) -> Result<Vec<Recalled>, Failure> {
        self.session.lock().await.recall(request).await
    }

    /// Returns the status bar.
    pub async fn status(&self) -> Result<Vec<Span>, Failure> {
        self.session.lock().await.status().await
    }

    /// Returns text for people about a topic.
    pub async fn report(&self, topic: &str) -> Result<String, Failure> {
        self.session.lock().await.report(topic).await
    }

    /// Returns whether requests may go to the origin of an address.
    ///
    /// # Errors
    ///
    /// When the address names no origin.
    pub fn permission(&self, base_url: &str) -> Result<Permitted, OriginError> {
        let origin = Origin::of_url(base_url)?;
        Ok(Permitted { state: self.gate.state(&origin), origin: origin.to_string() })
    }

    /// Allows or denies an origin, now and in the settings file.
    ///
    /// # Errors
    ///
    /// When the settings file cannot be changed; the permission then stays as it was.
    pub fn grant(&self, origin: &Origin, allow: bool) -> Result<(), SaveError> {
        let same = |text: &str| text.parse::<Origin>().is_ok_and(|other| other == *origin);
        self.settings.set_network(&origin.to_string(), allow, same)?;
        self.gate.grant_only(&self.settings.network());
        Ok(())
    }

    /// Switches the guard on or off in the settings file, and on again after traps.
    ///
    /// # Errors
    ///
    /// When the settings file cannot be changed.
    pub async fn enable(&self, enabled: bool) -> Result<(), SaveError> {
        if enabled {
            self.session.lock().await.enable();
        }
        self.settings.set_enabled(enabled)
    }

    async fn answer(
        &self,
        service: Option<&Service>,
        credential: Option<&Credential>,
        questions: &[Question],
        budget: Budget,
        cancel: impl Future<Output = ()>,
    ) -> Asked {
        let unasked = |failure, refusal| Asked {
            verdicts: asking::failed(questions, failure, &[]),
            refusal,
            cancelled: false,
        };
        let Some(service) = service else { return unasked(sessions::Failure::Error, None) };
        let hooks = if service.api == BUILTIN {
            crate::gate::Hooks::closed()
        } else {
            match self.gate.hooks(&service.base_url, credential) {
                Ok(hooks) => hooks,
                Err(error) => return unasked(sessions::Failure::Denied, Some(error.to_string())),
            }
        };
        let (refusals, sent) = (hooks.refusals(), hooks.sent());
        // The guest's own account is lost with its instance, the gate's is not.
        let failed = |failure, cancelled| Asked {
            verdicts: asking::failed(questions, failure, &sent.by_request()),
            refusal: refusals.take(),
            cancelled,
        };
        let asked = tokio::select! {
            asked = asking::ask(&self.sandbox, hooks, service, questions, budget) => asked,
            () = cancel => return failed(sessions::Failure::Aborted, true),
        };
        match asked {
            Ok(verdicts) => Asked { verdicts, refusal: refusals.take(), cancelled: false },
            Err(broken) => {
                let failure = match self.session.lock().await.broke(broken) {
                    Failure::Timeout(_) => sessions::Failure::Timeout,
                    _ => sessions::Failure::Error,
                };
                failed(failure, false)
            }
        }
    }
}

fn milliseconds(time: Duration) -> u32 {
    time.as_millis().try_into().unwrap_or(u32::MAX)
}
