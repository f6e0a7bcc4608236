// The guard's component, transpiled by jco, in a sandbox that holds a clock and the gate's network.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { monotonicClock } from "@bytecodealliance/preview2-shim/clocks";
import { error, poll, streams } from "@bytecodealliance/preview2-shim/io";
import { type ImportObject, instantiate, type Root } from "#guest";
import { gate } from "./gate.ts";
import type { Permission } from "./permission.ts";

const modules = new Map<string, WebAssembly.Module>();

/** Compiled once: a new instance, after a trap or for one `ask`, costs next to nothing. */
function core(name: string): WebAssembly.Module {
  let module = modules.get(name);
  if (!module) {
    const path = fileURLToPath(new URL(name, import.meta.resolve("#guest")));
    module = new WebAssembly.Module(readFileSync(path));
    modules.set(name, module);
  }
  return module;
}

/** Makes an instance of its own, which reaches only what the permission names. */
export function load(permission?: Permission): Root {
  const http = gate(permission);
  // jco 1.35 looks them up without the version that its types name.
  const imports = {
    "wasi:clocks/monotonic-clock": monotonicClock,
    "wasi:http/outgoing-handler": http.outgoingHandler,
    "wasi:http/types": http.types,
    "wasi:io/error": error,
    "wasi:io/poll": poll,
    "wasi:io/streams": streams,
  };
  return instantiate(core, imports as unknown as ImportObject, (module, given) => new WebAssembly.Instance(module, given));
}
