//! Code generation, decided in one place: the build compiles with it, the runner loads with it, and wasmtime
//! refuses code whose settings differ.

use wasmtime::Config;

/// Returns the settings that both the compiler and the runner use.
pub fn config() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true);
    // Lets a guest that never returns be interrupted; compiled into its loops.
    config.epoch_interruption(true);
    // Only the reason of a trap is told (`Broken::Trapped`), never where it was: the tables for that are an eighth of
    // the code.
    config.generate_address_map(false);
    config.wasm_backtrace_max_frames(None);
    config
}
