// What can be seen of Pi's cache warming: it repeats the last request, with one token to answer, before its cache ends.

/** How long after a decision its request may come, in milliseconds: Pi may have to get a key first. */
const REPLAY_WITHIN = 60_000;

export class Warming {
  private decided = Number.NEGATIVE_INFINITY;
  private sentAt: number | undefined;
  private repeatedAt: number | undefined;

  /** For how long after the last request of the conversation its cache has been renewed, in whole seconds. */
  get keptFor(): number {
    if (this.sentAt === undefined || this.repeatedAt === undefined) return 0;
    return Math.max(0, Math.ceil((this.repeatedAt - this.sentAt) / 1000));
  }

  /** Pi is about to repeat its last request, or to stop doing so. Times are in milliseconds. */
  decision(now: number): void {
    this.decided = now;
  }

  /**
   * Takes note of a request that is about to leave, and returns whether it is such a repetition. One decision is
   * followed by one at most. A request of the conversation may also have one token left, so that alone says nothing.
   */
  isReplay(payload: unknown, now: number): boolean {
    const tokens: unknown = typeof payload === "object" && payload !== null ? Reflect.get(payload, "max_tokens") : 0;
    if (tokens !== 1 || now - this.decided > REPLAY_WITHIN) return false;
    this.decided = Number.NEGATIVE_INFINITY;
    this.repeatedAt = now;
    return true;
  }

  /** A request of the conversation leaves: from now on its own cache counts. */
  sent(now: number): void {
    this.sentAt = now;
    this.repeatedAt = undefined;
  }
}
