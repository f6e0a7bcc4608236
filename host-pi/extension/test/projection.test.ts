import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { Projection } from "../projection.ts";
import * as samples from "./samples.ts";

const prompt = samples.user("a", "find it");
const call = samples.assistant("b", [{ type: "toolCall", id: "c1", name: "bash", arguments: {} }]);
const result = samples.toolResult("c", "long");

const plain = (...branch: SessionEntry[]) => ({ branch, context: branch.map(samples.untouched) });
const ids = (items: { id: string }[]) => items.map((item) => item.id);

test("the first delta is the whole session, and the next one only what is new", () => {
  const projection = new Projection(() => 0);
  const whole = projection.delta(plain(prompt, call));
  assert.deepEqual([whole.keep_branch, ids(whole.branch), whole.keep_context, ids(whole.context)], [0, ["a", "b"], 0, ["a", "b"]]);
  const next = projection.delta(plain(prompt, call, result));
  assert.deepEqual([next.keep_branch, ids(next.branch), next.keep_context, ids(next.context)], [2, ["c"], 2, ["c"]]);
  const nothing = projection.delta(plain(prompt, call, result));
  assert.deepEqual([nothing.keep_branch, nothing.branch, nothing.keep_context, nothing.context], [3, [], 3, []]);
});

test("an edit sends the views from its target on, and no entry again", () => {
  const projection = new Projection(() => 0);
  projection.delta(plain(prompt, call, result));
  const edit = samples.contextEdit("d", "b");
  const delta = projection.delta({
    branch: [prompt, call, result, edit],
    context: [samples.untouched(prompt), samples.omitted(call), samples.untouched(result), samples.omitted(edit)],
  });
  assert.deepEqual([delta.keep_branch, ids(delta.branch), delta.keep_context], [3, ["d"], 1]);
  assert.deepEqual(delta.context, [{ id: "b", view: "Omitted" }, { id: "c", view: "AsRecorded" }]);
});

test("another text in a replaced entry is a change, the same text is none", () => {
  const projection = new Projection(() => 0);
  const shown = (text: string) => ({ branch: [result], context: [samples.replaced(result, [{ type: "text", text }])] });
  projection.delta(shown("short"));
  assert.equal(projection.delta(shown("short")).keep_context, 1);
  assert.equal(projection.delta(shown("shorter")).keep_context, 0);
});

test("another branch keeps what both have in common", () => {
  const projection = new Projection(() => 0);
  projection.delta(plain(prompt, call, result));
  const other = projection.delta(plain(prompt, samples.assistant("z", [])));
  assert.deepEqual([other.keep_branch, ids(other.branch), other.keep_context, ids(other.context)], [1, ["z"], 1, ["z"]]);
});

test("after a compaction the branch stays whole while the context starts at the summary", () => {
  const projection = new Projection(() => 0);
  projection.delta(plain(prompt, call, result));
  const summary = samples.compaction("d", "so far");
  const shown = { sourceEntry: summary, messages: [prompt.message] };
  const delta = projection.delta({ branch: [prompt, call, result, summary], context: [shown, samples.untouched(result)] });
  assert.deepEqual([delta.keep_branch, ids(delta.branch), delta.keep_context, ids(delta.context)], [3, ["d"], 0, ["d", "c"]]);
});

test("what another handler only proposed is left out, its effect is not", () => {
  const projection = new Projection(() => 0);
  const proposed = samples.contextEdit("thrown-away", "c");
  const delta = projection.delta({
    branch: [prompt, result],
    context: [
      samples.untouched(prompt),
      samples.omitted(result),
      samples.omitted(proposed),
      { sourceEntry: samples.note("thrown-away-too", "x"), messages: [prompt.message] },
    ],
  });
  assert.deepEqual(ids(delta.branch), ["a", "c"]);
  assert.deepEqual(delta.context, [{ id: "a", view: "AsRecorded" }, { id: "c", view: "Omitted" }]);
});

test("L10: an entry that stands for several messages is fixed, so that no edit reaches it", () => {
  const projection = new Projection(() => 5);
  const twice = { sourceEntry: prompt, messages: [prompt.message, prompt.message] };
  const delta = projection.delta({ branch: [prompt], context: [twice] });
  assert.deepEqual(delta.branch[0]?.body, { Message: { Fixed: 5 } });
  assert.deepEqual(delta.context, [{ id: "a", view: "AsRecorded" }]);
});

test("after `forget` everything is sent again", () => {
  const projection = new Projection(() => 0);
  projection.delta(plain(prompt));
  projection.forget();
  assert.deepEqual(ids(projection.delta(plain(prompt)).branch), ["a"]);
});
