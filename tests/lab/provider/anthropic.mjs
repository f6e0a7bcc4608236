// Anthropic's Messages service with prompt cache, message threads and bound thinking. docs/CACHE.md §1 to §4 has the rules.
import { replyOf } from "../anthropic-stream.mjs";
import { objection } from "../validity.mjs";
import { PrefixCache } from "./prefix-cache.mjs";
import { anthropicBlocks, hash, identity, prefixHashes } from "./prompt.mjs";
import { Refusal, refuseIf } from "./refusal.mjs";

const MOST_MARKS = 4; // P2
const THREAD_LIFE = 5 * 60_000; // T10
/** The fields that stay the same within a thread. */
const FIXED = ["model", "thinking", "output_config", "tool_choice", "fallbacks"];

/** The service for one model. "binds" says whether it binds thinking to what was before it, "forgets" whether it leaves out
 *  the thinking of earlier runs. */
export class Anthropic {
  constructor({ threads = false, binds = false, forgets = false, systemMessages = false, minimum } = {}) {
    this.facts = { threads, binds, forgets, systemMessages };
    this.cache = new PrefixCache({ minimum });
    this.threads = new Map();
    this.issued = new Map(); // the thinking that was sent, by its signature
    this.bound = new Map(); // the hash of what was before it, by its signature
  }

  /** Takes a request or throws a refusal. */
  accept(body, betas, now) {
    const whole = this.#whole(body, betas, now);
    const { thread: _thread, ...prompt } = whole;
    const wrong = objection(prompt, this.issued, this.facts);
    refuseIf(wrong, wrong);
    checkMarks(anthropicBlocks(prompt));
    const { messages, dropped } = this.#bindingChecked(prompt);
    return { kind: body.thread?.type ?? "plain", whole: prompt, blocks: anthropicBlocks({ ...prompt, messages }), dropped };
  }

  /** Charges an accepted request and gives the reply's blocks. */
  answer({ whole, blocks, dropped, kind }, turn, { id, n, betas, now }) {
    const charge = this.cache.charge(blocks, now);
    const signature = `sig-${n}`;
    const reply = replyOf(turn, n, signature);
    if (turn.thinking) {
      this.issued.set(signature, turn.thinking);
      this.bound.set(signature, beforeEach(whole).at(-1));
    }
    if (kind !== "plain") this.#keep(id, whole, reply, betas, now);
    const usage = {
      input_tokens: charge.uncached,
      output_tokens: 1,
      cache_read_input_tokens: charge.read,
      cache_creation_input_tokens: charge.written,
      cache_creation: {
        ephemeral_5m_input_tokens: charge.written - charge.writtenLong,
        ephemeral_1h_input_tokens: charge.writtenLong,
      },
    };
    return { charge, reply, usage, fields: dropped.length > 0 ? { input_transformations: dropped } : {} };
  }

  /** The request as the service knows it: a continuing one has its thread's earlier part. */
  #whole(body, betas, now) {
    const { thread } = body;
    if (!thread) return body;
    refuseIf(!this.facts.threads, "thread: Extra inputs are not permitted");
    if (thread.type === "create") return body;
    refuseIf(thread.type !== "continue", `thread.type: ${thread.type} is neither create nor continue`);
    refuseIf(body.system || body.tools, "thread: a continued request has no system and no tools");
    const known = this.threads.get(thread.previous_message_id);
    const lost = (message, code, status) => new Refusal(message, { code, status, quiet: true });
    if (!known || now - known.at > THREAD_LIFE) throw lost("thread: not found", "thread_not_found", 404);
    if (known.continued) throw lost("thread: already continued", "thread_already_continued", 409);
    if (known.fixed !== fixedOf(body, betas)) throw lost("thread: a fixed setting changed", "thread_fingerprint_mismatch", 400);
    known.continued = true;
    return { ...body, system: known.system, tools: known.tools, messages: [...known.messages, ...body.messages] };
  }

  #keep(id, { system, tools, messages, ...settings }, reply, betas, now) {
    const unmarked = JSON.parse(JSON.stringify(messages, (key, value) => (key === "cache_control" ? undefined : value)));
    const all = reply.length > 0 ? [...unmarked, { role: "assistant", content: reply }] : unmarked;
    this.threads.set(id, { system, tools, messages: all, fixed: fixedOf(settings, betas), at: now, continued: false });
  }

  /** The messages without the thinking that does not belong behind what is before it (S2, S3). */
  #bindingChecked(prompt) {
    const dropping = prompt.thinking?.block_binding?.prefix_mismatch_behavior;
    const unknown = "thinking.adaptive.block_binding: Extra inputs are not permitted";
    refuseIf(dropping && !this.facts.binds, unknown);
    if (!this.facts.binds) return { messages: prompt.messages, dropped: [] };
    const dropped = [];
    const before = beforeEach(prompt);
    const run = this.facts.forgets ? prompt.messages.findLastIndex(isPrompt) : 0;
    const messages = prompt.messages.map((message, m) => {
      if (message.role !== "assistant" || !Array.isArray(message.content)) return message;
      const content = message.content.filter((block, at) => {
        if (block.type === "thinking" && m < run) return false;
        if (block.type !== "thinking" || this.bound.get(block.signature) === before[m]) return true;
        const path = `messages.${m}.content.${at}`;
        const why = "Invalid signature in thinking block: the block is bound to a different conversation";
        refuseIf(dropping !== "drop_block", `${path}: ${why}`);
        dropped.push({ type: "thinking_dropped", path, reason: "prefix_mismatch" });
        return false;
      });
      return { ...message, content };
    });
    return { messages: messages.filter(({ content, role }) => role === "system" || content.length > 0), dropped };
  }
}

/** The hash of all before each message, and at last that of the whole (S6). */
function beforeEach({ system, tools, messages }) {
  const head = identity([system ?? [], tools ?? []]);
  return [hash(head), ...prefixHashes(messages.map(identity), head)];
}

function isPrompt({ role, content }) {
  return role === "user" && (typeof content === "string" || content.some(({ type }) => type !== "tool_result"));
}

function fixedOf(settings, betas) {
  return JSON.stringify([...FIXED.map((name) => settings[name] ?? null), betas]);
}

function checkMarks(blocks) {
  const marked = blocks.filter((block) => block.ttl);
  refuseIf(marked.length > MOST_MARKS, `cache_control: ${marked.length} marks, at most ${MOST_MARKS} are allowed`);
  marked.forEach((block, at) => {
    refuseIf(block.kind === "thinking", `${block.place}.cache_control: cannot be set for thinking blocks`);
    const shorter = marked.slice(0, at).some((earlier) => earlier.ttl === "5m");
    const order = "a ttl='1h' block must not come after a ttl='5m' block; the order is tools, system, messages";
    refuseIf(block.ttl === "1h" && shorter, `${block.place}.cache_control.ttl: ${order}`);
  });
}
