import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { modelOf } from "../model.ts";

type PiModel = NonNullable<ExtensionContext["model"]>;

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** Of a catalogue entry only what is read here. */
function model(more: Record<string, unknown> = {}, thinkingLevel?: "off" | "high", keptFor = 0) {
  const entry = { provider: "anthropic", id: "claude-opus-4-8", api: "anthropic-messages", reasoning: true, cost: COST, ...more };
  const context = { model: entry as unknown as PiModel, ...(thinkingLevel && { thinkingLevel }) };
  return modelOf(context, keptFor);
}

const environment = process.env.PI_CACHE_RETENTION;
after(() => {
  delete process.env.PI_CACHE_RETENTION;
  if (environment !== undefined) process.env.PI_CACHE_RETENTION = environment;
});
delete process.env.PI_CACHE_RETENTION;

test("the scheme follows from the protocol and the provider", () => {
  assert.equal(model().cache, "Anthropic");
  assert.equal(model({ provider: "gateway" }).cache, "Anthropic");
  assert.equal(model({ provider: "openai-codex", api: "openai-codex-responses" }).cache, "OpenaiCodex");
  assert.equal(model({ provider: "openai", api: "openai-responses" }).cache, "Other");
  assert.deepEqual(modelOf({ model: undefined }, 0), {
    name: "", cache: "Other", prices: null, cache_lifetime: 3600, thinking: "Unbound",
  });
});

test("prices that the catalogue does not have are none", () => {
  assert.deepEqual(model().prices, { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 });
  assert.equal(model({ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }).prices, null);
});

test("a cache lives as long as the catalogue, the breakpoints or the provider say, else long", () => {
  const lifetime = (more?: Record<string, unknown>) => model(more).cache_lifetime;
  const listed = { promptCache: { short: 240, long: 7200 } };
  assert.deepEqual([lifetime(), lifetime(listed)], [300, 240]);
  const strange = [10.5, -1, Number.NaN, "long"].map((short) => lifetime({ promptCache: { short, long: 0 } }));
  assert.deepEqual(strange, [11, 0, 3600, 3600], "the guard takes whole seconds");
  assert.equal(lifetime({ provider: "openai-codex", api: "openai-codex-responses" }), 1800);
  assert.equal(lifetime({ provider: "other", api: "openai-completions" }), 3600);
  process.env.PI_CACHE_RETENTION = "long";
  assert.deepEqual([lifetime(), lifetime(listed)], [3600, 7200]);
  assert.deepEqual([lifetime({ compat: { supportsLongCacheRetention: false } })], [300]);
  delete process.env.PI_CACHE_RETENTION;
});

test("a cache that Pi has renewed lives longer", () => {
  assert.equal(model({}, undefined, 540).cache_lifetime, 840);
});

test("thinking is dropped where Pi has it dropped, and refused where it is bound otherwise", () => {
  const compat = { supportsMidConvoEffort: true };
  assert.equal(model({ id: "claude-opus-5-5", compat }, "high").thinking, "Dropped");
  assert.equal(model({ id: "claude-opus-5-5", compat }).thinking, "Dropped");
  assert.equal(model({ id: "claude-opus-5-5", compat }, "off").thinking, "Refused", "nothing says that it is dropped");
  const without = (id: string) => model({ id }).thinking;
  for (const id of ["claude-opus-5", "anthropic/claude-sonnet-5.5", "claude-haiku-5-5", "claude-fable-5-1-20260801", "claude-opus-6"]) {
    assert.equal(without(id), "Refused", id);
  }
  for (const id of ["claude-opus-4-8", "claude-opus-4-20250514", "claude-3-5-sonnet-20241022", "claude-sonnet-5", "claude-fable-5", "kimi-k3"]) {
    assert.equal(without(id), "Unbound", id);
  }
  const adaptive = { forceAdaptiveThinking: true };
  assert.equal(model({ id: "house-model", compat: adaptive }).thinking, "Refused", "it may be any of them");
  assert.equal(model({ id: "claude-opus-4-8", compat: adaptive }).thinking, "Unbound");
  assert.equal(model({ id: "claude-opus-5", reasoning: false }).thinking, "Unbound");
  assert.equal(model({ provider: "openai-codex", api: "openai-codex-responses" }).thinking, "Dropped");
  assert.equal(model({ id: "claude-opus-5", api: "openai-completions" }).thinking, "Unbound");
});
