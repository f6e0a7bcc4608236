// OpenAI's prompt cache as seen through Codex: no marks, the whole of an earlier prompt must match.
// docs/CACHE.md §6 has the rules (C6, C7).
import { hash, prefixHashes } from "./prompt.mjs";

const LIFE = 30 * 60_000;
/** Tokens that a prompt must have to be read. */
const MINIMUM = 1_024;
/** Tokens of the stable beginning that is still read after an edit. */
const HEAD = 2_560;
const CHARACTERS_A_TOKEN = 4;
/** Reads are whole multiples of it. */
const STEP = 128;

/** The prompts of all sessions, each kept by its `prompt_cache_key`. */
export class AutomaticCache {
  constructor() {
    this.entries = new Map();
  }

  /** What a prompt reads and what not, in tokens; from now on it can be read. */
  charge(blocks, session, now) {
    const all = blocks.reduce((sum, block) => sum + block.tokens, 0);
    const ends = this.#ends(blocks, session);
    const found = ends.findLast((end) => end.upTo >= MINIMUM && this.#alive(end.key, now));
    const head = this.#head(blocks, session);
    const read = found ? found.upTo - (found.upTo % STEP) : head && this.#alive(head, now) ? HEAD : 0;
    for (const end of ends) if (end.upTo <= (found?.upTo ?? 0)) this.#use(end.key, now);
    for (const key of [ends.at(-1)?.key, head]) if (key) this.entries.set(key, now + LIFE);
    return { read, fresh: all - read };
  }

  #ends(blocks, session) {
    const hashes = prefixHashes(blocks.map((block) => block.identity), session);
    let upTo = 0;
    return blocks.map((block, at) => ({ upTo: (upTo += block.tokens), key: hashes[at] }));
  }

  #head(blocks, session) {
    const text = blocks.map((block) => block.identity).join("");
    const length = HEAD * CHARACTERS_A_TOKEN;
    return text.length < length ? undefined : `head ${hash(session + text.slice(0, length))}`;
  }

  #alive(key, now) {
    return (this.entries.get(key) ?? 0) > now;
  }

  #use(key, now) {
    if (this.#alive(key, now)) this.entries.set(key, now + LIFE);
  }
}
