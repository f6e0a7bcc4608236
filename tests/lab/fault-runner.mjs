#!/usr/bin/env node
// A runner that misbehaves on cue: it stands between Pi and the real one and hands lines through. Node >= 22.19, no
// dependencies.
//
//   node fault-runner.mjs --binary RUNNER --at CUE --fault FAULT [--once FILE] serve
//
// CUE is "call METHOD" (the call has come and is not handed on yet), "answer METHOD" (its answer is there and not handed
// on yet) or "judging" (the pass has begun to ask). With --once it misbehaves only while FILE is missing, and makes it.
// FAULT is one of
//   die       is killed
//   stop      is stopped, as by Ctrl+Z
//   silence   swallows the line
//   late      hands the line on after two seconds
//   garbage   writes a line that is no JSON, then goes on
//   half      writes half of the line and leaves
//   babble    writes lines that are JSON and no message of the protocol, then goes on
//   odd       answers with a result of another type
//   stderr    writes 32 MB to stderr, then goes on
//   beg       swallows the line and says over and over that the pass has just begun to ask; other lines go through
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values: args } = parseArgs({
  options: { binary: { type: "string" }, at: { type: "string" }, fault: { type: "string" }, once: { type: "string" } },
  allowPositionals: true,
});
const MEGABYTE = "x".repeat(1 << 20);
const BABBLE = [null, 7, "text", [], {}, { id: 1e9, result: 1 }, { method: "judging" }, { method: "no such", params: [] }];

const runner = spawn(args.binary, ["serve"], { stdio: ["pipe", "pipe", "inherit"] });
const methods = new Map();
const write = (text) => new Promise((done) => process.stdout.write(text, done));

/** Misbehaves at a line. Returns whether the line is handed on. */
const faults = {
  die: () => process.kill(process.pid, "SIGKILL"),
  stop: () => process.kill(process.pid, "SIGSTOP"),
  silence: () => false,
  late: async () => {
    await pause(2000);
    return true;
  },
  garbage: async () => {
    await write("this is no JSON\n");
    return true;
  },
  half: async (line) => {
    await write(line.slice(0, line.length / 2));
    process.exit(0);
  },
  babble: async () => {
    await write(BABBLE.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return true;
  },
  odd: async (_line, id) => {
    await write(`${JSON.stringify({ jsonrpc: "2.0", id, result: 7 })}\n`);
    return false;
  },
  stderr: async () => {
    for (let n = 0; n < 32; n += 1) await new Promise((done) => process.stderr.write(MEGABYTE, done));
    return true;
  },
  beg: () => {
    const judging = { jsonrpc: "2.0", method: "judging", params: { questions: 1, timeout_ms: 500 } };
    setInterval(() => write(`${JSON.stringify(judging)}\n`), 200);
    return false;
  },
};

function due(cue) {
  if (cue !== args.at || (args.once && existsSync(args.once))) return false;
  if (args.once) writeFileSync(args.once, "");
  return true;
}

/** Hands the lines of a stream on in order, but for what happens at a cue. */
async function hand(stream, to, cueOf) {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    const { cue, id } = cueOf(JSON.parse(line));
    if (due(cue) && !(await faults[args.fault](line, id))) continue;
    to.write(`${line}\n`);
  }
}

runner.on("exit", (code) => process.exit(code ?? 1));
process.stdout.on("error", () => process.exit(1));
hand(process.stdin, runner.stdin, ({ id, method }) => {
  methods.set(id, method);
  return { cue: `call ${method}`, id };
}).then(() => runner.stdin.end());
hand(runner.stdout, process.stdout, ({ id, method }) => ({ cue: method ?? `answer ${methods.get(id)}`, id }));
