//! Stand-in for the guard, so that the component builds: it never does anything.

use crate::contract::sessions::*;

/// A guard that keeps everything.
#[derive(Debug, Default)]
pub struct Guard;

#[expect(missing_docs, reason = "stand-in")]
impl Guard {
    pub fn new() -> Self {
        Self
    }

    pub fn configure(&mut self, _user: &str, _project: Option<&str>) -> Configuration {
        Configuration { enabled: false, classifier: String::new(), breakpoints: false, warnings: Vec::new() }
    }

    pub fn observe(&mut self, _circumstances: Circumstances) {}

    pub fn update(&mut self, _delta: Delta) -> Result<(), Error> {
        Ok(())
    }

    pub fn begin(&mut self, _phase: Phase, _model: Model, _now: u64) -> Result<Option<Inquiry>, Error> {
        Ok(None)
    }

    pub fn finish(
        &mut self,
        _verdicts: Vec<Verdict>,
        _elapsed: u32,
        _timed_out: bool,
    ) -> Result<Outcome, Error> {
        Ok(Outcome { edits: Vec::new(), guard_record: None, warnings: Vec::new() })
    }

    pub fn request(&mut self, _model: Model, _shape: RequestShape, _now: u64) -> Vec<Breakpoint> {
        Vec::new()
    }

    pub fn response(&mut self, _model: String, _usage: Usage) {}

    pub fn recall(&self, _request: RecallRequest) -> Result<Vec<Recalled>, Error> {
        Ok(Vec::new())
    }

    pub fn status(&self) -> Vec<Span> {
        Vec::new()
    }

    pub fn report(&self, _topic: &str) -> Result<String, Error> {
        Ok(String::new())
    }
}
