// The hooks around a request to Anthropic: what the guard has marked in it, and what came of that.
import type { BeforeProviderRequestEvent, ExtensionContext, MessageEndEvent } from "@earendil-works/pi-coding-agent";
import type { Connection } from "./connection.ts";
import type { RequestShape } from "./contract.ts";
import { usageOf } from "./entries.ts";
import { ORDINARY, REQUEST, within } from "./limits.ts";
import { modelOf } from "./model.ts";
import { snapshotOf } from "./projection.ts";
import type { Methods } from "./protocol.ts";
import { shapeOf, withBreakpoints } from "./request.ts";
import type { Warming } from "./warming.ts";

const NO_USAGE = { input: 0, output: 0, cache_read: 0, cache_write: 0 };

export class Breakpoints {
  private readonly connection: Connection;
  private readonly warming: Warming;
  private readonly projectFile: (ctx: ExtensionContext) => string | null;
  private readonly patience: number;
  /** The guard was told of a request whose response has not come yet. */
  private awaiting = false;

  /** @param patience How long a request may wait for its breakpoints, in milliseconds. */
  constructor(
    connection: Connection,
    warming: Warming,
    projectFile: (ctx: ExtensionContext) => string | null,
    patience = REQUEST,
  ) {
    this.connection = connection;
    this.warming = warming;
    this.projectFile = projectFile;
    this.patience = patience;
  }

  /**
   * Returns the payload of a request with the guard's breakpoints; nothing where it leaves as it is. It does so as well
   * when the guard does not answer at once, or at all: a request is never held up, and never lost.
   */
  async request({ payload }: BeforeProviderRequestEvent, ctx: ExtensionContext): Promise<unknown> {
    const now = Date.now();
    const replay = this.warming.isReplay(payload, now);
    const { keptFor } = this.warming;
    if (!replay) this.warming.sent(now);
    if (ctx.model?.api !== "anthropic-messages" || this.connection.configuration?.breakpoints === false) return undefined;
    try {
      const shape = shapeOf(payload, replay);
      return shape && (await within(this.patience, this.marked(payload, shape, keptFor, ctx)));
    } catch {
      return undefined;
    }
  }

  /** Tells what the response to the last request used. Nobody waits for it. */
  response({ message }: MessageEndEvent, ctx: ExtensionContext): void {
    if (message.role !== "assistant" || !this.awaiting) return;
    this.awaiting = false;
    const params = { model: `${message.provider}/${message.model}`, usage: usageOf(message.usage) ?? NO_USAGE };
    void this.tell(params, ctx).catch(() => {});
  }

  private async tell(params: Methods["response"]["params"], ctx: ExtensionContext): Promise<void> {
    await this.connection.exclusive(ORDINARY, this.projectFile(ctx), (runner) => runner.call("response", params));
  }

  private marked(payload: unknown, shape: RequestShape, keptFor: number, ctx: ExtensionContext): Promise<unknown> {
    const start = performance.now();
    const late = (): boolean => performance.now() - start > this.patience;
    const project = this.projectFile(ctx);
    return this.connection.exclusive(this.patience, project, async (runner) => {
      if (!this.connection.configuration?.breakpoints) return undefined;
      await this.connection.update(runner, snapshotOf(ctx));
      if (late()) return undefined;
      const model = modelOf(ctx, keptFor);
      const changes = await runner.call("request", { model, shape, now: Date.now() });
      if (!shape.replay) this.awaiting = true;
      if (changes.length === 0) return undefined;
      // The request has left without them, so that the guard is wrong about the cache and has to forget what it knows.
      if (late()) await this.connection.configure(runner, project);
      return withBreakpoints(payload, changes);
    });
  }
}
