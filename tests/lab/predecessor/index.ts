// Stands in for the guard's TypeScript predecessor: the same tool, command, settings file, status and record, and notes of
// the same form. It judges nothing: at the end of a run it replaces each long output of bash that is still whole. With
// LAB_PREDECESSOR_LATE=1 it registers its tool and command after all extensions have been loaded.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BoundaryResult, ExtensionAPI, ProjectedSessionEntry } from "@earendil-works/pi-coding-agent";

export default function predecessor(pi: ExtensionAPI): void {
  if (process.env.LAB_PREDECESSOR_LATE) pi.on("agent_start", () => register(pi));
  else register(pi);
  pi.on("session_start", (_event, ctx) => ctx.ui.setStatus("context-guard", "🛡 0 saved"));
  pi.on("agent_before_settle", (event, ctx): BoundaryResult | undefined => {
    const edits = isEnabled() ? event.context.contextEntries.flatMap(distilled) : [];
    if (edits.length === 0) return undefined;
    const saved = edits.reduce((sum, { before, after }) => sum + before - after, 0);
    ctx.ui.setStatus("context-guard", `🛡 −${Math.round(saved / 4)} · ${edits.length}`);
    const data = {
      v: 1, model: "openrouter/~typesafe/jev-latest", savedChars: saved, requests: 1, inputTokens: 10, costUsd: 0.0001,
      ms: 5, timedOut: false,
      results: edits.map(({ id, before, after }) => ({
        entryId: id, tool: "bash", label: "bash", outcome: "removed", reason: "none-needed", beforeChars: before,
        afterChars: after, jev: ["kw.05 focus=none:.90"],
      })),
    };
    const drafts = edits.map(({ id, note }) => ({
      type: "context_edit" as const, targetId: id, replacement: { content: note },
    }));
    return { entries: [...event.entries, ...drafts, { type: "custom", customType: "context-guard", data }] };
  });
}

function register(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "recall",
    label: "Recall",
    description: "The predecessor's recall.",
    parameters: { type: "object", properties: { entryId: { type: "string" } }, required: ["entryId"] },
    execute: async () => ({ content: [{ type: "text", text: "recalled by the predecessor" }], details: undefined }),
  });
  pi.registerCommand("guard", {
    description: "The predecessor's report",
    handler: async (_args, ctx) => ctx.ui.notify("the predecessor is at work", "info"),
  });
}

/** Both guards read the same file. */
function isEnabled(): boolean {
  try {
    const settings: unknown = JSON.parse(readFileSync(join(process.env.PI_CODING_AGENT_DIR ?? "", "context-guard.json"), "utf8"));
    return !(typeof settings === "object" && settings !== null && Reflect.get(settings, "enabled") === false);
  } catch {
    return true;
  }
}

function distilled({ sourceEntry, messages }: ProjectedSessionEntry): { id: string; note: string; before: number; after: number }[] {
  const [message] = messages;
  if (sourceEntry.type !== "message" || message?.role !== "toolResult" || message.toolName !== "bash") return [];
  const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  if (text.length < 4000 || text.startsWith("[context-guard]")) return [];
  const { id } = sourceEntry;
  const note = `[context-guard] Removed the output of bash: ${text.split("\n").length} lines judged not needed for the answer. Full output: recall({"entryId":"${id}"}).`;
  return [{ id, note, before: text.length, after: note.length }];
}
