// What Pi itself holds of an entry, for when no guard answers: what was removed must not be lost with the guard.
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import type { Recalled, RecallRequest } from "./contract.ts";
import { recordedBlocks } from "./entries.ts";

/** Most of one page, as of the guard's own. */
const PAGE_LINES = 2000;
const PAGE_CHARACTERS = 51_200;
const PAGE_IMAGES = 6;

/**
 * Returns an entry as recorded; of a prompt also what followed it, up to the next one. Lines are paged by `offset` and
 * `limit`, and nothing is searched. Nothing is returned for an id that is not on the branch.
 *
 * @param reason Why the guard does not answer.
 */
export function originalOf(
  request: RecallRequest,
  branch: readonly SessionEntry[],
  reason: string,
): Recalled[] | undefined {
  const start = branch.findIndex((entry) => entry.id === request.entry_id);
  const entry = branch[start];
  if (!entry) return undefined;
  const next = branch.findIndex((later, place) => place > start && isPrompt(later));
  const entries = isPrompt(entry) ? branch.slice(start, next === -1 ? undefined : next) : [entry];
  const lines = entries.flatMap(textsOf).join("\n").split("\n");
  const first = Math.max(1, request.offset ?? 1);
  const page: string[] = [];
  let room = PAGE_CHARACTERS;
  for (const line of lines.slice(first - 1, first - 1 + Math.min(request.limit ?? PAGE_LINES, PAGE_LINES))) {
    if (page.length > 0 && line.length > room) break;
    page.push(line.slice(0, room));
    room -= line.length + 1;
  }
  const last = first - 1 + page.length;
  const rest = last < lines.length ? ` Continue with offset ${last + 1}.` : "";
  const note = `[The guard does not answer: ${reason}. This is what was recorded, lines ${first}–${last} of ${lines.length}, not searched.${rest}]`;
  return [{ Text: [note, ...page].join("\n") }, ...imagesOf(entry, request)];
}

function isPrompt(entry: SessionEntry): boolean {
  return entry.type === "message" && entry.message.role === "user";
}

function textsOf(entry: SessionEntry): string[] {
  return recordedBlocks(entry).flatMap((block) => {
    const text = property(block, "text");
    if (typeof text === "string") return [text];
    return property(block, "type") === "toolCall" ? [`${property(block, "name")} ${JSON.stringify(property(block, "arguments"))}`] : [];
  });
}

function imagesOf(entry: SessionEntry, { offset, image }: RecallRequest): Recalled[] {
  if (offset) return [];
  const places = recordedBlocks(entry).flatMap((block, place) => (property(block, "type") === "image" ? [place] : []));
  const first = Math.max(1, image ?? 1) - 1;
  return places.slice(first, first + PAGE_IMAGES).map((place) => ({ Image: [entry.id, place] }));
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
