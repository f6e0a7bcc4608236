//! One session of the guard: the contract's `session` resource, made of the other modules.

use crate::cache::{Breakpoints, CacheLog};
use crate::contract::sessions::{
    Breakpoint, Circumstances, Configuration, Delta, Inquiry, Outcome, Phase, RecallRequest, Recalled,
    RequestShape, Span, Verdict,
};
use crate::contract::types::{CacheScheme, Error, Model, Timestamp, Usage};
use crate::passes::{Pass, Situation, Warnings};
use crate::recall;
use crate::report;
use crate::session::Mirror;
use crate::settings::Settings;

/// A session with its settings. Every call speaks of it as the last `update` left it.
#[derive(Debug)]
pub struct Guard {
    settings: Settings,
    circumstances: Circumstances,
    mirror: Mirror,
    log: CacheLog,
    breakpoints: Breakpoints,
    /// The one that the last pass was begun for, due or not.
    model: Option<Model>,
    pass: Option<Pass>,
    warnings: Warnings,
}

impl Default for Guard {
    fn default() -> Self {
        Guard {
            settings: Settings::default(),
            // Until a host says that `recall` can be called, nothing may be replaced.
            circumstances: Circumstances {
                problem: None,
                destination: None,
                recall_active: false,
                working_directory: String::new(),
            },
            mirror: Mirror::default(),
            log: CacheLog::default(),
            breakpoints: Breakpoints::default(),
            model: None,
            pass: None,
            warnings: Warnings::default(),
        }
    }
}

impl Guard {
    /// Opens a session with default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the settings; a project's own can only narrow the user's. Warnings may be shown again, and what was
    /// known of the cache is forgotten.
    pub fn configure(&mut self, user: &str, project: Option<&str>) -> Configuration {
        let (settings, warnings) = Settings::load(user, project);
        self.pass = None;
        self.warnings = Warnings::default();
        self.settings = settings;
        self.log.clear();
        Configuration {
            enabled: self.settings.enabled,
            classifier: self.settings.model.clone(),
            breakpoints: self.sets_breakpoints(),
            warnings,
        }
    }

    fn sets_breakpoints(&self) -> bool {
        self.settings.enabled && self.settings.pin_anthropic_cache
    }

    /// Tells what the host can do at this moment.
    pub fn observe(&mut self, circumstances: Circumstances) {
        self.circumstances = circumstances;
    }

    /// Takes a delta whole or, on an error, not at all. A pass under way is dropped, since it judged what
    /// the session held before.
    ///
    /// # Errors
    ///
    /// As [`Mirror::update`].
    pub fn update(&mut self, delta: Delta) -> Result<(), Error> {
        self.pass = None;
        self.mirror.update(delta)
    }

    /// Begins a pass, and drops one that was not finished; none when none is due.
    ///
    /// # Errors
    ///
    /// None so far: a session that cannot be judged is one where no pass is due.
    pub fn begin(&mut self, phase: Phase, model: Model, now: Timestamp) -> Result<Option<Inquiry>, Error> {
        self.pass = None;
        self.model = Some(model.clone());
        if !self.settings.enabled || !self.circumstances.recall_active {
            return Ok(None);
        }
        let Some((pass, inquiry)) = Pass::begin(phase, model, now, self.situation()) else { return Ok(None) };
        self.pass = Some(pass);
        Ok(Some(inquiry))
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            mirror: &self.mirror,
            settings: &self.settings,
            circumstances: &self.circumstances,
            log: &self.log,
        }
    }

    /// Ends the pass that `begin` opened. A question without a verdict counts as failed.
    ///
    /// # Errors
    ///
    /// `invalid` where no pass is under way.
    pub fn finish(
        &mut self,
        verdicts: Vec<Verdict>,
        elapsed_ms: u32,
        timed_out: bool,
    ) -> Result<Outcome, Error> {
        let Some(pass) = self.pass.take() else {
            let text = "no pass is under way: call begin, and nothing else before finish";
            return Err(Error::Invalid(text.into()));
        };
        let answers = pass.read(verdicts, elapsed_ms, timed_out);
        let mut outcome = pass.decide(&answers, self.situation());
        outcome.warnings = self.warnings.of(&answers, &self.circumstances);
        Ok(outcome)
    }

    /// Returns the cache breakpoints to set and remove in a request that is about to leave; none where the request
    /// goes out as it is.
    pub fn request(&mut self, model: Model, shape: RequestShape, now: Timestamp) -> Vec<Breakpoint> {
        if !self.sets_breakpoints() || model.cache != CacheScheme::Anthropic {
            return vec![];
        }
        self.breakpoints.request(&self.mirror, &mut self.log, &model, &shape, now)
    }

    /// Takes note of what the response to the last request that was no replay read from the cache.
    pub fn response(&mut self, model: String, usage: Usage) {
        self.log.responded(&self.mirror, &model, usage);
    }

    /// Returns the original of an entry that the guard replaced.
    ///
    /// # Errors
    ///
    /// `invalid` with a sentence for the model: what was wrong, and how to ask instead.
    pub fn recall(&self, request: RecallRequest) -> Result<Vec<Recalled>, Error> {
        recall::recall(&self.mirror, &request)
    }

    /// Returns the status bar.
    pub fn status(&self) -> Vec<Span> {
        let judging = self.pass.as_ref().is_some_and(Pass::asks);
        report::status(&self.mirror, &self.settings, &self.circumstances, judging)
    }

    /// Returns text for people on a topic.
    ///
    /// # Errors
    ///
    /// `invalid` for an unknown topic, naming those there are.
    pub fn report(&self, topic: &str) -> Result<String, Error> {
        report::report(topic, self.situation(), self.model.as_ref())
    }
}

#[cfg(test)]
mod tests;
