// One session's guard: what Pi tells it, and what Pi is told in return. It decides nothing itself.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type {
  AgentBeforeSettleEvent, BoundaryResult, ExtensionAPI, ExtensionContext, TurnEndEvent,
} from "@earendil-works/pi-coding-agent";
import { MissingBinary } from "./binary.ts";
import { Breakpoints } from "./breakpoints.ts";
import { goesOn } from "./checkpoint.ts";
import { type Credential, findClassifier } from "./classifier.ts";
import { Connection } from "./connection.ts";
import type { Circumstances, Outcome, Phase, Recalled, RecallRequest, Service } from "./contract.ts";
import { draftsOf } from "./edits.ts";
import type { SeenLength } from "./entries.ts";
import { PASS_BEGIN, PASS_GRACE, within } from "./limits.ts";
import { modelOf } from "./model.ts";
import { originalOf } from "./original.ts";
import { askPermission } from "./permission.ts";
import { type Snapshot, snapshotOf } from "./projection.ts";
import type { Topic } from "./protocol.ts";
import { isEdited } from "./rival.ts";
import { inWords, Limit, type Runner, RunnerError } from "./runner.ts";
import { draw, OFF, UNAVAILABLE } from "./status.ts";
import { Notices, onAbort } from "./ui.ts";
import { Warming } from "./warming.ts";

/** How long a hook waits for the runner, in milliseconds: to draw, and to begin a pass. */
const REDRAW_PATIENCE = 1000;
const PASS_PATIENCE = 5000;
const COMMAND_PATIENCE = 15_000;

/** The largest budget that the settings allow, for a runner that does not name the one in force. */
const LONGEST_BUDGET = 600_000;

/** Pi may run a command of the user's to get a key. */
const KEY_LIMIT = 5000;

/** The classifier as it stands at this moment. */
interface Standing {
  name: string;
  service: Service | null;
  credential: Credential | null;
  problem: string | null;
  remedy: string | null;
  /** Where questions would go; none for the built-in judge and while no classifier is found. */
  origin: string | null;
  /** The user has not said yet whether that is allowed. */
  undecided: boolean;
}

/** What Pi's own module gives: dependencies of this one, so that it can be loaded without Pi. */
export interface Host {
  seenLength: SeenLength;
  /** Name of a project's directory for Pi's files. */
  projectDirectory: string;
}

export class Guard {
  readonly warming = new Warming();
  readonly breakpoints: Breakpoints;
  private readonly pi: ExtensionAPI;
  private readonly host: Host;
  private readonly connection: Connection;
  private readonly notices = new Notices();
  private readonly closing = new AbortController();
  /** Closes the dialog when a command answers its question. */
  private readonly answered = new AbortController();
  private asked = false;
  /** Ends the running pass; nothing while none runs. */
  private stopPass: (() => void) | undefined;
  /** The classifier as it last stood. */
  private stood: Standing | undefined;

  constructor(pi: ExtensionAPI, host: Host) {
    this.pi = pi;
    this.host = host;
    this.connection = new Connection(host.seenLength);
    this.breakpoints = new Breakpoints(this.connection, this.warming, (ctx) => this.projectFile(ctx));
  }

  /** Brings the runner up and asks for the permission that is missing, while Pi goes on. */
  start(ctx: ExtensionContext): void {
    void this.openly(ctx, async () => {
      const standing = await this.exclusive(ctx, COMMAND_PATIENCE, (runner) => this.refresh(ctx, runner));
      await this.askOnce(ctx, standing);
    });
  }

  async redraw(ctx: ExtensionContext): Promise<void> {
    await this.openly(ctx, async () => {
      if (!ctx.hasUI || this.off) return;
      await this.exclusive(ctx, REDRAW_PATIENCE, async (runner) => {
        await this.connection.update(runner, snapshotOf(ctx));
        draw(ctx, await runner.call("status", {}));
      });
    });
  }

  /** The pass at the end of a run. Returns nothing for "no change". */
  pass(event: AgentBeforeSettleEvent, ctx: ExtensionContext): Promise<BoundaryResult | undefined> {
    return this.boundary("RunEnd", event, ctx);
  }

  /** The pass at the end of a turn that another one follows. Pi goes on with its edits in the very next request. */
  async checkpoint(event: TurnEndEvent, ctx: ExtensionContext): Promise<BoundaryResult | undefined> {
    return goesOn(event) ? this.boundary("MidRun", event, ctx) : undefined;
  }

  /** Returns the original of what a note stands for; rejects with a reason that the model can act on. */
  async recall(request: RecallRequest, ctx: ExtensionContext): Promise<Recalled[]> {
    try {
      return await this.exclusive(ctx, COMMAND_PATIENCE, async (runner) => {
        await this.connection.update(runner, snapshotOf(ctx));
        return runner.call("recall", request);
      });
    } catch (error) {
      // The guard's own refusal tells the model what to ask instead; of all else the model cannot mend anything.
      if ((error instanceof RunnerError && error.kind === "invalid") || this.closing.signal.aborted) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const original = originalOf(request, ctx.sessionManager.getBranch(), reason);
      if (!original) throw error;
      return original;
    }
  }

