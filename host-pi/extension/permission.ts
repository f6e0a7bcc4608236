// Asks the user whether the classifier's origin may be sent anything.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";

/** How long the dialog waits, in milliseconds. An RPC client may never answer. */
const PATIENCE = 60_000;

export type Answer = "yes" | "no" | "unanswered";

/** Shows the dialog. Pi closes it with the same `false` for "No" and for a time-out, so the time is kept here. */
export async function askPermission(
  ctx: ExtensionContext,
  origin: string,
  classifier: string,
  closing: AbortSignal,
): Promise<Answer> {
  if (!ctx.hasUI || closing.aborted) return "unanswered";
  const expiry = AbortSignal.timeout(PATIENCE);
  const signal = AbortSignal.any([expiry, closing]);
  const allowed = await ctx.ui.confirm(
    `Context guard: may it ask ${origin}?`,
    `${classifier} judges which tool outputs and earlier exchanges the work still needs. For that, their text, your ` +
      `questions, the agent's answers and the names of its tool calls would be sent to ${origin}. ` +
      `Secrets in usual forms are masked, but not all are recognised. ` +
      `Images are never sent; without your consent nothing is. Change it at any time with /guard allow and /guard deny.`,
    // Pi's own countdown is for show; it ends after ours, so that a "No" is never mistaken for it.
    { signal, timeout: PATIENCE + 1000 },
  );
  if (allowed) return "yes";
  return signal.aborted ? "unanswered" : "no";
}
