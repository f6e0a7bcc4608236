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

test("a cache is kept warm from the first replay until the next request", () => {
  const warming = new Warming();
  warming.decision(0);
  assert.equal(warming.keptWarm, false, "the decision may be to stop");
  warming.isReplay(replay, 1);
  assert.equal(warming.keptWarm, true);
  warming.sent();
  assert.equal(warming.keptWarm, false);
});
