// Pi's entries and messages as the contract has them.
import type { ProjectedSessionEntry, SessionEntry, SessionMessageEntry } from "@earendil-works/pi-coding-agent";
import type { Block, Entry, EntryBody, Message, StopReason, Usage, View } from "./contract.ts";
import { jsonText } from "./text.ts";

/** The type of the record that the guard keeps in the session. */
export const RECORD_TYPE = "context-guard";

/** Image sizes stand near the start of a file: 48 KiB of it are enough. */
const IMAGE_HEAD_CHARACTERS = 65_536;

export type PiMessage = SessionMessageEntry["message"];

/** The length of a message as the model sees it, in UTF-16 units. Pi knows how it words a shell command. */
export type SeenLength = (message: PiMessage) => number;

/** Returns whether `context_edit` reaches the entry. Pi refuses a whole list of edits for one that it does not. */
export function isEditable(entry: SessionEntry): boolean {
  if (entry.type === "custom_message") return true;
  if (entry.type !== "message") return false;
  const { role } = entry.message;
  return role === "user" || role === "assistant" || role === "toolResult";
}

/** Returns the recorded content of an editable entry, as a list of blocks. */
export function recordedBlocks(entry: SessionEntry): readonly unknown[] {
  if (entry.type === "custom_message") return blockList(entry.content);
  if (entry.type !== "message" || !("content" in entry.message)) return [];
  return blockList(entry.message.content);
}

export function entryOf(entry: SessionEntry, fixed: boolean, seenLength: SeenLength): Entry {
  const time = Date.parse(entry.timestamp);
  return { id: entry.id, time: Number.isFinite(time) ? Math.max(0, time) : 0, body: bodyOf(entry, fixed, seenLength) };
}

function bodyOf(entry: SessionEntry, fixed: boolean, seenLength: SeenLength): EntryBody {
  switch (entry.type) {
    case "message":
      return { Message: fixed ? { Fixed: seenLength(entry.message) } : messageOf(entry.message, seenLength) };
    case "custom_message":
      return { Message: { Note: { kind: text(entry.customType), blocks: blocksOf(entry.content) } } };
    case "context_edit":
      return { Edit: entry.targetId };
    case "compaction":
      return { Compaction: text(entry.summary) };
    case "branch_summary":
      return { BranchSummary: text(entry.summary) };
    case "custom":
      return entry.customType === RECORD_TYPE ? { GuardRecord: jsonText(entry.data) } : "Other";
    default:
      return "Other";
  }
}

function messageOf(message: PiMessage, seenLength: SeenLength): Message {
  switch (message.role) {
    case "user":
      return { User: blocksOf(message.content) };
    case "assistant":
      return {
        Assistant: {
          blocks: blocksOf(message.content),
          stop_reason: stopReasonOf(message.stopReason),
          model: `${text(message.provider)}/${text(message.model)}`,
          usage: usageOf(message.usage),
        },
      };
    case "toolResult":
      return {
        ToolResult: {
          call_id: text(message.toolCallId),
          tool_name: typeof message.toolName === "string" ? message.toolName : null,
          is_error: message.isError === true,
          blocks: blocksOf(message.content),
        },
      };
    case "system":
      return { Fixed: 0 };
    default:
      return { Fixed: seenLength(message) };
  }
}

/**
 * Returns how an entry stands in the model's context, or nothing for one that has no place in it (edits, records,
 * a change of the model, a summary that a newer one replaced).
 */
export function viewOf({ sourceEntry, messages }: ProjectedSessionEntry, fixed: boolean): View | undefined {
  const message = messages[0];
  if (!message) return isEditable(sourceEntry) ? "Omitted" : undefined;
  if (fixed || !isEditable(sourceEntry) || !("content" in message)) return "AsRecorded";
  const recorded = recordedContent(sourceEntry);
  const unchanged = message.content === recorded || (recorded == null && message.content.length === 0);
  return unchanged ? "AsRecorded" : { Replaced: blocksOf(message.content) };
}

function recordedContent(entry: SessionEntry): unknown {
  if (entry.type === "custom_message") return entry.content;
  return entry.type === "message" && "content" in entry.message ? entry.message.content : undefined;
}

/** Session files are not validated by Pi, so content can be anything. */
function blocksOf(content: unknown): Block[] {
  return blockList(content).map(blockOf);
}

function blockList(content: unknown): readonly unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function blockOf(block: unknown): Block {
  if (typeof block !== "object" || block === null || !("type" in block)) return { Opaque: jsonText(block).length };
  switch (block.type) {
    case "text":
      return { Text: "text" in block ? text(block.text) : "" };
    case "image": {
      const data = "data" in block ? text(block.data) : "";
      const media = "mimeType" in block ? text(block.mimeType) : "";
      return { Image: { media_type: media, head: data.slice(0, IMAGE_HEAD_CHARACTERS), base64_length: data.length } };
    }
    case "thinking": {
      const signature = "thinkingSignature" in block ? text(block.thinkingSignature) : "";
      return {
        Thinking: { text: "thinking" in block ? text(block.thinking) : "", signature_length: signature.length },
      };
    }
    case "toolCall":
      return {
        ToolCall: {
          id: "id" in block ? text(block.id) : "",
          name: "name" in block ? text(block.name) : "",
          arguments: jsonText("arguments" in block ? (block.arguments ?? {}) : {}),
        },
      };
    default:
      return { Opaque: jsonText(block).length };
  }
}

function stopReasonOf(reason: unknown): StopReason {
  switch (reason) {
    case "toolUse":
      return "ToolUse";
    case "length":
      return "Length";
    case "aborted":
      return "Aborted";
    case "error":
      return "Error";
    default:
      return "Stop";
  }
}

export function usageOf(usage: unknown): Usage | null {
  if (typeof usage !== "object" || usage === null) return null;
  const count = (key: string): number => {
    const value: unknown = Reflect.get(usage, key);
    return typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : 0;
  };
  return {
    input: count("input"),
    output: count("output"),
    cache_read: count("cacheRead"),
    cache_write: count("cacheWrite"),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : "";
}
