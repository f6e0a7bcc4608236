// OpenAI's prompt cache as seen through Codex: no marks, and only the whole of a session's last prompt can be read.
// docs/CACHE.md §6 has the rules (X6, X7).
import { hash, prefixHashes } from "./prompt.mjs";

const LIFE = 30 * 60_000;
/** Tokens that a prompt must have to be read. */
const MINIMUM = 1_024;
/** Tokens of the stable beginning that is still read after an edit. */
const HEAD = 2_560;
const CHARACTERS_A_TOKEN = 4;
/** Reads are whole multiples of it. */
const STEP = 128;

/** The last prompt of each session, which is told apart by its `prompt_cache_key`. */
export class AutomaticCache {
  constructor() {
    this.last = new Map();
  }

  /** What a prompt reads and what not, in tokens; from now on it is its session's last one. */
  charge(blocks, session, now) {
    const hashes = prefixHashes(blocks.map((block) => block.identity));
    const all = blocks.reduce((sum, block) => sum + block.tokens, 0);
    const head = headOf(blocks);
    const last = this.last.get(session);
    this.last.set(session, { whole: hashes.at(-1), head, tokens: all, until: now + LIFE });
    const read = last && last.until > now ? readable(last, hashes, head) : 0;
    return { read, fresh: all - read };
  }
}

function readable(last, hashes, head) {
  if (last.tokens >= MINIMUM && hashes.includes(last.whole)) return last.tokens - (last.tokens % STEP);
  return head !== undefined && head === last.head ? HEAD : 0;
}

/** The hash of the stable beginning; none where the prompt is shorter. */
function headOf(blocks) {
  const text = blocks.map((block) => block.identity).join("");
  const length = HEAD * CHARACTERS_A_TOKEN;
  return text.length < length ? undefined : hash(text.slice(0, length));
}
