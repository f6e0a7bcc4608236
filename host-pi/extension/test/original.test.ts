import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecallRequest } from "../contract.ts";
import { originalOf } from "../original.ts";
import * as samples from "./samples.ts";

const request = (entry_id: string, more: Partial<RecallRequest> = {}): RecallRequest => ({
  entry_id, pattern: null, offset: null, limit: null, column: null, image: null, ...more,
});

const text = (words: string) => ({ type: "text", text: words });
const image = { type: "image", data: "aaaa", mimeType: "image/png" };
const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } };

const branch = [
  samples.user("u1", "Look."),
  samples.assistant("a1", [text("I look."), call]),
  samples.toolResult("r1", [text("one\ntwo\nthree"), image, image]),
  samples.assistant("a2", [text("Seen.")]),
  samples.user("u2", "Next."),
];

test("a tool's output comes back as it was recorded, its images too", () => {
  assert.deepEqual(originalOf(request("r1", { pattern: "t" }), branch, "it is gone"), [
    { Text: "[The guard does not answer: it is gone. This is what was recorded, lines 1–3 of 3, not searched.]\none\ntwo\nthree" },
    { Image: ["r1", 1] },
    { Image: ["r1", 2] },
  ]);
  assert.deepEqual(originalOf(request("r1", { image: 2 }), branch, "it is gone")?.slice(1), [{ Image: ["r1", 2] }]);
});

test("a prompt comes back with what followed it", () => {
  const [recalled] = originalOf(request("u1"), branch, "it is gone") ?? [];
  assert.ok(recalled && "Text" in recalled);
  assert.equal(recalled.Text.split("\n").slice(1).join("\n"), 'Look.\nI look.\nbash {"command":"ls"}\none\ntwo\nthree\nSeen.');
});

test("a page is limited and says how to go on", () => {
  assert.deepEqual(originalOf(request("r1", { offset: 2, limit: 1 }), branch, "it is gone"), [
    { Text: "[The guard does not answer: it is gone. This is what was recorded, lines 2–2 of 3, not searched. Continue with offset 3.]\ntwo" },
  ]);
  const long = samples.toolResult("long", [text(`${"x".repeat(60_000)}\n${"y".repeat(60_000)}`)]);
  const [page] = originalOf(request("long"), [long], "it is gone") ?? [];
  assert.ok(page && "Text" in page && page.Text.length < 52_000 && page.Text.includes("Continue with offset 2."));
});

test("what is not on the branch is nothing", () => {
  assert.equal(originalOf(request("elsewhere"), branch, "it is gone"), undefined);
});