  /** Returns a text for people about the session as it is now. */
  report(topic: Topic, ctx: ExtensionContext): Promise<string> {
    return this.exclusive(ctx, COMMAND_PATIENCE, async (runner) => {
      await this.refresh(ctx, runner);
      return runner.call("report", { topic });
    });
  }

  /** Switches the guard on or off, also for later sessions. */
  async enable(enabled: boolean, ctx: ExtensionContext): Promise<void> {
    await this.exclusive(ctx, COMMAND_PATIENCE, (runner) => runner.call("enable", { enabled }));
    await this.reload(ctx);
  }

  /** Reads the settings anew. */
  async reload(ctx: ExtensionContext): Promise<void> {
    this.notices.forget();
    const standing = await this.exclusive(ctx, COMMAND_PATIENCE, async (runner) => {
      await this.connection.configure(runner, this.projectFile(ctx));
      return this.refresh(ctx, runner);
    });
    void this.openly(ctx, () => this.askOnce(ctx, standing));
  }

  /** Allows or denies the classifier's origin. Returns it; nothing when the classifier needs none. */
  async grant(allow: boolean, ctx: ExtensionContext): Promise<string | undefined> {
    this.answered.abort();
    return this.exclusive(ctx, COMMAND_PATIENCE, async (runner) => {
      const { origin, problem } = await this.standing(ctx, runner);
      if (!origin) {
        if (problem) throw new RunnerError("other", `there is nothing to ${allow ? "allow" : "deny"}: ${problem}`);
        return undefined;
      }
      await runner.call("grant", { origin, allow });
      return origin;
    });
  }

  /** Ends a running pass, which keeps all that it asked about. Pi waits for it before it leaves the session. */
  stop(): void {
    this.stopPass?.();
  }

  /** Ends the runner. Nothing of this session is touched afterwards. */
  async end(): Promise<void> {
    this.closing.abort();
    await this.connection.end().catch(() => {});
  }

  private get off(): boolean {
    return this.connection.configuration?.enabled === false;
  }

  private exclusive<T>(ctx: ExtensionContext, patience: number, job: (runner: Runner) => Promise<T>): Promise<T> {
    return this.connection.exclusive(patience, this.projectFile(ctx), job);
  }

  private boundary(
    phase: Phase,
    event: AgentBeforeSettleEvent | TurnEndEvent,
    ctx: ExtensionContext,
  ): Promise<BoundaryResult | undefined> {
    return this.openly(ctx, async () => {
      if (event.outcome !== "completed" || this.off) return undefined;
      if (isEdited(event.entries)) {
        this.notices.warn(ctx, "another context guard is at work as well, and this one leaves the edits to it. Remove one of the two.");
        return undefined;
      }
      const snapshot = { branch: ctx.sessionManager.getBranch(), context: event.context.contextEntries };
      return this.exclusive(ctx, PASS_PATIENCE, async (runner) => {
        if (this.off || (phase === "MidRun" && !(await this.isDue(snapshot, ctx, runner)))) return undefined;
        const outcome = await this.judged(phase, snapshot, ctx, runner);
        for (const warning of outcome?.warnings ?? []) this.notices.warn(ctx, warning);
        const drafts = outcome ? draftsOf(outcome, snapshot.branch) : [];
        if (phase === "MidRun") void this.openly(ctx, async () => draw(ctx, await runner.call("status", {})));
        return drafts.length > 0 ? { entries: [...event.entries, ...drafts] } : undefined;
      });
    });
  }

  /**
   * Returns whether a checkpoint is due, which it is after few turns only. So the classifier is taken to stand as it last
   * did: looking it up may have Pi run a command of the user's.
   */
  private async isDue(snapshot: Snapshot, ctx: ExtensionContext, runner: Runner): Promise<boolean> {
    const standing = this.stood ?? (await this.standing(ctx, runner));
    await runner.call("observe", this.circumstances(ctx, standing));
    await this.connection.update(runner, snapshot);
    const model = modelOf(ctx, this.warming.keptFor);
    return (await runner.call("begin", { phase: "MidRun", model, now: Date.now() })) !== null;
  }

  /** Has the runner make a pass; the user sees it at work and can stop it. */
  private async judged(phase: Phase, snapshot: Snapshot, ctx: ExtensionContext, runner: Runner): Promise<Outcome | null> {
    const { service, credential } = await this.observe(ctx, runner);
    const limit = new Limit(PASS_BEGIN);
    this.stopPass = () => void runner.call("cancel", {}).catch(() => {});
    const unwatch = onAbort(ctx, this.stopPass);
    this.connection.judging = ({ timeout_ms = LONGEST_BUDGET }) => {
      // A pass begins to ask once. A runner that says so over and over would hold Pi for ever.
      this.connection.judging = undefined;
      runner.extend(limit, timeout_ms + PASS_GRACE);
      void this.openly(ctx, async () => {
        draw(ctx, await runner.call("status", {}));
        ctx.ui.setWorkingMessage("Context guard is distilling…");
      });
    };
    try {
      const params = { phase, model: modelOf(ctx, this.warming.keptFor), now: Date.now(), service, credential };
      const { outcome, refusal } = await this.connection.synced(snapshot, (delta) =>
        runner.call("pass", { delta, ...params }, limit),
      );
      if (!refusal) return outcome;
      // The gate's own sentence is exact; the guest could only tell again that something was refused.
      this.notices.warn(ctx, refusal);
      return outcome && { ...outcome, warnings: [] };
    } finally {
      this.connection.judging = undefined;
      this.stopPass = undefined;
      unwatch();
      ctx.ui.setWorkingMessage();
    }
  }

