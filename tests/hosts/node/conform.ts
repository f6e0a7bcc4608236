// Answers the conformance kit's calls: a JSON object a line, in and out (tests/conformance/README.md).
import { readSync, writeSync } from "node:fs";
import type { Session } from "#guest/context-guard-guard-sessions";
import { load } from "./guard.ts";
import type { Permission } from "./permission.ts";

interface Call {
  id: number;
  call: string;
  args: Record<string, unknown>;
}

type Answer = { ok: unknown } | { err: unknown } | { failed: string } | { unsupported: string };

/** The methods, with their parameters in order. */
const METHODS: Record<string, readonly string[]> = {
  configure: ["user", "project"],
  observe: ["circumstances"],
  update: ["delta"],
  begin: ["phase", "model", "now"],
  finish: ["verdicts", "elapsed-ms", "timed-out"],
  request: ["model", "shape", "now"],
  response: ["model", "usage"],
  recall: ["request"],
  status: [],
  report: ["topic"],
};

/** The fields of 64 bits. In `prices` the same names are fractions. */
const WIDE = new Set(["now", "time", "sent-bytes", "input-tokens"]);
const WIDE_IN_USAGE = new Set(["input", "output", "cache-read", "cache-write"]);

let session: Session | undefined;

export function conform(): void {
  for (const line of lines()) {
    const call = JSON.parse(line) as Call;
    writeSync(1, `${JSON.stringify({ id: call.id, ...answer(call) })}\n`);
  }
}

function answer({ call, args }: Call): Answer {
  try {
    return { ok: outward(made(call, args)) ?? null };
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    // jco throws the error of a `result` with the value in `payload`.
    if (error instanceof Error && "payload" in error) return { err: outward(error.payload) };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

class Unsupported extends Error {}

function made(call: string, args: Record<string, unknown>): unknown {
  if (call === "session.new") {
    session = new (load().sessions.Session)();
    return undefined;
  }
  if (call === "classifier.ask") {
    const { ask } = load(permission()).classifier;
    return Reflect.apply(ask, undefined, ["service", "questions", "budget"].map((name) => inward(args[name], name)));
  }
  const name = call.replace(/^session\./, "");
  const parameters = METHODS[name];
  if (!parameters) throw new Unsupported(`there is no ${call}`);
  if (!session) throw new Error("session.new comes first");
  const method: unknown = Reflect.get(session, name);
  if (typeof method !== "function") throw new Unsupported(`there is no ${call}`);
  return Reflect.apply(method, session, parameters.map((parameter) => inward(args[parameter], parameter)));
}

function permission(): Permission | undefined {
  const origin = process.env["CONFORMANCE_ORIGIN"];
  return origin === undefined ? undefined : { origin, path: "/", key: undefined };
}

/** The kit's values as jco has them. `within` is the field that the value stands in. */
function inward(value: unknown, within: string, parent = ""): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((item) => inward(item, within, parent));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [camel(name), inward(field, name, within)]));
  }
  const wide = WIDE.has(within) || (parent === "usage" && WIDE_IN_USAGE.has(within));
  return wide && typeof value === "number" ? BigInt(value) : value;
}

/** The guest's values as the kit has them. */
function outward(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(outward);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [kebab(name), outward(field)]));
}

function camel(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Standard input, a line at a time; it blocks, since the guest's calls do, too. */
function* lines(): Generator<string> {
  const chunk = Buffer.alloc(65_536);
  let rest = Buffer.alloc(0);
  for (;;) {
    const length = readSync(0, chunk);
    if (length === 0) return;
    rest = Buffer.concat([rest, chunk.subarray(0, length)]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
    }
  }
}
