// A Pi extension that keeps the guard company during a run: at the end of each turn it proposes a record of its own. It
// stands before the guard, whose checkpoint must not lose it.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function turns(pi: ExtensionAPI): void {
  pi.on("turn_end", (event) => {
    const draft = { type: "custom", customType: "turns", data: { turn: event.turnIndex } } as const;
    return { entries: [...event.entries, draft] };
  });
}
