// Keeps one runner going, and what it holds in step with the session.
import { findBinary } from "./binary.ts";
import type { Configuration, Delta } from "./contract.ts";
import type { SeenLength } from "./entries.ts";
import { Projection, type Snapshot } from "./projection.ts";
import type { Judging } from "./protocol.ts";
import { Runner, RunnerError } from "./runner.ts";

/** Pauses before a runner that died is started again, in milliseconds: doubled each time, until an update succeeds. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

/** How long the runner may take to leave, in milliseconds. Pi waits for it. */
const LEAVE = 1000;

export class Connection {
  /** The settings in force; none before the runner first answered. */
  configuration: Configuration | undefined;
  /** The wire protocols that a classifier may speak. */
  apis: readonly string[] = [];
  /** Called when the running pass begins to ask. */
  judging: ((judging: Judging) => void) | undefined;

  private readonly projection: Projection;
  private runner: Runner | undefined;
  private pause = FIRST_PAUSE;
  private startAfter = 0;
  private tail: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(seenLength: SeenLength) {
    this.projection = new Projection(seenLength);
  }

  /**
   * Runs one job at a time, since each delta builds on the one before it, with a runner that is up.
   *
   * @param patience How long to wait for the jobs before it, in milliseconds; then the job is not run at all.
   * @param project The project's own settings file, where the user trusts the project.
   */
  exclusive<T>(patience: number, project: string | null, job: (runner: Runner) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        reject(new RunnerError("busy", "the runner is busy"));
      }, patience);
      this.tail = this.tail.then(async () => {
        clearTimeout(timer);
        if (late) return;
        await this.connected(project).then(job).then(resolve, reject);
      });
    });
  }

  /** Reads the settings anew. */
  async configure(runner: Runner, project: string | null): Promise<Configuration> {
    const { configuration } = await runner.call("configure", { project });
    this.configuration = configuration;
    return configuration;
  }

  update(runner: Runner, snapshot: Snapshot): Promise<null> {
    return this.synced(snapshot, (delta) => runner.call("update", delta));
  }

  /** Makes a call that carries what changed; again with the whole session when the guard holds another one. */
  async synced<T>(snapshot: Snapshot, call: (delta: Delta) => Promise<T>): Promise<T> {
    try {
      const result = await call(this.projection.delta(snapshot)).catch((error: unknown) => {
        this.projection.forget();
        if (!(error instanceof RunnerError && error.kind === "out-of-sync")) throw error;
        return call(this.projection.delta(snapshot));
      });
      this.pause = FIRST_PAUSE;
      return result;
    } catch (error) {
      this.projection.forget();
      throw error;
    }
  }

  async end(): Promise<void> {
    this.closed = true;
    await this.runner?.end(LEAVE);
  }

  private async connected(project: string | null): Promise<Runner> {
    if (this.closed) throw ended();
    if (this.runner?.alive) return this.runner;
    // A clock that somebody sets would have it wait for as long as it was set back.
    if (performance.now() < this.startAfter) throw new RunnerError("gone", "the runner ended; it is started again soon");
    this.startAfter = performance.now() + this.pause;
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    this.projection.forget();
    const binary = await findBinary();
    // The session may have ended while the runner's digest was taken.
    if (this.closed) throw ended();
    const runner = new Runner(binary, (method, params) => this.hear(method, params));
    this.runner = runner;
    this.apis = (await runner.call("hello", {})).apis;
    await this.configure(runner, project);
    return runner;
  }

  private hear(method: string, params: unknown): void {
    if (method === "judging" && typeof params === "object" && params !== null) this.judging?.(params as Judging);
  }
}

function ended(): RunnerError {
  return new RunnerError("ended", "the session has ended");
}
