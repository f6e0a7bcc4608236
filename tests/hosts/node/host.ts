// Shows the guard at work in a host of its own: a recorded conversation is synced, judged and edited, and a part of what
// went is recalled.
//
//   node host.js TRANSCRIPT    a list of messages as Anthropic's Messages API has them, as JSON
//   node host.js conform       answers the conformance kit (tests/conformance/README.md)
//
// GUARD_SERVICE   address of a classifier that speaks Jev's protocol; without one the built-in judge answers
// GUARD_ALLOW     the origin that requests may go to, scheme://host[:port]; nothing leaves without it
// GUARD_KEY       its key, if it wants one
import { readFileSync } from "node:fs";
import type { Service } from "#guest/context-guard-guard-classifier";
import type { Phase, Session, Verdict } from "#guest/context-guard-guard-sessions";
import type { Model } from "#guest/context-guard-guard-types";
import { conform } from "./conform.ts";
import { load } from "./guard.ts";
import { type ApiMessage, Log } from "./log.ts";
import type { Permission } from "./permission.ts";

const MODEL: Model = {
  name: "anthropic/claude",
  cache: "anthropic",
  prices: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  cacheLifetime: 300,
  thinking: "unbound",
};

function service(): Service {
  const baseUrl = process.env["GUARD_SERVICE"];
  return baseUrl === undefined
    ? { api: "builtin", baseUrl: "", model: "lexical", headers: [], inputPrice: 0 }
    : { api: "typesafe-system-one", baseUrl, model: "jev", headers: [], inputPrice: 0 };
}

function permission({ baseUrl }: Service): Permission | undefined {
  const origin = process.env["GUARD_ALLOW"];
  if (origin === undefined || baseUrl === "") return undefined;
  return { origin, path: new URL(baseUrl).pathname, key: process.env["GUARD_KEY"] };
}

/** One pass. Returns what was decided, or nothing where no pass was due. */
function pass(session: Session, phase: Phase) {
  const began = Date.now();
  const inquiry = session.begin(phase, MODEL, BigInt(began));
  if (!inquiry) return undefined;
  const asked = service();
  let verdicts: Verdict[] = [];
  try {
    // An instance of its own: it sees the questions alone, and whatever becomes of it, the session stays.
    verdicts = load(permission(asked)).classifier.ask(asked, inquiry.questions, inquiry.budget);
  } catch (error) {
    // A question without a verdict counts as failed, and what it asked about stays.
    console.error(`the questions were not answered: ${error instanceof Error ? error.message : "trapped"}`);
  }
  const elapsed = Date.now() - began;
  return session.finish(verdicts, elapsed, elapsed >= inquiry.budget.timeoutMs);
}

/** Tells the guard what is new, or everything where it does not hold what that builds on. */
function sync(session: Session, log: Log): void {
  try {
    session.update(log.delta());
  } catch (error) {
    if (!isOutOfSync(error)) throw error;
    log.forget();
    session.update(log.delta());
  }
}

/** jco throws the error of a `result` with the value in `payload`. */
function isOutOfSync(error: unknown): boolean {
  const payload: unknown = error instanceof Error && "payload" in error ? error.payload : undefined;
  return typeof payload === "object" && payload !== null && "tag" in payload && payload.tag === "out-of-sync";
}

function open(): { session: Session; warnings: string[] } {
  const session = new (load().sessions.Session)();
  const asked = service();
  const { warnings } = session.configure(JSON.stringify({ model: asked.baseUrl ? "own/jev" : "builtin/lexical" }), undefined);
  const destination = asked.baseUrl ? new URL(asked.baseUrl).origin : undefined;
  session.observe({ destination, recallActive: true, workingDirectory: process.cwd() });
  return { session, warnings };
}

function statusOf(session: Session): string {
  return session.status().map(({ text }) => text).join("");
}

function size(messages: ApiMessage[]): string {
  return `${messages.length} messages, ${JSON.stringify(messages).length} characters`;
}

function show(transcript: ApiMessage[]): void {
  const log = new Log(MODEL.name);
  for (const message of transcript) log.append(message, Date.now());
  const before = log.render();

  const { session, warnings } = open();
  sync(session, log);

  const outcome = pass(session, "run-end");
  for (const warning of [...warnings, ...(outcome?.warnings ?? [])]) console.log(`warning: ${warning}`);
  if (outcome) log.apply(outcome, Date.now());
  sync(session, log);

  const after = log.render();
  console.log(`before: ${size(before)}`);
  console.log(`after: ${size(after)}`);
  for (const { target } of outcome?.edits ?? []) {
    const message = after[Number(target.slice(1).split(".")[0])];
    console.log(`\n${target}: ${JSON.stringify(message, undefined, 2)}`);
  }
  console.log(`\nstatus: ${statusOf(session)}`);
  // What the model may ask for next: some lines of one output, and another whole.
  for (const [index, { target }] of (outcome?.edits ?? []).entries()) {
    const parts = session.recall(index === 0 ? { entryId: target, pattern: "locks" } : { entryId: target });
    console.log(`\nrecall ${target}:`);
    for (const part of parts) console.log(part.tag === "text" ? part.val : `(the image in block ${part.val[1]} of ${part.val[0]})`);
  }

  // As after a trap: the new instance holds nothing, so the delta does not fit, and it gets the session whole.
  const { session: next } = open();
  sync(next, log);
  console.log(`\nstatus of a new instance: ${statusOf(next)}`);
}

const [argument] = process.argv.slice(2);
if (argument === "conform") conform();
else if (argument !== undefined) show(JSON.parse(readFileSync(argument, "utf8")));
else {
  console.error("name a transcript, such as tests/hosts/transcript.json, or say conform");
  process.exitCode = 2;
}
// The worker that makes the requests would keep the process alive.
process.exit();