  /** A project's settings count only where the user trusts the project. */
  private projectFile(ctx: ExtensionContext): string | null {
    const path = join(ctx.cwd, this.host.projectDirectory, "context-guard.json");
    return ctx.isProjectTrusted() && existsSync(path) ? path : null;
  }

  /** Tells the guard all that it may need to know now, and draws the status bar. */
  private async refresh(ctx: ExtensionContext, runner: Runner): Promise<Standing | undefined> {
    const warnings = this.connection.configuration?.warnings ?? [];
    if (warnings.length > 0) this.notices.warn(ctx, warnings.join("\n"));
    const standing = this.off ? undefined : await this.observe(ctx, runner);
    await this.connection.update(runner, snapshotOf(ctx));
    if (ctx.hasUI) draw(ctx, await runner.call("status", {}));
    return standing;
  }

  private async observe(ctx: ExtensionContext, runner: Runner): Promise<Standing> {
    const standing = await this.standing(ctx, runner);
    this.stood = standing;
    await runner.call("observe", this.circumstances(ctx, standing));
    const askedNext = standing.undecided && !this.asked && ctx.hasUI;
    if (standing.remedy && !askedNext) this.notices.warn(ctx, standing.remedy);
    return standing;
  }

  private circumstances(ctx: ExtensionContext, { problem, service, origin }: Standing): Circumstances {
    return {
      problem,
      destination: service ? origin : null,
      recall_active: this.pi.getActiveTools().includes("recall"),
      working_directory: ctx.cwd,
    };
  }

  private async standing(ctx: ExtensionContext, runner: Runner): Promise<Standing> {
    const name = this.connection.configuration?.classifier ?? "";
    const found = await within(KEY_LIMIT, findClassifier(ctx.modelRegistry, name, this.connection.apis));
    const none = { name, service: null, credential: null, problem: null, remedy: null, origin: null, undecided: false };
    if ("problem" in found) return { ...none, problem: found.problem, remedy: found.remedy };
    if (found.service.api === "builtin") return { ...none, service: found.service };
    const { origin, state } = await runner.call("permission", { base_url: found.service.base_url });
    if (state === "Granted") return { ...none, ...found, origin };
    const remedy = `nothing is judged, since nothing may be sent to ${origin}. /guard allow permits it.`;
    return { ...none, problem: "network not allowed", remedy, origin, undecided: state === "Unknown" };
  }

  private async askOnce(ctx: ExtensionContext, standing: Standing | undefined): Promise<void> {
    if (!standing?.undecided || !standing.origin || this.asked || !ctx.hasUI) return;
    this.asked = true;
    const { origin, name } = standing;
    const closing = AbortSignal.any([this.closing.signal, this.answered.signal]);
    const answer = await askPermission(ctx, origin, name, closing);
    if (this.closing.signal.aborted) return;
    await this.exclusive(ctx, COMMAND_PATIENCE, async (runner) => {
      if (answer !== "unanswered") await runner.call("grant", { origin, allow: answer === "yes" });
      await this.refresh(ctx, runner);
    });
  }

  /** Fails open: what goes wrong becomes a status and one warning, never an exception in Pi. */
  private async openly<T>(ctx: ExtensionContext, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.closing.signal.aborted) return undefined;
      try {
        this.complain(ctx, error);
      } catch {
        // Pi replaced the session meanwhile: there is nobody left to tell.
      }
      return undefined;
    }
  }

  private complain(ctx: ExtensionContext, error: unknown): void {
    const message = inWords(error);
    const kind = error instanceof MissingBinary ? "gone" : error instanceof RunnerError ? error.kind : undefined;
    if (kind === "gone") {
      draw(ctx, UNAVAILABLE);
      return this.notices.warn(ctx, `unavailable, ${message}`, "unavailable");
    }
    if (kind === "off") {
      draw(ctx, OFF);
      return this.notices.warn(ctx, message, "off");
    }
    // A runner that is still at work draws the status bar when it is done. One that hangs is found to be gone soon after,
    // which is the same trouble.
    if (kind === "busy") return this.notices.warn(ctx, `nothing was changed, ${message}`, "unavailable");
    draw(ctx, UNAVAILABLE);
    this.notices.warn(ctx, `nothing was changed, ${message}`);
  }
}
