// The rules X6 and X7 of docs/CACHE.md §6.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AutomaticCache } from "./automatic-cache.mjs";

const MINUTE = 60_000;
/** A block of as many tokens as its text has fours of characters. */
const block = (name, tokens = 1_000) => ({ identity: name.padEnd(tokens * 4, "."), tokens });

test("X6 a prompt that goes on reads all of the one before, in steps of 128", () => {
  const cache = new AutomaticCache();
  assert.deepEqual(cache.charge([block("a"), block("b", 500)], "s", 0), { read: 0, fresh: 1_500 });
  assert.deepEqual(cache.charge([block("a"), block("b", 500), block("c")], "s", 1), { read: 1_408, fresh: 1_092 });
});

test("X6 below 1,024 tokens nothing is read", () => {
  const cache = new AutomaticCache();
  cache.charge([block("a", 1_023)], "s", 0);
  assert.equal(cache.charge([block("a", 1_023), block("b")], "s", 1).read, 0);
});

test("X6 a prompt is kept for half an hour after its last use, for its own session", () => {
  const cache = new AutomaticCache();
  cache.charge([block("a", 1_280)], "s", 0);
  assert.equal(cache.charge([block("a", 1_280)], "other", 1).read, 0);
  assert.equal(cache.charge([block("a", 1_280)], "s", 29 * MINUTE).read, 1_280);
  assert.equal(cache.charge([block("a", 1_280)], "s", 58 * MINUTE).read, 1_280);
  assert.equal(cache.charge([block("a", 1_280)], "s", 88 * MINUTE).read, 0);
});

test("X7 after an edit only the stable beginning is read, wherever the edit was", () => {
  const prompt = "abcdefghij".split("").map((name) => block(name));
  for (const edited of [3, 6, 9]) {
    const cache = new AutomaticCache();
    cache.charge(prompt, "s", 0);
    const changed = prompt.map((old, at) => (at === edited ? block("edited") : old));
    assert.deepEqual(cache.charge([...changed, block("new")], "s", 1), { read: 2_560, fresh: 8_440 }, `block ${edited}`);
  }
});

test("X7 and nothing where the beginning itself was edited, or is not there", () => {
  const cache = new AutomaticCache();
  cache.charge([block("a"), block("b"), block("c")], "s", 0);
  assert.equal(cache.charge([block("a"), block("B"), block("c"), block("d")], "s", 1).read, 0);
  const short = new AutomaticCache();
  short.charge([block("a"), block("b")], "s", 0);
  assert.equal(short.charge([block("a"), block("c")], "s", 1).read, 0);
});

test("X7 an earlier prompt than the last one is not read, though nothing before its end changed", () => {
  const cache = new AutomaticCache();
  const prompt = [block("a", 1_280), block("b", 1_280), block("c", 1_280), block("d")];
  cache.charge(prompt.slice(0, 3), "s", 0);
  cache.charge(prompt, "s", 1);
  assert.equal(cache.charge([...prompt.slice(0, 3), block("other")], "s", 2).read, 2_560);
});
