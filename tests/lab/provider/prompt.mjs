// A prompt as the caches see it: a row of blocks, each with what identifies it and how many tokens it has.
//
// Tokens are counted by a rule, not by a tokenizer: four characters of a block's JSON a token, an image 1,500.
import { createHash } from "node:crypto";

const CHARACTERS_A_TOKEN = 4;
const IMAGE_TOKENS = 1_500;

/** The block's JSON without marks. A string content is the same as one text block: the service takes them for equal. */
export function identity(value) {
  return JSON.stringify(value, (key, inner) => {
    if (key === "cache_control") return undefined;
    if (key === "content" && typeof inner === "string") return [{ type: "text", text: inner }];
    return inner;
  });
}

/** The tokens of a block. */
export function tokensOf(value) {
  let images = 0;
  const text = JSON.stringify(value, (key, inner) => {
    if (key === "cache_control") return undefined;
    if (inner?.type !== "image" && inner?.type !== "input_image") return inner;
    images += 1;
    return undefined;
  });
  return Math.ceil((text ?? "").length / CHARACTERS_A_TOKEN) + images * IMAGE_TOKENS;
}

/** A hash of a text. */
export function hash(text) {
  return createHash("sha256").update(text).digest("base64url");
}

/** The hash of each prefix of a row of blocks: the n-th covers blocks 0 to n. */
export function prefixHashes(identities, start = "") {
  let before = hash(start);
  return identities.map((text) => (before = hash(before + text)));
}

/** The blocks of an Anthropic request in the order of its cache: tools, system, messages. The settings that belong to
 *  the key of the messages are part of their first block. */
export function anthropicBlocks({ model, tools = [], system = [], messages, thinking, output_config, tool_choice }) {
  const block = (place, role, value) => ({
    place,
    kind: value.type,
    identity: role + identity(value),
    tokens: tokensOf(value),
    ttl: value.cache_control && (value.cache_control.ttl === "1h" ? "1h" : "5m"),
  });
  const list = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
  const head = [
    ...tools.map((tool, at) => block(`tools.${at}`, "tools", tool)),
    ...list(system).map((part, at) => block(`system.${at}`, "system", part)),
  ];
  const body = messages.flatMap(({ role, content, ...fields }, m) => {
    const blocks = list(content).map((part, at) => block(`messages.${m}.content.${at}`, role, part));
    // An effort message has no block of its own; it takes part in the prompt all the same.
    return blocks.length > 0 ? blocks : [block(`messages.${m}`, role, fields)];
  });
  if (head[0]) head[0].identity = model + head[0].identity;
  if (body[0]) body[0].identity = JSON.stringify([model, thinking, output_config, tool_choice]) + body[0].identity;
  return [...head, ...body];
}
