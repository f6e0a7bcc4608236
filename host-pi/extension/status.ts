// The guard's piece of the status bar.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Span, Tone } from "./contract.ts";

const KEY = "context-guard";

const COLOURS = { Dim: "dim", Accent: "accent", Warning: "warning", Success: "success" } as const satisfies Record<
  Tone,
  string
>;

/** What stands there when no runner answers. */
export const UNAVAILABLE: Span[] = [{ text: "🛡 guard unavailable", tone: "Warning" }];

/** What stands there when the runner has given the guard up. */
export const OFF: Span[] = [{ text: "🛡 guard off", tone: "Dim" }];

export function draw(ctx: ExtensionContext, spans: readonly Span[]): void {
  if (!ctx.hasUI) return;
  // Escape codes would reach an RPC client as text.
  const coloured = ctx.mode === "tui";
  const text = spans.map((span) => (coloured ? ctx.ui.theme.fg(COLOURS[span.tone], span.text) : span.text)).join("");
  ctx.ui.setStatus(KEY, text || undefined);
}
