import assert from "node:assert/strict";
import { test } from "node:test";
import { Warming } from "../warming.ts";

const replay = { max_tokens: 1, messages: [] };
const request = { max_tokens: 8192, messages: [] };

test("a request with one token to answer is a replay only right after a decision, and once", () => {
  const warming = new Warming();
  assert.equal(warming.isReplay(replay, 0), false, "the context may just be full");
  warming.decision(1000);
  assert.equal(warming.isReplay(request, 1001), false);
  assert.equal(warming.isReplay(replay, 1002), true, "also when another request came first");
  assert.equal(warming.isReplay(replay, 1003), false);
  warming.decision(2000);
  assert.equal(warming.isReplay(replay, 62_001), false, "that decision was to stop");
  for (const strange of [undefined, null, "text", [], {}]) assert.equal(warming.isReplay(strange, 2001), false);
});

test("a cache is renewed from the last request of the conversation to the last replay", () => {
  const warming = new Warming();
  const replayed = (now: number) => {
    warming.decision(now);
    warming.isReplay(replay, now);
  };
  replayed(500);
  assert.equal(warming.keptFor, 0, "nobody knows which request that repeated");
  warming.sent(1000);
  warming.decision(271_000);
  assert.equal(warming.keptFor, 0, "the decision may be to stop");
  replayed(271_000);
  replayed(541_001);
  assert.equal(warming.keptFor, 541);
  warming.sent(600_000);
  assert.equal(warming.keptFor, 0);
});
