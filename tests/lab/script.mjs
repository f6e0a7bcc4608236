// The turns of a scripted model, as the head of fake-model.mjs describes them.
import { readFileSync } from "node:fs";

/** The turns of a file, each used once. */
export class Script {
  constructor(turns, fallback) {
    this.turns = turns.map((turn) => ({ ...turn, used: false }));
    this.fallback = { text: fallback };
  }

  static read(file, fallback) {
    return new Script(file ? JSON.parse(readFileSync(file, "utf8")) : [], fallback);
  }

  /** How many turns are left. */
  get unused() {
    return this.turns.filter((turn) => !turn.used).length;
  }

  /** The turn that answers a request with these messages' texts, oldest first. */
  next(texts) {
    const last = texts.at(-1) ?? "";
    const turn = this.turns.find((t) => !t.used && (!t.match || new RegExp(t.match, "s").test(last)));
    if (!turn) return this.fallback;
    turn.used = true;
    return turn.capture ? filledIn(turn, texts) : turn;
  }
}

function filledIn(turn, texts) {
  const found = new RegExp(turn.capture, "s").exec(texts.join("\n"))?.[1] ?? "";
  const fill = (_key, value) => (value === "$1" ? found : value);
  return { ...turn, tools: JSON.parse(JSON.stringify(turn.tools ?? []), fill) };
}

/** The text of a message in Anthropic's or OpenAI's form. */
export function messageText(message) {
  if (typeof message?.content === "string") return message.content;
  return (message?.content ?? []).map((block) => block.text ?? toolResultText(block)).join("\n");
}

function toolResultText({ content }) {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? "").join("\n");
}

/** What the model says in a turn, four characters a token. */
export function outputTokens(turn) {
  const spoken = (turn.text ?? "") + (turn.thinking ?? "") + JSON.stringify(turn.tools ?? []);
  return Math.ceil(spoken.length / 4);
}
