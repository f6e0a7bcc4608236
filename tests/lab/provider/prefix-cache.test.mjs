// The rules P1 to P11 of docs/CACHE.md §2.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PrefixCache } from "./prefix-cache.mjs";
import { anthropicBlocks } from "./prompt.mjs";

const MINUTE = 60_000;
const block = (name, { ttl, kind = "text", tokens = 1_000 } = {}) => ({ identity: name, tokens, kind, ttl });
const mark = (name, fields) => block(name, { ttl: "5m", ...fields });
const row = (names, fields) => names.map((name) => block(name, fields));
const upTo = (count) => Array.from({ length: count }, (_, n) => `${n}`);

test("P1 an entry ends at a mark and is read only behind the same blocks", () => {
  const cache = new PrefixCache();
  const first = cache.charge([block("a"), mark("b"), block("c")], 0);
  assert.deepEqual(first, { read: 0, written: 2_000, writtenLong: 0, uncached: 1_000 });
  assert.equal(cache.charge([block("a"), mark("b")], 1).read, 2_000);
  assert.equal(cache.charge([block("a"), block("b"), mark("c")], 2).read, 2_000, "the mark may have moved on");
  assert.equal(cache.charge([mark("a"), block("B"), block("c")], 3).read, 0, "no entry ends at a");
  assert.equal(cache.charge([block("A"), mark("b")], 4).read, 0);
});

test("P4 a mark looks at 20 positions, itself included", () => {
  for (const [between, read] of [[18, 1_000], [19, 0]]) {
    const cache = new PrefixCache();
    cache.charge([mark("first")], 0);
    const prompt = [block("first"), ...row(upTo(between)), mark("last")];
    assert.equal(cache.charge(prompt, 1).read, read, `${between} between`);
  }
});

test("P4 calls in a row are one position, and so are their results", () => {
  const cache = new PrefixCache();
  cache.charge([mark("first")], 0);
  const turn = (n) => [
    ...row(upTo(8).map((k) => `call ${n}.${k}`), { kind: "tool_use" }),
    ...row(upTo(8).map((k) => `result ${n}.${k}`), { kind: "tool_result" }),
  ];
  const prompt = [block("first"), ...upTo(9).flatMap(turn), mark("last")];
  assert.equal(cache.charge(prompt, 1).read, 1_000);
});

test("P4 a second mark on the way reaches what the last one does not", () => {
  const cache = new PrefixCache();
  cache.charge([mark("first")], 0);
  const prompt = [block("first"), mark("second"), ...row(upTo(30)), mark("last")];
  assert.deepEqual(cache.charge(prompt, 1), { read: 1_000, written: 32_000, writtenLong: 0, uncached: 0 });
});

test("P5 an entry lives five minutes from its last use", () => {
  const cache = new PrefixCache();
  const prompt = [mark("a")];
  cache.charge(prompt, 0);
  assert.equal(cache.charge(prompt, 5 * MINUTE - 1).read, 1_000);
  assert.equal(cache.charge(prompt, 10 * MINUTE - 2).read, 1_000);
  assert.equal(cache.charge(prompt, 15 * MINUTE - 2).read, 0);
});

test("P5 an hour's entry lives an hour", () => {
  const cache = new PrefixCache();
  const prompt = [mark("a", { ttl: "1h" })];
  assert.deepEqual(cache.charge(prompt, 0), { read: 0, written: 1_000, writtenLong: 1_000, uncached: 0 });
  assert.equal(cache.charge(prompt, 59 * MINUTE).read, 1_000);
  assert.equal(cache.charge(prompt, 119 * MINUTE).read, 0);
});

test("P5 reading a longer prefix keeps the shorter ones alive, marked again or not", () => {
  const cache = new PrefixCache();
  cache.charge([mark("a")], 0);
  cache.charge([block("a"), mark("b")], 1);
  for (let minute = 4; minute <= 12; minute += 4) cache.charge([block("a"), mark("b")], minute * MINUTE);
  assert.equal(cache.charge([mark("a"), block("other")], 16 * MINUTE).read, 1_000);
});

test("P6 nothing is read where earlier marks change to an hour", () => {
  const cache = new PrefixCache();
  cache.charge([mark("a"), mark("b")], 0);
  const changed = [mark("a", { ttl: "1h" }), mark("b")];
  assert.deepEqual(cache.charge(changed, 1), { read: 0, written: 2_000, writtenLong: 1_000, uncached: 0 });
  assert.equal(cache.charge(changed, 2).read, 2_000);
});

test("P7 a prompt below the minimum makes no entry", () => {
  const cache = new PrefixCache();
  const short = [mark("a", { tokens: 511 })];
  assert.equal(cache.charge(short, 0).uncached, 511);
  assert.equal(cache.charge(short, 1).read, 0);
  assert.equal(cache.charge([mark("b", { tokens: 512 })], 2).written, 512);
});

test("P8 a mark inside what was read writes no entry", () => {
  const cache = new PrefixCache();
  cache.charge([block("a"), mark("b")], 0);
  assert.equal(cache.charge([mark("a"), mark("b")], 1).written, 0);
  assert.equal(cache.charge([mark("a"), block("other")], 2).read, 0);
});

test("P9 thinking, effort and the choice of a tool belong to the messages' key", () => {
  const marked = { type: "text", text: "x".repeat(4_000), cache_control: { type: "ephemeral" } };
  const request = (fields) =>
    anthropicBlocks({ model: "m", system: [marked], messages: [{ role: "user", content: [marked] }], ...fields });
  for (const fields of [{ thinking: { type: "adaptive" } }, { output_config: { effort: "low" } }, { tool_choice: { type: "any" } }]) {
    const cache = new PrefixCache();
    const { written } = cache.charge(request({}), 0);
    const { read } = cache.charge(request(fields), 1);
    assert.ok(read > 0 && read < written, JSON.stringify(fields));
  }
  const cache = new PrefixCache();
  cache.charge(request({}), 0);
  assert.equal(cache.charge(request({ model: "other" }), 1).read, 0);
});

test("P1 a mark is no part of a prompt, and a string is the same as one text block", () => {
  const cache = new PrefixCache();
  const text = "x".repeat(4_000);
  const marked = [{ type: "text", text, cache_control: { type: "ephemeral" } }];
  const { written } = cache.charge(anthropicBlocks({ model: "m", messages: [{ role: "user", content: marked }] }), 0);
  const later = [{ role: "user", content: text }, { role: "assistant", content: "Yes." }, { role: "user", content: marked }];
  assert.equal(cache.charge(anthropicBlocks({ model: "m", messages: later }), 1).read, written);
});
