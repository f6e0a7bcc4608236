import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../connection.ts";
import { RunnerError } from "../runner.ts";
import * as samples from "./samples.ts";
import { standIn } from "./stand-in.ts";

const CONFIGURATION = { enabled: true, classifier: "openrouter/jev", breakpoints: false, warnings: [] };

/** It holds as many branch entries as its updates left; `cancel` makes it lose them, `status` tells the updates. */
const RUNNER = `
  state.held ??= 0; state.updates ??= [];
  const results = {
    hello: { apis: ["typesafe-system-one"] },
    configure: { configuration: ${JSON.stringify(CONFIGURATION)}, settings_file: "s" },
    status: state.updates, cancel: null, update: null,
  };
  if (call.method === "report") process.exit(1);
  if (call.method === "cancel") state.held = 0;
  if (call.method === "update") {
    const { keep_branch, branch } = call.params;
    state.updates.push([keep_branch, branch.length]);
    if (keep_branch > state.held) return answer({ id: call.id, error: { code: -32001, message: "", data: { kind: "out-of-sync" } } });
    state.held = keep_branch + branch.length;
  }
  answer({ id: call.id, result: results[call.method] });`;

const entries = [samples.user("a", "one"), samples.user("b", "two"), samples.user("c", "three")];
const snapshot = (count: number) => ({
  branch: entries.slice(0, count),
  context: entries.slice(0, count).map(samples.untouched),
});

function connection(): Connection {
  process.env.CONTEXT_GUARD_BINARY = standIn("held", RUNNER);
  return new Connection(() => 0);
}

const PATIENCE = 20_000;
const kind = (expected: string) => (error: unknown) => error instanceof RunnerError && error.kind === expected;

test("the first job starts the runner and reads the settings", async () => {
  const one = connection();
  await one.exclusive(PATIENCE, null, async () => {});
  assert.deepEqual([one.apis, one.configuration], [["typesafe-system-one"], CONFIGURATION]);
  await one.end();
});

test("a guard that holds another session gets the whole one", async () => {
  const one = connection();
  const updates: unknown = await one.exclusive(PATIENCE, null, async (runner) => {
    await one.update(runner, snapshot(1));
    await one.update(runner, snapshot(2));
    await runner.call("cancel", {});
    await one.update(runner, snapshot(3));
    return runner.call("status", {});
  });
  assert.deepEqual(updates, [[0, 1], [1, 1], [2, 1], [0, 3]]);
  await one.end();
});

test("a runner that died is not started again at once", async () => {
  const one = connection();
  await assert.rejects(one.exclusive(PATIENCE, null, (runner) => runner.call("report", { topic: "status" })), kind("gone"));
  await assert.rejects(one.exclusive(PATIENCE, null, async () => assert.fail("it ran")), kind("gone"));
  await one.end();
});

test("a job that waited longer than its patience is not run", async () => {
  const one = connection();
  let release = (): void => {};
  const first = one.exclusive(PATIENCE, null, () => new Promise<void>((resolve) => (release = resolve)));
  await assert.rejects(one.exclusive(1, null, async () => assert.fail("it ran")), kind("busy"));
  const last = one.exclusive(PATIENCE, null, async () => "ran");
  await new Promise<void>((resolve) => {
    const look = (): void => (one.configuration ? resolve() : void setImmediate(look));
    look();
  });
  setImmediate(() => release());
  await first;
  assert.equal(await last, "ran");
  await one.end();
});

test("after the end no runner is started", async () => {
  const one = connection();
  await one.end();
  await assert.rejects(one.exclusive(PATIENCE, null, async () => {}), kind("ended"));
});
