import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "./suite-judge.mjs";

const NOTES = {
  earlier_notes: "Fixed the doubled quotes in `src/csv.mjs`, and its tests pass now. Next: `tests/dates.test.mjs`.",
  latest_note: "Who else relies on `src/money.mjs`?",
};
const search = (chunks, more = {}) => ({ agent_progress: NOTES, tool_arguments: '{"command":"grep -rn x"}', chunks, ...more });
const MIXED = search({ chunk_1: "src/csv.mjs:1:x", chunk_2: "tests/dates.test.mjs:1:x\ntests/csv.test.mjs:1:x", chunk_3: "no file" });

test("a piece is done when all modules that it names are", () => {
  const answers = ["chunk_1", "chunk_2", "chunk_3"].map((id) => judge(id, { type: "noul" }, MIXED).p > 0.6);
  assert.deepEqual(answers, [false, true, true]);
  assert.ok(judge("keep_whole", { type: "noul" }, MIXED).p < 0.7);
  assert.equal(judge("focus", { type: "choice" }, MIXED).choice, "chunk_2");
});

test("a read is about the file that was read, whatever it names", () => {
  const read = (path) => search({ chunk_1: 'import { money } from "../src/money.mjs"' }, { tool_arguments: JSON.stringify({ path }) });
  assert.equal(judge("focus", { type: "choice" }, read("tests/csv.test.mjs")).choice, "none");
  assert.equal(judge("focus", { type: "choice" }, read("src/dates.mjs")).choice, "whole");
  assert.ok(judge("keep_whole", { type: "noul" }, read("src/dates.mjs")).p >= 0.7);
});

test("what is superseded is done", () => {
  const suite = search({ chunk_1: "tests/dates.test.mjs:33:12" }, { superseded: "same command run again (4 turns on)" });
  assert.equal(judge("focus", { type: "choice" }, suite).choice, "none");
});

test("small outputs go by the same rule", () => {
  const items = {
    item_1: { tool: "read tests/csv.test.mjs", output: "src/money.mjs" },
    item_2: { tool: "bash `grep x`", output: "src/csv.mjs:1:x\nsrc/money.mjs:1:x" },
    item_3: { tool: "read src/dates.mjs", superseded: "file changed later by edit src/dates.mjs (1 turn on)", output: "" },
  };
  const kept = Object.keys(items).filter((id) => judge(id, { type: "noul" }, { agent_progress: NOTES, items }).p >= 0.45);
  assert.deepEqual(kept, ["item_2"]);
});

test("without notes nothing is done, and an earlier exchange stays", () => {
  assert.equal(judge("focus", { type: "choice" }, { chunks: MIXED.chunks }).choice, "whole");
  assert.ok(judge("exchange_1", { type: "noul" }, { exchanges: { exchange_1: {} } }).p > 0.2);
});
