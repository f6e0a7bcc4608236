// The tool by which the model gets back what a note stands for.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Recalled, RecallRequest } from "./contract.ts";
import { recordedBlocks } from "./entries.ts";
import type { Guard } from "./guard.ts";

export const RECALL = "recall";

const PARAMETERS = {
  type: "object",
  properties: {
    entryId: { type: "string", description: "The entryId from the [context-guard] note" },
    pattern: {
      type: "string",
      description: "JavaScript regular expression; only matching lines are returned, with their line numbers",
    },
    offset: { type: "number", description: "First line to return, from 1; with pattern, first matching line" },
    limit: { type: "number", description: "Most lines to return; with pattern, most matching lines" },
    column: { type: "number", description: "First character of the first line, from 1, to page through a long line" },
    image: { type: "number", description: "First image to attach, from 1" },
  },
  required: ["entryId"],
} as const;

type Content = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

export function registerRecall(pi: ExtensionAPI, guard: Guard): void {
  pi.registerTool({
    name: RECALL,
    label: "Recall",
    description:
      "Returns the original of anything marked [context-guard]: a tool output, a whole earlier exchange, or removed " +
      "images. Pass the entryId from the note. pattern filters lines; offset and limit page through the result, and " +
      "count matching lines when pattern is given.",
    promptSnippet: "Get back the original of anything marked [context-guard]",
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
