import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { askPermission } from "../permission.ts";

type Confirm = ExtensionContext["ui"]["confirm"];

function asked(confirm: Confirm, closing = new AbortController().signal, hasUI = true) {
  const ctx = { hasUI, ui: { confirm } } as unknown as ExtensionContext;
  return askPermission(ctx, "https://openrouter.ai", "openrouter/jev", closing);
}

test("yes and no are answers", async () => {
  assert.equal(await asked(async () => true), "yes");
  assert.equal(await asked(async () => false), "no");
});

test("a dialog that closed by itself is no answer, although Pi says `false`", async () => {
  const closing = new AbortController();
  const confirm: Confirm = (_title, _text, options) =>
    new Promise((resolve) => {
      options?.signal?.addEventListener("abort", () => resolve(false));
      closing.abort();
    });
  assert.equal(await asked(confirm, closing.signal), "unanswered");
});

test("the dialog times out, names the origin and says what would be sent", async () => {
  await asked(async (title, text, options) => {
    assert.ok(title.includes("https://openrouter.ai"), title);
    assert.match(text, /tool\s+outputs.*questions.*answers/);
    assert.ok(options?.signal && (options.timeout ?? 0) > 0);
    return false;
  });
});

test("without a user interface nobody is asked", async () => {
  assert.equal(await asked(() => assert.fail("asked"), undefined, false), "unanswered");
});
