import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inWords, Limit, Runner, RunnerError } from "../runner.ts";
import { folder, standIn } from "./stand-in.ts";

const unheard = () => assert.fail("no notification was expected");
const kind = (expected: string) => (error: unknown) => error instanceof RunnerError && error.kind === expected;

test("answers find their calls, whatever their order, and errors keep their kind", async () => {
  const runner = new Runner(
    standIn(
      "ordinary",
      `if (call.method === "status") return;
       if (call.method === "cancel") { answer({ id: call.id, result: null }); return answer({ id: call.id - 1, result: [] }); }
       answer({ id: call.id, error: { code: -32001, message: "send it whole", data: { kind: "out-of-sync" } } });`,
    ),
    unheard,
  );
  const status = runner.call("status", {});
  await runner.call("cancel", {});
  assert.deepEqual(await status, []);
  await assert.rejects(runner.call("report", { topic: "status" }), kind("out-of-sync"));
  await runner.end(5000);
  assert.equal(runner.alive, false);
});

test("the runner gets none of the keys in Pi's environment", async () => {
  process.env.LAB_API_KEY = "secret";
  const runner = new Runner(
    standIn("environment", `answer({ id: call.id, result: Object.keys(process.env) });`),
    unheard,
  );
  const names: unknown = await runner.call("status", {});
  assert.ok(Array.isArray(names) && names.includes("PATH") && !names.includes("LAB_API_KEY"), String(names));
  await runner.end(5000);
});

test("a missing binary, a death and nonsense fail the open calls and nothing else", async () => {
  for (const [binary, why] of [
    [join(folder, "missing"), /cannot be started/],
    [standIn("dies", `console.error("boom"); process.exit(3);`), /ended \(3\).*boom|does not read/s],
    [standIn("nonsense", `process.stdout.write("hello\\n");`), /no JSON/],
  ] as const) {
    const runner = new Runner(binary, unheard);
    await assert.rejects(runner.call("hello", {}), why);
    await assert.rejects(runner.call("status", {}), kind("gone"));
    assert.equal(runner.alive, false);
  }
});

test("a runner that misses its limit is killed", async () => {
  const runner = new Runner(standIn("silent", ""), unheard);
  await assert.rejects(runner.call("status", {}, new Limit(50)), /within 50 ms/);
  assert.equal(runner.alive, false);
});

test("a notification reaches its listener and may move the limit of the running call", async () => {
  const limit = new Limit(60_000);
  const heard: string[] = [];
  const runner: Runner = new Runner(
    standIn("judging", `answer({ method: "judging", params: { questions: 2, timeout_ms: 1 } });`),
    (method) => {
      heard.push(method);
      runner.extend(limit, 20);
    },
  );
  await assert.rejects(runner.call("status", {}, limit), /within 20 ms/);
  assert.deepEqual(heard, ["judging"]);
});

test("a line that does not end is not kept for ever", async () => {
  const endless = `setInterval(() => process.stdout.write("x".repeat(1000)), 1);`;
  const runner = new Runner(standIn("endless", endless), unheard, 5000);
  await assert.rejects(runner.call("status", {}), /a line of more than 5000 bytes/);
  assert.equal(runner.alive, false);
});

test("of a runner's last words the last line is told", async () => {
  const wordy = `console.error("first\\n\\x1b[31mlast " + "words ".repeat(20)); process.exit(3);`;
  const runner = new Runner(standIn("wordy", wordy), unheard);
  await assert.rejects(runner.call("status", {}), (error: Error) => {
    assert.match(error.message, /ended \(3\):  ?\[31mlast words|does not read/);
    return true;
  });
});

test("a runner that does not leave is killed", async () => {
  const stays = `setInterval(() => {}, 1000); process.exit = () => {}; answer({ id: call.id, result: [] });`;
  const runner = new Runner(standIn("stays", stays), unheard);
  await runner.call("status", {});
  await runner.end(50);
  assert.equal(runner.alive, false);
});

test("people are told of failures in their own words, not in those for a host", () => {
  const words = (kind: string) => inWords(new RunnerError(kind, "the delta does not fit; send the session whole"));
  for (const kind of ["out-of-sync", "trapped", "timeout", "off"]) {
    assert.match(words(kind), /^the guard /);
    assert.doesNotMatch(words(kind), /whole|delta|enable/);
  }
  assert.match(words("off"), /\/guard on/);
  assert.equal(inWords(new RunnerError("invalid", "no such view")), "no such view");
  assert.equal(inWords("odd"), "odd");
});
