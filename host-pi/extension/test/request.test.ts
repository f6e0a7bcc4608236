import assert from "node:assert/strict";
import { test } from "node:test";
import { shapeOf, withBreakpoints } from "../request.ts";

const MARK = { type: "ephemeral" };
const block = (kind: string, more: Record<string, unknown> = {}) => ({
  kind, has_text: kind === "text", tool_use_id: null, cache_control: null, ...more,
});

/** A request as Pi sends it: the prompt as a string, what the model said and called, and the result at the end. */
const payload = () => ({
  model: "scripted",
  messages: [
    { role: "user", content: "What is in there?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: " \n" },
        { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls -la" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "SECRET" }], is_error: false, cache_control: MARK },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "aaaa" } },
      ],
    },
    { role: "system", content: [], output_config: { effort: "high" } },
  ],
  max_tokens: 8192,
  stream: true,
  system: [{ type: "text", text: "You are SECRET.", cache_control: { ...MARK, ttl: "1h" } }],
  tools: [{ name: "read", input_schema: {} }, { name: "bash", input_schema: {}, cache_control: MARK }],
});

test("the shape tells kinds, ids and breakpoints", () => {
  assert.deepEqual(shapeOf(payload(), true), {
    tools: [block("tool"), block("tool", { cache_control: '{"type":"ephemeral"}' })],
    system: [block("text", { cache_control: '{"type":"ephemeral","ttl":"1h"}' })],
    messages: [
      { role: "user", blocks: [block("text")] },
      { role: "assistant", blocks: [block("thinking"), block("text", { has_text: false }), block("tool_use")] },
      {
        role: "user",
        blocks: [
          block("tool_result", { tool_use_id: "toolu_1", cache_control: '{"type":"ephemeral"}' }),
          block("image"),
        ],
      },
      { role: "system", blocks: [] },
    ],
    replay: true,
  });
});

test("the shape has none of the texts", () => {
  const told = JSON.stringify(shapeOf(payload(), false));
  for (const text of ["SECRET", "What is", "hm", "aaaa", "ls -la", "bash"]) assert.ok(!told.includes(text), text);
});

test("a system prompt that is a string, and a request without tools, are told as well", () => {
  const shape = shapeOf({ messages: [], system: "You are." }, false);
  assert.deepEqual(shape, { tools: [], system: [block("text")], messages: [], replay: false });
  assert.deepEqual(shapeOf({ messages: [] }, false), { tools: [], system: [], messages: [], replay: false });
});

test("what the shape cannot tell is not told at all", () => {
  const inner = { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "x", cache_control: MARK }] };
  for (const strange of [
    undefined, null, "text", [], {}, { messages: null }, { messages: {} }, { messages: ["hi"] }, { messages: [{ role: "user" }] },
    { messages: [{ role: "user", content: 7 }] }, { messages: [{ content: "no role" }] },
    { messages: [{ role: "user", content: ["text"] }] }, { messages: [{ role: "user", content: [{ type: "text" }] }] },
    { messages: [], tools: {} }, { messages: [], system: 7 }, { messages: [], cache_control: MARK },
    { messages: [{ role: "user", content: [inner] }] },
    { messages: [{ role: "user", content: [{ type: "text", text: "x", cache_control: "ephemeral" }] }] },
  ]) {
    assert.equal(shapeOf(strange, false), undefined, JSON.stringify(strange));
  }
});

test("breakpoints are set and removed, and nothing else changes", () => {
  const given = payload();
  const changed = withBreakpoints(given, [
    { section: "Tools", message: 0, block: 1, cache_control: null },
    { section: "Messages", message: 0, block: 0, cache_control: '{"type":"ephemeral"}' },
    { section: "System", message: 0, block: 0, cache_control: '{"type":"ephemeral"}' },
  ]);
  const expected = payload();
  assert.deepEqual(changed, {
    ...expected,
    tools: [expected.tools[0], { name: "bash", input_schema: {} }],
    system: [{ type: "text", text: "You are SECRET.", cache_control: MARK }],
    messages: [
      { role: "user", content: [{ type: "text", text: "What is in there?", cache_control: MARK }] },
      ...expected.messages.slice(1),
    ],
  });
  assert.deepEqual(given, expected, "the payload that was given is as it was");
  assert.deepEqual(Object.keys(changed as object), Object.keys(given), "fields keep their order");
});

test("a text becomes a block only where a breakpoint is set on it", () => {
  const request = { messages: [{ role: "user", content: "one" }, { role: "user", content: "two" }] };
  const changed = withBreakpoints(request, [{ section: "Messages", message: 1, block: 0, cache_control: '{"type":"ephemeral"}' }]);
  assert.deepEqual(changed, {
    messages: [
      { role: "user", content: "one" },
      { role: "user", content: [{ type: "text", text: "two", cache_control: MARK }] },
    ],
  });
});

test("a block that is not there is an error, so that nothing is applied", () => {
  const change = { section: "Messages", message: 9, block: 0, cache_control: null } as const;
  assert.throws(() => withBreakpoints(payload(), [change]));
  assert.throws(() => withBreakpoints(payload(), [{ ...change, message: 2, block: 9 }]));
});
