import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { draw } from "../status.ts";
import { Notices, onAbort } from "../ui.ts";

/** A context that keeps what it is told. */
function context(mode: "tui" | "rpc" | "print", signal?: AbortSignal) {
  const told: string[] = [];
  const typed: ((data: string) => unknown)[] = [];
  const ui = {
    notify: (text: string, level: string) => told.push(`${level}: ${text}`),
    setStatus: (key: string, text: string | undefined) => told.push(`${key}: ${text}`),
    theme: { fg: (role: string, text: string) => `<${role}>${text}</${role}>` },
    onTerminalInput: (handler: (data: string) => unknown) => {
      typed.push(handler);
      return () => typed.pop();
    },
  };
  return { ctx: { mode, hasUI: mode !== "print", signal, ui } as unknown as ExtensionContext, told, typed };
}

const SPANS = [{ text: "🛡 −4.2k", tone: "Success" }, { text: " · 1", tone: "Dim" }] as const;

test("the status bar has the theme's colours in the terminal, plain text elsewhere, and is not drawn without a UI", () => {
  for (const [mode, expected] of [
    ["tui", ["context-guard: <success>🛡 −4.2k</success><dim> · 1</dim>"]],
    ["rpc", ["context-guard: 🛡 −4.2k · 1"]],
    ["print", []],
  ] as const) {
    const { ctx, told } = context(mode);
    draw(ctx, SPANS);
    assert.deepEqual(told, expected, mode);
  }
});

test("a warning is shown once, and again after it was forgotten", () => {
  const { ctx, told } = context("rpc");
  const notices = new Notices();
  notices.warn(ctx, "one", "subject");
  notices.warn(ctx, "the same in other words", "subject");
  notices.forget();
  notices.warn(ctx, "one");
  assert.deepEqual(told, ["warning: Context guard: one", "warning: Context guard: one"]);
});

test("a lone Esc, Ctrl+C or Ctrl+D aborts, other keys do not, and nothing does afterwards", () => {
  const { ctx, typed } = context("tui");
  let aborted = 0;
  const unwatch = onAbort(ctx, () => aborted++);
  for (const data of ["\x1b[A", "a", "\x1b[27u;", "\x1b[200~", "\x1b[99u", "\x1b[99;5:3u"]) assert.equal(typed[0]?.(data), undefined);
  assert.equal(aborted, 0);
  const stops = ["\x1b", "\x1b[27u", "\x1b[27;1:1u", "\x03", "\x1b[99;5u", "\x04", "\x1b[100;5:1u"];
  for (const data of stops) typed[0]?.(data);
  assert.equal(aborted, stops.length);
  unwatch();
  assert.deepEqual(typed, []);
});

test("where Pi gives a signal, it aborts in every mode", () => {
  const controller = new AbortController();
  let aborted = 0;
  const unwatch = onAbort(context("rpc", controller.signal).ctx, () => aborted++);
  controller.abort();
  assert.equal(aborted, 1);
  unwatch();
});

test("a signal that ends Pi aborts where Pi itself listens to it, as the end of an RPC client does", () => {
  const listeners = () => [process.listenerCount("SIGHUP"), process.stdin.listenerCount("end")];
  const before = listeners();
  let aborted = 0;
  const unheard = onAbort(context("print").ctx, () => aborted++);
  assert.deepEqual(listeners(), before, "a signal that nobody listens to still ends the process");
  unheard();
  const ofPi = () => {};
  process.on("SIGHUP", ofPi);
  const unwatch = onAbort(context("rpc").ctx, () => aborted++);
  process.emit("SIGHUP");
  process.stdin.emit("end");
  assert.equal(aborted, 2);
  unwatch();
  process.removeListener("SIGHUP", ofPi);
  assert.deepEqual(listeners(), before);
});
