import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { findClassifier } from "../classifier.ts";

type Registry = ExtensionContext["modelRegistry"];

const APIS = ["typesafe-system-one"];
const MODEL = { id: "~typesafe/jev-latest", provider: "openrouter", api: "typesafe-system-one", baseUrl: "https://openrouter.ai/api/v1", cost: { input: 0.042 } };

function registry(auth: unknown, model: Record<string, unknown> = MODEL): Registry {
  return {
    findOfType: (type: string, provider: string, id: string) =>
      type === "classifier" && provider === model.provider && id === model.id ? model : undefined,
    getApiKeyAndHeaders: async () => auth,
  } as unknown as Registry;
}

test("the name splits at its first slash, and the key goes into the credential alone", async () => {
  const found = await findClassifier(registry({ ok: true, apiKey: "k", headers: { "X-Title": "pi", Gone: null } }), "openrouter/~typesafe/jev-latest", APIS);
  assert.deepEqual(found, {
    service: { api: "typesafe-system-one", base_url: "https://openrouter.ai/api/v1", model: "~typesafe/jev-latest", headers: [], input_price: 0.042 },
    credential: { api_key: "k", headers: [["X-Title", "pi"]] },
  });
});

test("the user's own address wins over the catalogue's", async () => {
  const found = await findClassifier(registry({ ok: true, apiKey: "k", baseUrl: "http://127.0.0.1:1" }), "openrouter/~typesafe/jev-latest", APIS);
  assert.ok("service" in found && found.service.base_url === "http://127.0.0.1:1");
});

test("Copilot's address gets its version, once", async () => {
  for (const baseUrl of ["https://copilot.example", "https://copilot.example/", "https://copilot.example/v1"]) {
    const model = { ...MODEL, provider: "github-copilot", id: "decision", baseUrl };
    const found = await findClassifier(registry({ ok: true, apiKey: "k" }, model), "github-copilot/decision", APIS);
    assert.ok("service" in found && found.service.base_url === "https://copilot.example/v1", JSON.stringify(found));
  }
});

test("`ok` without a key is no key, unless the headers carry the authorisation", async () => {
  const name = "openrouter/~typesafe/jev-latest";
  for (const auth of [{ ok: true }, { ok: true, headers: { "X-Title": "pi" } }, { ok: false, error: "command failed" }]) {
    const found = await findClassifier(registry(auth), name, APIS);
    assert.ok("problem" in found && found.problem === "no openrouter key", JSON.stringify(found));
  }
  const found = await findClassifier(registry({ ok: true, headers: { Authorization: "Basic x" } }), name, APIS);
  assert.ok("credential" in found && found.credential?.api_key === null);
});

test("what is not in the catalogue, or speaks another protocol, is not found", async () => {
  for (const [name, model] of [
    ["openrouter/other", MODEL],
    ["provider/", MODEL],
    ["no-slash", MODEL],
    ["llama/x", { ...MODEL, provider: "llama", id: "x", api: "llama-cpp-classify" }],
  ] as const) {
    const found = await findClassifier(registry({ ok: true, apiKey: "k" }, model), name, APIS);
    assert.ok("problem" in found && found.problem === "Jev model not found", name);
  }
});

test("the built-in judge needs no catalogue and no key", async () => {
  const found = await findClassifier(registry({ ok: false, error: "" }), "builtin/lexical", APIS);
  assert.deepEqual(found, { service: { api: "builtin", base_url: "", model: "lexical", headers: [], input_price: 0 }, credential: null });
});
