// The tool by which the model gets back what a note stands for.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Recalled, RecallRequest } from "./contract.ts";
import { recordedBlocks } from "./entries.ts";
import type { Guard } from "./guard.ts";

export const RECALL = "recall";

/** What a session pays for the tool, used or not, is the length of these texts in every request: hence so short. */
const PARAMETERS = {
  type: "object",
  properties: {
    entryId: { type: "string" },
    pattern: { type: "string", description: "JavaScript regular expression: only matching lines, numbered" },
    offset: { type: "number", description: "First line, from 1; with pattern, first match" },
    limit: { type: "number", description: "Most lines or matches" },
    column: { type: "number", description: "First character of the first line, from 1" },
    image: { type: "number", description: "First image, from 1" },
  },
  required: ["entryId"],
} as const;

type Content = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

export function registerRecall(pi: ExtensionAPI, guard: Guard): void {
  pi.registerTool({
    name: RECALL,
    label: "Recall",
    description:
      "Returns the original that a [context-guard] note stands for, by the note's entryId: a tool output, a whole " +
      "earlier exchange, or images.",
    promptSnippet: "Get back what a [context-guard] note stands for",
    parameters: PARAMETERS,
    async execute(_toolCallId, params, _signal, _onUpdate, ctx) {
      const recalled = await guard.recall(requestOf(params), ctx);
      return { content: recalled.map((part) => contentOf(part, ctx)), details: undefined };
    },
  });
}

function requestOf(params: unknown): RecallRequest {
  const given = typeof params === "object" && params !== null ? params : {};
  const value = (name: string): unknown => Reflect.get(given, name);
  const count = (name: string): number | null => {
    const number = Math.trunc(Number(value(name) ?? 0));
    return number > 0 ? Math.min(number, 0xffff_ffff) : null;
  };
  const pattern = value("pattern");
  return {
    entry_id: String(value("entryId") ?? ""),
    pattern: typeof pattern === "string" && pattern !== "" ? pattern : null,
    offset: count("offset"),
    limit: count("limit"),
    column: count("column"),
    image: count("image"),
  };
}

/** The guard never holds an image: it names one, and it comes from the entry as recorded. */
function contentOf(part: Recalled, ctx: ExtensionContext): Content {
  if ("Text" in part) return { type: "text", text: part.Text };
  const [entryId, index] = part.Image;
  const entry = ctx.sessionManager.getEntry(entryId);
  const block = entry && recordedBlocks(entry)[index];
  if (isImage(block)) return { type: "image", data: block.data, mimeType: block.mimeType };
  return { type: "text", text: `[the image ${index + 1} of ${entryId} is no longer in the session]` };
}

function isImage(block: unknown): block is { data: string; mimeType: string } {
  if (typeof block !== "object" || block === null) return false;
  return typeof Reflect.get(block, "data") === "string" && typeof Reflect.get(block, "mimeType") === "string";
}
