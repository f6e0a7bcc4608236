import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../contract.ts";
import { entryOf, viewOf } from "../entries.ts";
import * as samples from "./samples.ts";

const seenLength = () => 77;
const body = (entry: Parameters<typeof entryOf>[0]): Entry["body"] => entryOf(entry, false, seenLength).body;

test("a plain string is one text block", () => {
  const entry = entryOf(samples.user("a", "hi"), false, seenLength);
  assert.deepEqual(entry, { id: "a", time: samples.TIME, body: { Message: { User: [{ Text: "hi" }] } } });
});

test("an assistant message keeps its blocks in order, with the signature as a length", () => {
  const entry = samples.assistant(
    "a",
    [
      { type: "thinking", thinking: "hm", thinkingSignature: "abcd" },
      { type: "text", text: "I look." },
      { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls", n: 1.0 } },
    ],
    { stopReason: "toolUse", usage: { input: 10, output: 2, cacheRead: 3, cacheWrite: 4, cost: {} } },
  );
  assert.deepEqual(body(entry), {
    Message: {
      Assistant: {
        blocks: [
          { Thinking: { text: "hm", signature_length: 4 } },
          { Text: "I look." },
          { ToolCall: { id: "c1", name: "bash", arguments: '{"command":"ls","n":1}' } },
        ],
        stop_reason: "ToolUse",
        model: "lab/scripted",
        usage: { input: 10, output: 2, cache_read: 3, cache_write: 4 },
      },
    },
  });
});

test("an image travels as its head and its length", () => {
  const data = "A".repeat(65_536) + "B".repeat(10);
  const entry = samples.toolResult("a", [{ type: "image", data, mimeType: "image/png" }]);
  assert.deepEqual(body(entry), {
    Message: {
      ToolResult: {
        call_id: "c1",
        tool_name: "bash",
        is_error: false,
        blocks: [{ Image: { media_type: "image/png", head: "A".repeat(65_536), base64_length: 65_546 } }],
      },
    },
  });
});

test("a lone surrogate has no UTF-8 and becomes a replacement character, in arguments and their names too", () => {
  assert.deepEqual(body(samples.user("a", "x\ud800y")), { Message: { User: [{ Text: "x\ufffdy" }] } });
  const call = { type: "toolCall", id: "c", name: "n", arguments: { "k\udc00": ["\ud83d", "\ud83d\ude00"] } };
  const text = JSON.stringify(body(samples.assistant("a", [call])));
  assert.ok(text.includes("k\ufffd") && text.includes("\ud83d\ude00") && !/\\ud[89a-f]/i.test(text), text);
});

test("what a session file should not hold is tolerated", () => {
  assert.deepEqual(body(samples.user("a", null)), { Message: { User: [] } });
  assert.deepEqual(body(samples.user("a", [null, 7, { type: "video", url: "u" }])), {
    Message: { User: [{ Opaque: 4 }, { Opaque: 1 }, { Opaque: 26 }] },
  });
  const old = samples.message("a", { role: "toolResult", content: "x" });
  assert.deepEqual(body(old), {
    Message: { ToolResult: { call_id: "", tool_name: null, is_error: false, blocks: [{ Text: "x" }] } },
  });
  assert.equal(entryOf({ ...samples.user("a", ""), timestamp: "never" }, false, seenLength).time, 0);
});

test("what edits cannot reach is fixed, with its length as the model sees it", () => {
  assert.deepEqual(body(samples.message("a", { role: "bashExecution", command: "ls", output: "x" })), {
    Message: { Fixed: 77 },
  });
  assert.deepEqual(body(samples.message("a", { role: "system", content: "", sections: {} })), {
    Message: { Fixed: 0 },
  });
});

test("the guard's own records are told apart from others", () => {
  assert.deepEqual(body(samples.custom("a", "context-guard", { v: 1 })), { GuardRecord: '{"v":1}' });
  assert.equal(body(samples.custom("a", "probe", { v: 1 })), "Other");
  assert.equal(body(samples.modelChange("a")), "Other");
  assert.deepEqual(body(samples.contextEdit("b", "a")), { Edit: "a" });
  assert.deepEqual(body(samples.note("a", "done")), { Message: { Note: { kind: "subagent", blocks: [{ Text: "done" }] } } });
  assert.deepEqual(body(samples.compaction("a", "so far")), { Compaction: "so far" });
});

test("an entry is as recorded, replaced or omitted, and one without a place in the context is left out", () => {
  const result = samples.toolResult("a", [{ type: "text", text: "long" }]);
  const empty = samples.user("a", null);
  assert.equal(viewOf(samples.untouched(result), false), "AsRecorded");
  assert.equal(viewOf(samples.omitted(result), false), "Omitted");
  assert.deepEqual(viewOf(samples.replaced(result, [{ type: "text", text: "short" }]), false), {
    Replaced: [{ Text: "short" }],
  });
  assert.equal(viewOf(samples.replaced(empty, []), false), "AsRecorded", "Pi mends missing content on the way");
  assert.equal(viewOf(samples.omitted(samples.contextEdit("b", "a")), false), undefined);
  assert.equal(viewOf(samples.omitted(samples.compaction("b", "older")), false), undefined);
});
