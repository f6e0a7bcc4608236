// The rules P10 and X9 of docs/CACHE.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import { priceOf } from "./prices.mjs";

const COST = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };
const TOKENS = { read: 1_000_000, written: 1_000_000, writtenLong: 400_000, uncached: 1_000_000, output: 1_000_000 };

test("P10 each kind of token has its price, and an hour's write costs twice the input", () => {
  const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);
  const { read, write, input, output, total } = priceOf(COST, TOKENS);
  close(read, 0.2);
  close(write, 0.6 * 2.5 + 0.4 * 4);
  close(input, 2);
  close(output, 10);
  close(total, read + write + input + output);
});

test("without a write price a write costs the input price", () => {
  assert.equal(priceOf({ ...COST, cacheWrite: 0 }, { ...TOKENS, writtenLong: 0 }).write, 2);
});

test("X9 the highest tier that the prompt exceeds holds for all of it", () => {
  const tier = (inputTokensAbove, input) => ({ inputTokensAbove, input, output: 0, cacheRead: 0, cacheWrite: 0 });
  const cost = { ...COST, tiers: [tier(200_000, 4), tier(500_000, 8)] };
  const priced = (uncached) => priceOf(cost, { read: 0, written: 0, uncached, output: 0 }).input * 1_000_000;
  assert.deepEqual([200_000, 200_001, 500_001].map((n) => Math.round(priced(n) / n)), [2, 4, 8]);
});
