// What the user is told, and how the user stops a pass.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

/** Warnings, each shown once until they are forgotten. */
export class Notices {
  private readonly shown = new Set<string>();

  /** @param subject Warnings of one subject count as the same one, however they are worded. */
  warn(ctx: ExtensionContext, text: string, subject = text): void {
    if (!ctx.hasUI || this.shown.has(subject)) return;
    this.shown.add(subject);
    ctx.ui.notify(`Context guard: ${text}`, "warning");
  }

  forget(): void {
    this.shown.clear();
  }
}

/** Shows what the user asked for. Pi moves `console.log` to stderr in the modes without a UI. */
export function show(ctx: ExtensionContext, text: string, level: "info" | "warning" = "info"): void {
  if (ctx.hasUI) ctx.ui.notify(text, level);
  else console.log(text);
}

/** A lone Esc, Ctrl+C or Ctrl+D: as one byte, or as terminals with the Kitty keyboard protocol send it. */
const STOPS = /^(\x03|\x04|\x1b(\[27(;1(:1)?)?u)?|\x1b\[(99|100);5(:1)?u)$/;

/**
 * Calls back when the user aborts or Pi is told to end. Pi gives no signal while a run settles, and ends only after that,
 * so that keys are seen on their way to the editor, and the end of an RPC client and of the process where they come from.
 * Returns what ends the watch.
 */
export function onAbort(ctx: ExtensionContext, abort: () => void): () => void {
  const { signal } = ctx;
  signal?.addEventListener("abort", abort, { once: true });
  const unsubscribe =
    ctx.mode === "tui"
      ? ctx.ui.onTerminalInput((data) => {
          if (STOPS.test(data)) abort();
          return undefined;
        })
      : undefined;
  if (ctx.mode === "rpc") process.stdin.once("end", abort);
  // Where nobody listens to a signal it ends the process, and must go on doing so.
  const signals = (["SIGTERM", "SIGHUP"] as const).filter((name) => process.listenerCount(name) > 0);
  for (const name of signals) process.once(name, abort);
  return () => {
    signal?.removeEventListener("abort", abort);
    unsubscribe?.();
    if (ctx.mode === "rpc") process.stdin.removeListener("end", abort);
    for (const name of signals) process.removeListener(name, abort);
  };
}
