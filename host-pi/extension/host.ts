// What is taken from Pi's own module. It is imported late and guardedly: Pi does not start with an extension that fails.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Host } from "./guard.ts";

/** The first Pi whose `agent_settled` and whose catalogue are what the guard relies on. */
const NEEDED = [1, 3] as const;

/** Returns what the guard needs of this Pi; nothing when it is too old. */
export async function loadHost(): Promise<Host | undefined> {
  try {
    const pi = await import("@earendil-works/pi-coding-agent");
    if (!isRecent(pi.VERSION)) return undefined;
    return {
      projectDirectory: pi.CONFIG_DIR_NAME,
      seenLength: (message) => pi.convertToLlm([message]).reduce((sum, { content }) => sum + lengthOf(content), 0),
    };
  } catch {
    return undefined;
  }
}

export function tooOld(ctx: ExtensionContext): void {
  if (!ctx.hasUI) return;
  ctx.ui.notify(`The context guard needs Pi ${NEEDED.join(".")} or newer and does nothing here. Update Pi.`, "warning");
}

export function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

function lengthOf(content: unknown): number {
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, block: unknown) => {
    const text: unknown = typeof block === "object" && block !== null ? Reflect.get(block, "text") : undefined;
    return sum + (typeof text === "string" ? text.length : 0);
  }, 0);
}
