import assert from "node:assert/strict";
import { test } from "node:test";
import type { Edit } from "../contract.ts";
import { draftsOf, UnusableOutcome } from "../edits.ts";
import * as samples from "./samples.ts";

const image = { type: "image", data: "AAAA", mimeType: "image/png" };
const result = samples.toolResult("c", [{ type: "text", text: "long" }, image]);
const branch = [samples.user("a", "hi"), result, samples.compaction("d", "so far")];
const outcome = (edits: Edit[], record: string | null = null) => ({ edits, guard_record: record, warnings: [] });

test("edits come first and the record last; a recorded block is the very one of the entry", () => {
  const drafts = draftsOf(
    outcome([{ target: "c", replacement: [{ Text: "short" }, { Recorded: 1 }] }, { target: "a", replacement: null }], '{"v":1}'),
    branch,
  );
  assert.deepEqual(drafts, [
    { type: "context_edit", targetId: "c", replacement: { content: [{ type: "text", text: "short" }, image] } },
    { type: "context_edit", targetId: "a", replacement: null },
    { type: "custom", customType: "context-guard", data: { v: 1 } },
  ]);
});

test("plain string content is block 0", () => {
  const drafts = draftsOf(outcome([{ target: "a", replacement: [{ Recorded: 0 }] }]), branch);
  assert.deepEqual(drafts, [
    { type: "context_edit", targetId: "a", replacement: { content: [{ type: "text", text: "hi" }] } },
  ]);
});

test("one edit that Pi would refuse voids all", () => {
  const good: Edit = { target: "c", replacement: [{ Text: "short" }] };
  for (const bad of [
    { target: "elsewhere", replacement: null },
    { target: "d", replacement: null },
    { target: "c", replacement: [{ Recorded: 2 }] },
  ]) {
    assert.throws(() => draftsOf(outcome([good, bad]), branch), UnusableOutcome, JSON.stringify(bad));
  }
});
