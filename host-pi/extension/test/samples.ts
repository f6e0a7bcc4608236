// Sessions to test with, in the form in which Pi keeps them.
import type { ProjectedSessionEntry, SessionEntry, SessionMessageEntry } from "@earendil-works/pi-coding-agent";

const TIMESTAMP = "2026-11-30T22:41:13.509Z";
export const TIME = Date.parse(TIMESTAMP);

type PiMessage = SessionMessageEntry["message"];

const base = (id: string) => ({ id, parentId: null, timestamp: TIMESTAMP });

/** Messages come from session files, which Pi does not check: a test may say whatever a file may. */
export function message(id: string, content: Record<string, unknown>): SessionMessageEntry {
  return { ...base(id), type: "message", message: content as unknown as PiMessage };
}

export const user = (id: string, content: unknown) => message(id, { role: "user", content, timestamp: 1 });

export const assistant = (id: string, content: unknown, more: Record<string, unknown> = {}) =>
  message(id, { role: "assistant", content, provider: "lab", model: "scripted", stopReason: "stop", ...more });

export const toolResult = (id: string, content: unknown, more: Record<string, unknown> = {}) =>
  message(id, { role: "toolResult", toolCallId: "c1", toolName: "bash", isError: false, content, ...more });

export const contextEdit = (id: string, targetId: string): SessionEntry => ({
  ...base(id),
  type: "context_edit",
  targetId,
  replacement: null,
});

export const custom = (id: string, customType: string, data: unknown): SessionEntry => ({
  ...base(id),
  type: "custom",
  customType,
  data,
});

export const note = (id: string, content: string): SessionEntry => ({
  ...base(id),
  type: "custom_message",
  customType: "subagent",
  content,
  display: true,
});

export const compaction = (id: string, summary: string): SessionEntry => ({
  ...base(id),
  type: "compaction",
  summary,
  firstKeptEntryId: "x",
  tokensBefore: 1,
});

export const modelChange = (id: string): SessionEntry => ({
  ...base(id),
  type: "model_change",
  provider: "lab",
  modelId: "scripted",
});

/** The entry as Pi projects it while no edit is in force. */
export function untouched(entry: SessionEntry): ProjectedSessionEntry {
  return { sourceEntry: entry, messages: entry.type === "message" ? [entry.message] : [] };
}

export const omitted = (entry: SessionEntry): ProjectedSessionEntry => ({ sourceEntry: entry, messages: [] });

export function replaced(entry: SessionMessageEntry, content: unknown): ProjectedSessionEntry {
  return { sourceEntry: entry, messages: [{ ...entry.message, content } as unknown as PiMessage] };
}
