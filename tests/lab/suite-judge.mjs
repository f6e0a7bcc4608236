// A classifier for runs that mend a failing suite module by module. It stands for a good classifier; it is not Jev.
//
// It knows nothing of the script. Its one rule is what a careful reader of the question could say:
//
//   A piece is no longer needed when the work on it is done, and stays otherwise.
//
// The work on a piece is done when the question itself marks it as superseded, or when every module that the piece
// is about is done. A module (the files "src/cart.mjs" and "tests/cart.test.mjs" are of the module "cart") is done when
// the agent's notes say "Fixed … in `src/cart.mjs`". A read is about the file that was read, everything else about the files
// that it names. A piece that names no file stays, and so does all of an earlier exchange.
//
// The probabilities are like those that Jev gives at mid-run, which keep away from 0 and 1.
const NEEDED = 0.74;
const DONE = 0.24;
const SURE = 0.7;

/** Answers one question of the guard. */
export function judge(id, question, state) {
  const done = doneModules(state.agent_progress);
  if (state.items?.[id]) return { p: itemIsDone(state.items[id], done) ? DONE : NEEDED };
  if (!state.chunks) return { p: NEEDED };
  const needed = Object.keys(state.chunks).filter((chunk) => !chunkIsDone(state, chunk, done));
  const whole = needed.length === Object.keys(state.chunks).length;
  if (question.type === "choice") return { choice: whole ? "whole" : (needed[0] ?? "none"), confidence: SURE };
  if (id === "keep_whole") return { p: whole ? NEEDED : DONE };
  return { p: needed.includes(id) ? NEEDED : DONE };
}

function chunkIsDone(state, chunk, done) {
  if (state.superseded) return true;
  const { path } = JSON.parse(state.tool_arguments ?? "{}");
  return isDone(path ?? state.chunks[chunk], done);
}

function itemIsDone(item, done) {
  if (item.superseded) return true;
  return isDone(item.tool.startsWith("read ") ? item.tool : item.output, done);
}

function isDone(text, done) {
  const modules = modulesIn(text);
  return modules.length > 0 && modules.every((module) => done.has(module));
}

function doneModules({ latest_note = "", earlier_notes = "" } = {}) {
  const sentences = `${earlier_notes}\n${latest_note}`.split(/(?<=[.!?])\s+/);
  return new Set(sentences.filter((sentence) => sentence.startsWith("Fixed ")).flatMap(modulesIn));
}

function modulesIn(text) {
  return [...text.matchAll(/\b(?:src|tests)\/([\w-]+)(?:\.test)?\.mjs\b/g)].map(([, module]) => module);
}
