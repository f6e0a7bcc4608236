// A request to Anthropic as the contract has it, and the guard's breakpoints put into it. Of its texts only one thing is
// told: whether there is any.
import type { Breakpoint, RequestBlock, RequestMessage, RequestShape } from "./contract.ts";

type Fields = Record<string, unknown>;

/** Thrown for a request of a form that the contract cannot tell. It then goes out as it is. */
class Untold extends Error {}

/**
 * Returns the shape of a request; nothing for one that is of another form than Pi's, or that has breakpoints where
 * the shape cannot show them.
 */
export function shapeOf(payload: unknown, replay: boolean): RequestShape | undefined {
  try {
    const request = fieldsOf(payload);
    if (request.cache_control != null) return undefined;
    return {
      tools: listOf(request.tools ?? []).map((tool) => blockOf(tool, "tool")),
      system: blocksOf(request.system ?? []),
      messages: listOf(request.messages).map(messageOf),
      replay,
    };
  } catch (error) {
    if (error instanceof Untold) return undefined;
    throw error;
  }
}

/**
 * Returns the request with these breakpoints set and removed. The one that was given stays as it is: parts of it may be
 * somebody else's. Only a text that gets a breakpoint becomes a block.
 */
export function withBreakpoints(payload: unknown, changes: readonly Breakpoint[]): unknown {
  const request: Fields = { ...fieldsOf(payload) };
  for (const change of changes) {
    switch (change.section) {
      case "Tools":
        request.tools = withBreakpoint(request.tools, change);
        break;
      case "System":
        request.system = withBreakpoint(request.system, change);
        break;
      case "Messages": {
        const messages = [...listOf(request.messages)];
        const message = fieldsOf(messages[change.message]);
        messages[change.message] = { ...message, content: withBreakpoint(message.content, change) };
        request.messages = messages;
      }
    }
  }
  return request;
}

function withBreakpoint(content: unknown, { block, cache_control }: Breakpoint): unknown[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : [...listOf(content)];
  const { cache_control: _, ...rest } = fieldsOf(blocks[block]);
  blocks[block] = cache_control === null ? rest : { ...rest, cache_control: JSON.parse(cache_control) };
  return blocks;
}

function messageOf(message: unknown): RequestMessage {
  const { role, content } = fieldsOf(message);
  return { role: textOf(role), blocks: blocksOf(content) };
}

function blocksOf(content: unknown): RequestBlock[] {
  if (typeof content === "string") return [textBlock(content, null)];
  return listOf(content).map((block) => blockOf(block, ""));
}

function blockOf(block: unknown, fallback: string): RequestBlock {
  const { type, text, content, tool_use_id, cache_control } = fieldsOf(block);
  const control = cache_control == null ? null : JSON.stringify(fieldsOf(cache_control));
  if (type === "text") return textBlock(textOf(text), control);
  // A breakpoint inside a tool's result counts as well, and the shape has no place for it.
  if (Array.isArray(content) && content.some((inner) => fieldsOf(inner).cache_control != null)) throw new Untold();
  return {
    kind: typeof type === "string" ? type : fallback,
    has_text: false,
    tool_use_id: typeof tool_use_id === "string" ? tool_use_id : null,
    cache_control: control,
  };
}

function textBlock(text: string, control: string | null): RequestBlock {
  return { kind: "text", has_text: /\S/.test(text), tool_use_id: null, cache_control: control };
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Untold();
  return value as Fields;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Untold();
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Untold();
  return value;
}
