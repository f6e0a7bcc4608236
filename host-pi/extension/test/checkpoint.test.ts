import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnEndEvent } from "@earendil-works/pi-coding-agent";
import { goesOn } from "../checkpoint.ts";

test("c1 only a turn that called tools is followed by another", () => {
  const ended = (message: unknown) => goesOn({ type: "turn_end", message } as TurnEndEvent);
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: {} };
  assert.equal(ended({ role: "assistant", content: [{ type: "text", text: "Looking." }, call] }), true);
  assert.equal(ended({ role: "assistant", content: [{ type: "text", text: "Done." }] }), false);
  assert.equal(ended({ role: "assistant", content: [] }), false);
  assert.equal(ended({ role: "user", content: "hi" }), false);
});
