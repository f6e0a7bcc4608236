//! The clock that makes a running guest give way.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use wasmtime::Engine;

/// Advances the engine's epoch while a call runs, and sleeps otherwise: an idle runner wakes nobody.
#[derive(Debug)]
pub(super) struct Ticker {
    running: Arc<Running>,
}

#[derive(Debug, Default)]
struct Running {
    calls: Mutex<usize>,
    changed: Condvar,
}

/// A call in progress; the epoch advances until it is dropped.
pub(super) struct Call(Arc<Running>);

impl Ticker {
    /// Starts the clock's thread, which ends after the engine is gone.
    pub(super) fn start(engine: &Engine, every: Duration) -> std::io::Result<Self> {
        let running = Arc::new(Running::default());
        let (shared, engine) = (Arc::downgrade(&running), engine.weak());
        thread::Builder::new().name("epoch".into()).spawn(move || {
            while let (Some(running), Some(engine)) = (shared.upgrade(), engine.upgrade()) {
                let calls = running.calls();
                // Wakes now and then even without calls, to see whether the engine is gone.
                let idle = if *calls == 0 { Duration::from_secs(60) } else { every };
                drop(running.changed.wait_timeout(calls, idle));
                engine.increment_epoch();
            }
        })?;
        Ok(Self { running })
    }

    /// Announces a call.
    pub(super) fn call(&self) -> Call {
        *self.running.calls() += 1;
        self.running.changed.notify_one();
        Call(Arc::clone(&self.running))
    }
}

impl Running {
    fn calls(&self) -> MutexGuard<'_, usize> {
        // A counter is whole at every moment, whoever panicked.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        *self.0.calls() -= 1;
    }
}
