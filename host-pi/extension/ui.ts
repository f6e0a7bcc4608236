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

/** A lone Esc: as one byte, or as terminals with the Kitty keyboard protocol send it. */
const ESCAPE = /^\x1b(\[27(;1(:1)?)?u)?$/;

/**
 * Calls back when the user aborts. Pi gives no signal while a run settles, so Esc is seen on its way to the editor.
 * Returns what ends the watch.
 */
export function onAbort(ctx: ExtensionContext, abort: () => void): () => void {
  const { signal } = ctx;
  signal?.addEventListener("abort", abort, { once: true });
  const unsubscribe =
    ctx.mode === "tui"
      ? ctx.ui.onTerminalInput((data) => {
          if (ESCAPE.test(data)) abort();
          return undefined;
        })
      : undefined;
  return () => {
    signal?.removeEventListener("abort", abort);
    unsubscribe?.();
  };
}
