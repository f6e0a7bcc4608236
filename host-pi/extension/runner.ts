// The runner: one child process that speaks JSON-RPC 2.0, a message a line, over its stdin and stdout.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Socket } from "node:net";
import { ORDINARY } from "./limits.ts";
import type { Methods } from "./protocol.ts";
import { jsonText } from "./text.ts";

/** What the runner needs to know of Pi's environment. No key of any provider is among it. */
const ENVIRONMENT = [
  "HOME", "USERPROFILE", "PATH", "SystemRoot", "TEMP", "TMP",
  "PI_CODING_AGENT_DIR", "PI_CONTEXT_GUARD_CONFIG", "PI_CONTEXT_GUARD_ALLOW", "CONTEXT_GUARD_LOG",
  "SSL_CERT_FILE", "SSL_CERT_DIR",
  "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
];

/** How much of the runner's last words is kept for an error message, in characters. */
const LAST_WORDS = 300;

/** The longest line that is taken from the runner, in bytes: as much as it takes itself. */
const LONGEST_LINE = 256 << 20;

/** Why a call failed: `kind` is the `data.kind` of docs/PROTOCOL.md, or one of this side's own. */
export class RunnerError extends Error {
  readonly kind: string;
  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
  limit: Limit;
  method: string;
}

/** How long a call may take. A notification may move it while the call runs. */
export class Limit {
  milliseconds: number;
  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }
}

export type Notified = (method: string, params: unknown) => void;

export class Runner {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly notified: Notified;
  private readonly waiting = new Map<number, Waiting>();
  private readonly exited: Promise<void>;
  private readonly longestLine: number;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private lastWords = "";
  private nextId = 1;
  private gone: RunnerError | undefined;

  /** Starts the process; a failure to start shows in the first call. */
  constructor(binary: string, notified: Notified, longestLine = LONGEST_LINE) {
    this.notified = notified;
    this.longestLine = longestLine;
    this.child = spawn(binary, ["serve"], { stdio: ["pipe", "pipe", "pipe"], env: environment(), windowsHide: true });
    // Without a listener on the child and each stream, an error of any of them would end Pi.
    this.child.on("error", (error) => this.fail(`cannot be started: ${error.message}`));
    this.child.stdin.on("error", (error) => this.fail(`does not read: ${error.message}`));
    this.child.stdout.on("error", (error) => this.fail(`cannot be read: ${error.message}`));
    this.child.stderr.on("error", () => {});
    this.child.stdout.on("data", (chunk: Buffer) => this.read(chunk));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-LAST_WORDS);
    });
    this.exited = new Promise((resolve) => {
      this.child.once("exit", (code, signal) => {
        const words = lastLine(this.lastWords);
        this.fail(`ended (${signal ?? code})${words ? `: ${words}` : ""}`);
        resolve();
      });
      this.child.once("error", () => resolve());
    });
    // A child that nobody ended must not keep Pi alive: it leaves on its own when its stdin ends.
    this.child.unref();
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) {
      if (stream instanceof Socket) stream.unref();
    }
  }

  get alive(): boolean {
    return this.gone === undefined;
  }

  /** Calls a method. A runner that misses the limit is stuck: it is killed, and every open call fails. */
  async call<M extends keyof Methods>(
    method: M,
    params: Methods[M]["params"],
    limit = new Limit(ORDINARY),
  ): Promise<Methods[M]["result"]> {
    if (this.gone) throw this.gone;
    const id = this.nextId++;
    const line = `${jsonText({ jsonrpc: "2.0", id, method, params })}\n`;
    const result = await new Promise<unknown>((resolve, reject) => {
      const timer = this.watch(method, limit);
      this.waiting.set(id, { resolve, reject, timer, limit, method });
      this.child.stdin.write(line);
    });
    // The runner is of this very package, and its results are the contract's types written by serde.
    return result as Methods[M]["result"];
  }

  /** Starts the clock of the calls that share this limit anew. */
  extend(limit: Limit, milliseconds: number): void {
    limit.milliseconds = milliseconds;
    for (const call of this.waiting.values()) {
      if (call.limit !== limit) continue;
      clearTimeout(call.timer);
      call.timer = this.watch(call.method, limit);
    }
  }

  /** Asks the runner to leave, and kills it when it has not left in time. */
  async end(withinMs: number): Promise<void> {
    this.gone ??= new RunnerError("ended", "the runner was ended");
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill("SIGKILL"), withinMs);
    await this.exited;
    clearTimeout(timer);
    this.rejectAll(this.gone);
  }

  private watch(what: string, limit: Limit): NodeJS.Timeout {
    return setTimeout(() => {
      this.fail(`did not answer ${what} within ${limit.milliseconds} ms`);
    }, limit.milliseconds);
  }

  private read(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.pending.push(chunk.subarray(start, end));
      this.take(Buffer.concat(this.pending).toString("utf8"));
      this.pending = [];
      this.pendingBytes = 0;
      start = end + 1;
    }
    if (start >= chunk.length) return;
    this.pending.push(chunk.subarray(start));
    this.pendingBytes += chunk.length - start;
    // No end of it may ever come, and Pi has the memory of both.
    if (this.pendingBytes > this.longestLine) this.fail(`wrote a line of more than ${this.longestLine} bytes`);
  }

  private take(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.fail("wrote a line that is no JSON");
    }
    if (!isRecord(message)) return;
    if (typeof message.id !== "number") {
      if (typeof message.method === "string") this.notified(message.method, message.params);
      return;
    }
    const call = this.waiting.get(message.id);
    if (!call) return;
    this.waiting.delete(message.id);
    clearTimeout(call.timer);
    if (isRecord(message.error)) call.reject(errorOf(message.error));
    else call.resolve(message.result);
  }

  private fail(what: string): void {
    this.gone ??= new RunnerError("gone", `the runner ${what}`);
    this.child.kill("SIGKILL");
    // What it or a child of its still writes has come too late, and a child sees that nobody is left. Node makes no
    // streams when it runs out of file descriptors.
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream?.destroy();
    this.pending = [];
    this.rejectAll(this.gone);
  }

  private rejectAll(error: RunnerError): void {
    for (const call of this.waiting.values()) {
      clearTimeout(call.timer);
      call.reject(error);
    }
    this.waiting.clear();
  }
}

/** What people are told in place of words that are meant for a host. */
const IN_WORDS: Readonly<Record<string, string>> = {
  "out-of-sync": "the guard lost track of the session and gets it anew with the next call",
  trapped: "the guard broke and starts anew with the next call",
  timeout: "the guard took too long and starts anew with the next call",
  off: "the guard failed several times in a row and is off. /guard on tries again",
};

/** Says for people what went wrong. */
export function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error instanceof RunnerError && IN_WORDS[error.kind]) || error.message;
}

/** The last line of a text that is not blank, without control characters. */
function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.replaceAll(/\p{Cc}+/gu, " ").trim() ?? "";
}

function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(ENVIRONMENT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

function errorOf(error: Record<string, unknown>): RunnerError {
  const kind = isRecord(error.data) && typeof error.data.kind === "string" ? error.data.kind : "protocol";
  return new RunnerError(kind, typeof error.message === "string" ? error.message : "the runner refused the call");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
