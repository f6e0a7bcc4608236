//! The loaded component and the instances made of it.

use super::config::config;
use super::limits::Limits;
use super::ticker::Ticker;
use crate::component;
use crate::contract::{Guard, GuardPre};
use crate::gate::Hooks;
use anyhow::Context;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksCtx, WasiClocksCtxView};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// What every guest is built against.
const CONTRACT: &str = "the contract context-guard:guard@0.1.0";

/// The component, ready to be instantiated. One serves a whole process.
pub struct Sandbox {
    engine: Engine,
    guard: GuardPre<State>,
    limits: Arc<Limits>,
    ticker: Ticker,
}

/// What the imports of one instance work on. It has no files, no environment, no sockets: there is nothing to reach.
pub(crate) struct State {
    clocks: WasiClocksCtx,
    http: WasiHttpCtx,
    hooks: Hooks,
    table: ResourceTable,
    limits: StoreLimits,
}

/// One instance with its memory.
pub(crate) struct Instance {
    pub(crate) store: Store<State>,
    pub(crate) guard: Guard,
}

/// A call that did not return.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    /// It trapped, for this reason.
    #[error("{0}")]
    Trapped(String),
    /// It took longer than it may.
    #[error("no answer in {} s", .0.as_secs_f64())]
    Late(Duration),
}

impl Sandbox {
    /// Loads the guest that is part of this program.
    ///
    /// # Errors
    ///
    /// When the machine cannot run the code, for instance for lack of address space.
    pub fn new(limits: Limits) -> anyhow::Result<Self> {
        // SAFETY: the bytes are machine code of this very build (`build.rs` wrote them with the same wasmtime and
        // the same settings); nobody else can put any there.
        unsafe { Self::with_code(&component::code()?, limits) }
    }

    /// Loads another guest, compiled with [`super::config`], as for a test of what a hostile one can do.
    ///
    /// # Errors
    ///
    /// When the code is of another wasmtime or other settings, or when the guest imports more than the world has.
    ///
    /// # Safety
    ///
    /// The bytes are run as machine code: they must come from wasmtime's compiler and from nowhere else.
    pub unsafe fn with_code(code: &[u8], limits: Limits) -> anyhow::Result<Self> {
        let engine = Engine::new(&config())?;
        // SAFETY: the caller's promise.
        let component = unsafe { Component::deserialize(&engine, code)? };
        let guard = linker(&engine)?.instantiate_pre(&component).and_then(GuardPre::new);
        let guard = guard.map_err(anyhow::Error::from).with_context(|| {
            format!(
                "this guest does not fit {CONTRACT}, which has the gate's HTTP and a clock and nothing else"
            )
        })?;
        let ticker = Ticker::start(&engine, limits.tick)?;
        Ok(Self { engine, guard, limits: Arc::new(limits), ticker })
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    /// Makes an instance whose requests those hooks decide on. Its start is the guest's code: run this
    /// [`Sandbox::within`] a time limit.
    pub(crate) async fn instance(&self, hooks: Hooks) -> wasmtime::Result<Instance> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(self.limits.memory_bytes)
            .table_elements(self.limits.table_elements)
            // A refused growth is an abort in the guest without a word; a trap here says what happened.
            .trap_on_grow_failure(true)
            .build();
        let mut table = ResourceTable::new();
        table.set_max_capacity(self.limits.handles);
        let state =
            State { clocks: WasiClocksCtx::default(), http: WasiHttpCtx::new(), hooks, table, limits };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        store.set_hostcall_fuel(self.limits.lifted_bytes);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let guard = self.guard.instantiate_async(&mut store).await?;
        Ok(Instance { store, guard })
    }

    /// Runs calls into a guest under one time limit. After an error the instance is of no use any more.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = wasmtime::Result<T>>,
    ) -> Result<T, Broken> {
        let _ticking = self.ticker.call();
        match tokio::time::timeout(limit, call).await {
            Ok(Ok(value)) => Ok(value),
            // The root alone: the rest is a list of function names.
            Ok(Err(error)) => Err(Broken::Trapped(error.root_cause().to_string())),
            Err(_) => Err(Broken::Late(limit)),
        }
    }
}

/// Offers exactly what the world imports, so that a component which wants more cannot be loaded.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi_io::add_to_linker_async(&mut linker)?;
    monotonic_clock::add_to_linker::<State, WasiClocks>(&mut linker, |state| WasiClocksCtxView {
        ctx: &mut state.clocks,
        table: &mut state.table,
    })?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    Ok(linker)
}

impl wasmtime_wasi_io::IoView for State {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.hooks }
    }
}
