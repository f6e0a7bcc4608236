// A session as the host keeps it: an append-only log, and the list of messages that the model gets from it.
import type { Delta, Outcome, Part } from "#guest/context-guard-guard-sessions";
import type { Block, Entry, EntryBody, Message, View, Visible } from "#guest/context-guard-guard-types";

/** A block of Anthropic's Messages API, as far as this host looks into it. */
export interface ApiBlock {
  type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  id?: string;
  name?: string;
  input?: unknown;
  source?: { type: string; media_type?: string; data?: string };
  tool_use_id?: string;
  is_error?: boolean;
  content?: string | ApiBlock[];
}

export interface ApiMessage {
  role: "user" | "assistant";
  content: string | ApiBlock[];
}

/** What an entry holds in the API's form, to make the message from it again. */
interface Recorded {
  message: number;
  role: ApiMessage["role"];
  /** The tool result that the blocks stand in. */
  result: ApiBlock | undefined;
  blocks: ApiBlock[];
  /** The blocks in force; none when the entry is omitted. */
  shown: ApiBlock[] | undefined;
}

/** Image sizes stand near the start of a file; the contract sends no more than this. */
const IMAGE_HEAD = 65_536;

export class Log {
  private readonly entries: Entry[] = [];
  private readonly recorded = new Map<string, Recorded>();
  private readonly model: string;
  private messages = 0;
  private told: { branch: number; context: string[] } = { branch: 0, context: [] };

  constructor(model: string) {
    this.model = model;
  }

  /** Appends a message. Each tool result becomes an entry of its own, so that each can be edited. */
  append(message: ApiMessage, time: number): void {
    const number = this.messages++;
    const blocks = blockList(message.content);
    if (message.role === "assistant") {
      const stopReason = blocks.some((block) => block.type === "tool_use") ? "tool-use" : "stop";
      this.add(`m${number}`, time, number, "assistant", undefined, blocks, (shown) => ({
        tag: "assistant",
        val: { blocks: shown, stopReason, model: this.model },
      }));
      return;
    }
    const rest = blocks.filter((block) => block.type !== "tool_result");
    for (const [index, result] of blocks.filter((block) => block.type === "tool_result").entries()) {
      const callId = result.tool_use_id ?? "";
      this.add(`m${number}.${index}`, time, number, "user", result, blockList(result.content ?? []), (shown) => ({
        tag: "tool-result",
        val: { callId, toolName: this.toolName(callId), isError: result.is_error === true, blocks: shown },
      }));
    }
    if (rest.length > 0) {
      this.add(`m${number}`, time, number, "user", undefined, rest, (shown) => ({ tag: "user", val: shown }));
    }
  }

  /** Returns what is new since the last delta, and takes it as told. */
  delta(): Delta {
    const context = this.entries.flatMap((entry): Visible[] => {
      const recorded = this.recorded.get(entry.id);
      return recorded ? [{ id: entry.id, view: viewOf(recorded) }] : [];
    });
    const keys = context.map((visible) => JSON.stringify(visible));
    let keepContext = 0;
    while (keepContext < this.told.context.length && this.told.context[keepContext] === keys[keepContext]) keepContext++;
    const keepBranch = this.told.branch;
    this.told = { branch: this.entries.length, context: keys };
    return { keepBranch, branch: this.entries.slice(keepBranch), keepContext, context: context.slice(keepContext) };
  }

  /** The guard holds nothing any more (a new instance, or `out-of-sync`): the next delta is the whole session. */
  forget(): void {
    this.told = { branch: 0, context: [] };
  }

  /** Applies all of an outcome or, where an edit cannot be, nothing of it. */
  apply(outcome: Outcome, time: number): void {
    const edits = outcome.edits.map(({ target, replacement }) => {
      const recorded = this.recorded.get(target);
      if (!recorded) throw new Error(`the guard edits ${target}, which this session does not have`);
      return { target, recorded, shown: replacement?.map((part) => blockOf(part, recorded)) };
    });
    for (const { target, recorded, shown } of edits) {
      recorded.shown = shown;
      this.note({ tag: "edit", val: target }, time);
    }
    // Directly after the edits: so the guard knows them as its own.
    if (outcome.guardRecord !== undefined) this.note({ tag: "guard-record", val: outcome.guardRecord }, time);
  }

  /** The messages as the model gets them now. */
  render(): ApiMessage[] {
    const messages: ApiMessage[] = [];
    let last: number | undefined;
    for (const { message, role, result, shown } of this.recorded.values()) {
      if (shown === undefined) continue;
      if (message !== last) messages.push({ role, content: [] });
      last = message;
      const content = messages.at(-1)?.content as ApiBlock[];
      content.push(...(result ? [{ ...result, content: shown }] : shown));
    }
    return messages;
  }

  private add(
    id: string, time: number, message: number, role: ApiMessage["role"], result: ApiBlock | undefined, blocks: ApiBlock[],
    body: (blocks: Block[]) => Message,
  ): void {
    this.recorded.set(id, { message, role, result, blocks, shown: blocks });
    this.entries.push({ id, time: BigInt(time), body: { tag: "message", val: body(blocks.map(contractBlock)) } });
  }

  private note(body: EntryBody, time: number): void {
    this.entries.push({ id: `n${this.entries.length}`, time: BigInt(time), body });
  }

  private toolName(callId: string): string | undefined {
    const calls = [...this.recorded.values()].flatMap(({ blocks }) => blocks).filter(({ type }) => type === "tool_use");
    return calls.findLast(({ id }) => id === callId)?.name;
  }
}

function viewOf({ blocks, shown }: Recorded): View {
  if (shown === undefined) return { tag: "omitted" };
  return shown === blocks ? { tag: "as-recorded" } : { tag: "replaced", val: shown.map(contractBlock) };
}

function blockOf(part: Part, { blocks }: Recorded): ApiBlock {
  if (part.tag === "text") return { type: "text", text: part.val };
  const block = blocks[part.val];
  if (!block) throw new Error(`the guard keeps block ${part.val} of an entry that has ${blocks.length}`);
  return block;
}

function contractBlock(block: ApiBlock): Block {
  switch (block.type) {
    case "text":
      return { tag: "text", val: block.text ?? "" };
    case "thinking":
      return { tag: "thinking", val: { text: block.thinking ?? "", signatureLength: block.signature?.length ?? 0 } };
    case "tool_use":
      return { tag: "tool-call", val: { id: block.id ?? "", name: block.name ?? "", arguments: JSON.stringify(block.input ?? {}) } };
    case "image": {
      const data = block.source?.data;
      if (data === undefined) break;
      const mediaType = block.source?.media_type ?? "";
      return { tag: "image", val: { mediaType, head: data.slice(0, IMAGE_HEAD), base64Length: data.length } };
    }
  }
  return { tag: "opaque", val: JSON.stringify(block).length };
}

function blockList(content: string | ApiBlock[]): ApiBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
