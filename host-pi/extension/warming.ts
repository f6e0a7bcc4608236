// What can be seen of Pi's cache warming: it repeats the last request, with one token to answer, before its cache ends.

/** How long after a decision its request may come, in milliseconds: Pi may have to get a key first. */
const REPLAY_WITHIN = 60_000;

export class Warming {
  private decided = Number.NEGATIVE_INFINITY;
  private repeated = false;

  /** The cache has been kept alive since the last request of the conversation. */
  get keptWarm(): boolean {
    return this.repeated;
  }

  /** Pi is about to repeat its last request, or to stop doing so. */
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
    this.repeated = true;
    return true;
  }

  /** A request of the conversation has left: from now on its own cache counts. */
  sent(): void {
    this.repeated = false;
  }
}
