// Anthropic's prompt cache: entries are prefixes that end at a mark. docs/CACHE.md §2 has the rules (P1 to P11).
import { prefixHashes } from "./prompt.mjs";

const MINUTE = 60_000;
const LIFE = { "5m": 5 * MINUTE, "1h": 60 * MINUTE };
/** Positions that are looked at from a mark, itself included (P4). */
const LOOKBACK = 20;

/** The entries of one model. */
export class PrefixCache {
  constructor({ minimum = 512 } = {}) {
    this.minimum = minimum;
    this.entries = new Map();
  }

  /** What a prompt reads and writes, in tokens; from now on its marks have entries. */
  charge(blocks, now) {
    const row = this.#row(blocks);
    const marks = row.filter((block) => block.ttl);
    const reads = marks.map((mark) => this.#found(row, mark, now)).filter(Boolean);
    const read = reads.reduce((longest, block) => (block.upTo > longest ? block.upTo : longest), 0);
    // Reading a prefix uses the entries of its own prefixes (P5).
    for (const block of row) if (block.upTo <= read) this.#use(block, now);
    const fresh = marks.filter((mark) => mark.upTo > read && mark.upTo >= this.minimum);
    for (const mark of fresh) this.entries.set(mark.key, { ttl: mark.ttl, until: now + LIFE[mark.ttl] });
    const end = (ttl) => fresh.reduce((last, mark) => (ttl.includes(mark.ttl) ? mark.upTo : last), read);
    const all = row.at(-1)?.upTo ?? 0;
    const longEnd = end(["1h"]);
    const writeEnd = Math.max(longEnd, end(["5m", "1h"]));
    return { read, written: writeEnd - read, writtenLong: longEnd - read, uncached: all - writeEnd };
  }

  /** The blocks with the tokens up to their end, their position and the key of an entry that ends there. An entry is
   *  kept apart by the longest TTL up to it (P6). */
  #row(blocks) {
    const hashes = prefixHashes(blocks.map((block) => block.identity));
    let upTo = 0;
    let position = 0;
    let lane = "5m";
    return blocks.map((block, at) => {
      upTo += block.tokens;
      const grouped = block.kind === "tool_use" || block.kind === "tool_result";
      if (at > 0 && !(grouped && blocks[at - 1].kind === block.kind)) position += 1;
      if (block.ttl === "1h") lane = "1h";
      return { ...block, upTo, position, key: `${lane} ${hashes[at]}` };
    });
  }

  #alive(block, now) {
    return (this.entries.get(block.key)?.until ?? 0) > now;
  }

  #found(row, mark, now) {
    return row.findLast(
      (block) => block.upTo <= mark.upTo && mark.position - block.position < LOOKBACK && this.#alive(block, now),
    );
  }

  #use(block, now) {
    const entry = this.entries.get(block.key);
    if (entry && entry.until > now) entry.until = now + LIFE[entry.ttl];
  }
}
