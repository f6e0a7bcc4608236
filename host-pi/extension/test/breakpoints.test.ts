import assert from "node:assert/strict";
import { test } from "node:test";
import type { BeforeProviderRequestEvent, ExtensionContext, MessageEndEvent } from "@earendil-works/pi-coding-agent";
import { Breakpoints } from "../breakpoints.ts";
import { Connection } from "../connection.ts";
import * as samples from "./samples.ts";
import { standIn } from "./stand-in.ts";
import { Warming } from "../warming.ts";

const MARK = { type: "ephemeral" };

/** It wants the first message marked, and remembers what it was told; `status` tells that. `BODY` may do otherwise. */
const runner = (wanted: boolean, body = "") => `
  state.heard ??= [];
  const configuration = { enabled: true, classifier: "c", breakpoints: ${wanted}, warnings: [] };
  const mark = { section: "Messages", message: 0, block: 0, cache_control: '{"type":"ephemeral"}' };
  const results = {
    hello: { apis: [] }, configure: { configuration, settings_file: "s" }, update: null, status: state.heard,
    request: [mark], response: null,
  };
  if (call.method !== "status") state.heard.push(call.method + (call.params.shape?.replay ? " replay" : ""));
  if (call.method === "response") state.heard.push(call.params);
  ${body}
  answer({ id: call.id, result: results[call.method] });`;

const entries = [samples.user("a", "one")];
const context = (api = "anthropic-messages") => ({
  model: { provider: "lab", id: "scripted", api, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
  sessionManager: {
    getBranch: () => entries,
    buildSessionProjection: () => ({ entries: entries.map(samples.untouched) }),
  },
}) as unknown as ExtensionContext;

function lab(name: string, program: string, patience = 20_000) {
  process.env.CONTEXT_GUARD_BINARY = standIn(name, program);
  const connection = new Connection(() => 0);
  const warming = new Warming();
  const breakpoints = new Breakpoints(connection, warming, () => null, patience);
  const event = (payload: unknown): BeforeProviderRequestEvent => ({ type: "before_provider_request", payload });
  return {
    connection, warming, breakpoints,
    request: (payload: unknown, ctx = context()) => breakpoints.request(event(payload), ctx),
    started: () => connection.exclusive(20_000, null, async () => {}),
    heard: async (): Promise<unknown[]> => connection.exclusive<unknown>(20_000, null, (one) => one.call("status", {})) as Promise<unknown[]>,
  };
}

const payload = (max_tokens = 8192) => ({ messages: [{ role: "user", content: "one" }], max_tokens });
const reply = (usage: unknown) =>
  ({ type: "message_end", message: { role: "assistant", provider: "lab", model: "scripted", usage } }) as unknown as MessageEndEvent;

test("a request leaves with the guard's breakpoints, and its response is told", async () => {
  const one = lab("marks", runner(true));
  await one.started();
  assert.deepEqual(await one.request(payload()), {
    messages: [{ role: "user", content: [{ type: "text", text: "one", cache_control: MARK }] }], max_tokens: 8192,
  });
  one.breakpoints.response(reply({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }), context());
  one.breakpoints.response(reply({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }), context());
  assert.deepEqual((await one.heard()).slice(2), [
    "update", "request", "response", { model: "lab/scripted", usage: { input: 1, output: 2, cache_read: 3, cache_write: 4 } },
  ]);
  await one.connection.end();
});

test("a replay is told as one, and has no response", async () => {
  const one = lab("replays", runner(true));
  await one.started();
  one.warming.decision(Date.now());
  assert.notEqual(await one.request(payload(1)), undefined);
  one.breakpoints.response(reply({}), context());
  assert.deepEqual((await one.heard()).slice(2), ["update", "request replay"]);
  await one.connection.end();
});

test("without the wish for breakpoints, and with another API, nobody is asked", async () => {
  const off = lab("off", runner(false));
  await off.started();
  assert.equal(await off.request(payload()), undefined);
  assert.deepEqual((await off.heard()).length, 2);
  await off.connection.end();

  const other = lab("other", runner(true));
  await other.started();
  assert.equal(await other.request(payload(), context("openai-responses")), undefined);
  assert.equal(await other.request({ messages: "none" }), undefined);
  assert.deepEqual((await other.heard()).length, 2);
  await other.connection.end();
});

test("a guard that fails leaves the request as it is", async () => {
  const failing = lab("failing", runner(true, `
    if (call.method === "request") return answer({ id: call.id, error: { code: -32004, message: "", data: { kind: "trapped" } } });`));
  await failing.started();
  assert.equal(await failing.request(payload()), undefined);
  await failing.connection.end();

  const wrong = lab("wrong", runner(true, `mark.message = 7;`));
  await wrong.started();
  assert.equal(await wrong.request(payload()), undefined);
  await wrong.connection.end();
});

test("a guard that is late leaves the request as it is, and forgets what it took for cached", async () => {
  const late = lab("late", runner(true, `
    if (call.method === "request") return setTimeout(() => answer({ id: call.id, result: results.request }), 2000);`), 1000);
  await late.started();
  assert.equal(await late.request(payload()), undefined);
  assert.deepEqual((await late.heard()).slice(2), ["update", "request", "configure"]);
  await late.connection.end();
});
