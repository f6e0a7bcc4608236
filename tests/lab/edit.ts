// A Pi extension that edits one earlier entry in the middle of a run: at the end of the second turn it shortens the first
// tool result. What follows in the provider's cache is then Pi's and the provider's doing alone.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function edit(pi: ExtensionAPI): void {
  pi.on("turn_end", (event) => {
    if (event.turnIndex !== 1) return undefined;
    const results = event.context.contextEntries.filter(({ messages }) => messages[0]?.role === "toolResult");
    const first = results[0];
    if (!first) return undefined;
    const replacement = { content: "[shortened]" };
    return { entries: [...event.entries, { type: "context_edit", targetId: first.sourceEntry.id, replacement }] };
  });
}
