// The Responses service behind Codex: automatic prompt cache, continuation on a connection, bound reasoning.
// docs/CACHE.md §4 (S9) and §6 has the rules.
import { AutomaticCache } from "./automatic-cache.mjs";
import { hash, prefixHashes, tokensOf } from "./prompt.mjs";
import { refuseIf } from "./refusal.mjs";

/** The service for one model. "binds": whether it binds reasoning to what was before it (from GPT-6.2 on); "reportsWrites":
 *  whether what is not read counts as written (X8). */
export class Codex {
  constructor({ binds = false, reportsWrites = true } = {}) {
    this.facts = { binds, reportsWrites };
    this.cache = new AutomaticCache();
    this.bound = new Map(); // the hash of what was before a reasoning item, by its encrypted content
  }

  /** Takes a request or throws a refusal. "connection" is the state of the socket; there is none over SSE. */
  accept(body, connection) {
    const { previous_response_id: previous, input, ...settings } = body;
    const known = previous !== undefined && connection?.id === previous ? connection : undefined;
    const lost = { code: "previous_response_not_found", quiet: true };
    refuseIf(previous !== undefined && !known, `Previous response with id '${previous}' not found.`, lost);
    refuseIf(known && known.settings !== JSON.stringify(settings), "a continued request has other settings");
    refuseIf(settings.store !== false, "Store must be set to false");
    refuseIf(!Array.isArray(input), "input: missing");
    const whole = { ...settings, input: [...(known?.input ?? []), ...(known?.output ?? []), ...input] };
    checkPairs(whole.input);
    const { items, removed } = this.#bindingChecked(whole);
    const head = { identity: JSON.stringify([settings.model, settings.tools ?? []]), tokens: tokensOf(settings.tools ?? []) };
    const blocks = [head, ...items.map((item) => ({ identity: normalised(item), tokens: tokensOf(JSON.parse(normalised(item))) }))];
    return { kind: known ? "delta" : "full", whole, blocks, removed };
  }

  /** Charges an accepted request and gives the reply's items. */
  answer({ whole, blocks, removed }, turn, { id, n, now }, connection) {
    const { read, fresh } = this.cache.charge(blocks, whole.prompt_cache_key ?? "", now);
    const { reportsWrites } = this.facts;
    const charge = { read, written: reportsWrites ? fresh : 0, writtenLong: 0, uncached: reportsWrites ? 0 : fresh };
    const output = itemsOf(turn, n);
    for (const item of output) if (item.type === "reasoning") this.bound.set(item.encrypted_content, beforeEach(whole.input).at(-1));
    if (connection) {
      const { input, ...settings } = whole;
      Object.assign(connection, { id, settings: JSON.stringify(settings), input, output });
    }
    return { charge, output, removed };
  }

  /** The items without the reasoning that does not belong behind what is before it (S9). */
  #bindingChecked({ input }) {
    if (!this.facts.binds) return { items: input, removed: [] };
    const removed = [];
    const before = beforeEach(input);
    const items = input.filter((item, at) => {
      const fits = item.type !== "reasoning" || this.bound.get(item.encrypted_content) === before[at];
      if (!fits) removed.push({ type: "reasoning", id: item.id, action: "removed", reason: "prefix_mismatch" });
      return fits;
    });
    return { items, removed };
  }
}

/** An item as the model sees it: a reply that comes back has lost its state, an id or the spaces of its arguments. */
function normalised({ id: _id, status: _status, phase: _phase, ...item }) {
  if (item.type === "function_call") return JSON.stringify({ ...item, arguments: JSON.parse(item.arguments || "{}") });
  return JSON.stringify(item);
}

/** The hash of all before each item, and at last that of the whole. */
function beforeEach(items) {
  return [hash(""), ...prefixHashes(items.map(normalised))];
}

function checkPairs(items) {
  const of = (...types) => items.filter(({ type }) => types.includes(type)).map((item) => item.call_id);
  const called = of("function_call", "custom_tool_call");
  const answered = of("function_call_output", "custom_tool_call_output");
  const unanswered = called.find((id) => !answered.includes(id));
  refuseIf(unanswered, `No tool output found for function call ${unanswered}.`);
  const uncalled = answered.find((id) => !called.includes(id));
  refuseIf(uncalled, `No tool call found for function call output with call_id ${uncalled}.`);
  for (const ids of [called, answered]) refuseIf(new Set(ids).size < ids.length, "a call_id is not unique");
}

function itemsOf(turn, n) {
  const items = [];
  if (turn.thinking) {
    const summary = [{ type: "summary_text", text: turn.thinking }];
    items.push({ type: "reasoning", id: `rs_${n}`, summary, encrypted_content: `enc-${n}` });
  }
  if (turn.text) {
    const content = [{ type: "output_text", text: turn.text, annotations: [] }];
    items.push({ type: "message", role: "assistant", content, status: "completed", id: `msg_${n}` });
  }
  (turn.tools ?? []).forEach((tool, i) => {
    const call = { type: "function_call", id: `fc_${n}_${i}`, call_id: tool.id ?? `call_${n}_${i}`, name: tool.name };
    items.push({ ...call, arguments: JSON.stringify(tool.input ?? {}), status: "completed" });
  });
  return items;
}

/** The events of a reply. */
export function* eventsOf(output, { id, usage, removed }) {
  yield { type: "response.created", response: { id, status: "in_progress" } };
  for (const [output_index, item] of output.entries()) {
    yield { type: "response.output_item.added", output_index, item: opened(item) };
    if (item.type === "message") {
      yield { type: "response.output_text.delta", output_index, content_index: 0, delta: item.content[0].text };
    }
    yield { type: "response.output_item.done", output_index, item };
  }
  const response = { id, status: "completed", output, usage, input_transformations: removed };
  yield { type: "response.completed", response };
}

function opened(item) {
  switch (item.type) {
    case "function_call":
      return { ...item, arguments: "" };
    case "message":
      return { ...item, content: [] };
    default:
      return { ...item, summary: [], encrypted_content: undefined };
  }
}
