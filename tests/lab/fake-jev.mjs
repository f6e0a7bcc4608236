#!/usr/bin/env node
// A fake Jev classifier on loopback that speaks the System One wire protocol. Node >= 22.19, no dependencies.
//
//   node fake-jev.mjs [--rules rules.json] [--judge judge.mjs] [--out ./jev-requests] [--port 0] [--key KEY] [--delay 0]
//
// Route:  POST {any prefix}/systemone   body {model, state, questions}
// It prints {"listening":<port>} when ready and stops on SIGTERM/SIGINT.
//
// rules.json is an array; the first rule that fits a question decides its answer:
//   { "question": "regex on the question id", "state": "regex on the JSON text of the state",
//     "chunk": "regex on the text in state.chunks that the question's id names",   // of a choice: pick that option
//     "item": "regex on the JSON text of what the question's id names in state.items or state.exchanges",
//     "p": 0.93,                        // noul (yes/no): the probability of yes
//     "choice": "secret", "confidence": 0.8,   // choice: the option picked and its share
//     "score": 0.4,                     // score
//     "status": 429, "body": {...}, "headers": {"retry-after": "1"}, "delayMs": 500, "drop": true }
// "status" fails the whole request, "drop" leaves the question unanswered.
// "fault" spoils the answer to the whole request: it is
//   "hang"      never sent
//   "drip"      sent a byte a second
//   "refuse"    replaced by the end of the connection
//   "cut"       cut in the middle, where the connection ends
//   "html"      replaced by a page, with status 200
//   "ids"       given to questions that nobody asked
//   "missing"   without an answer to any question
//   "nan", "infinite", "negative"   full of NaN, 1e999 or numbers below zero in place of probabilities
//   "huge"      followed by 10 MB within the same JSON
//   "utf8"      spoilt by bytes that are no UTF-8
//   "gzip"      compressed, although nobody asked for that
// With --out, every request is kept as NNN.json, and every connection adds a line to the file "connections": when that
// file is absent, not one byte arrived.
// Without a rule the judge answers: a module beside this file whose "judge(id, question, state)" returns what a rule
// would say. Without a judge a noul question gets p = 0.02, a choice its first option at 0.9, a score 0.5.
import { createServer } from "node:http";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const { values: args } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    rules: { type: "string" },
    judge: { type: "string" },
    out: { type: "string" },
    key: { type: "string" },
    delay: { type: "string", default: "0" },
  },
});
const rules = args.rules ? JSON.parse(readFileSync(args.rules, "utf8")) : [];
const judge = args.judge ? (await import(new URL(args.judge, import.meta.url))).judge : () => undefined;
if (args.out) mkdirSync(args.out, { recursive: true });
let served = 0;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const json = (res, status, body, headers = {}) => {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(body));
};

function ruleFor(id, question, state, stateText) {
  const fits = (pattern, text) => pattern === undefined || new RegExp(pattern, "s").test(text);
  const chunkFits = (rule) =>
    rule.chunk === undefined || (question.type === "choice" ? chunkWith(rule.chunk, question, state) : fits(rule.chunk, state.chunks?.[id] ?? ""));
  const item = JSON.stringify(state.items?.[id] ?? state.exchanges?.[id] ?? "");
  const fitting = rules.find((rule) => fits(rule.question, id) && fits(rule.state, stateText) && fits(rule.item, item) && chunkFits(rule));
  return fitting ?? judge(id, question, state);
}

function chunkWith(pattern, question, state) {
  return Object.keys(question.criteria).find((option) => new RegExp(pattern, "s").test(state.chunks?.[option] ?? ""));
}

function answer(question, rule = {}, state) {
  switch (question.type) {
    case "noul":
      return { type: "noul", noul: rule.p ?? 0.02 };
    case "choice": {
      const options = Object.keys(question.criteria);
      const choice = rule.choice ?? (rule.chunk && chunkWith(rule.chunk, question, state)) ?? options[0];
      const confidence = rule.confidence ?? 0.9;
      const rest = options.length > 1 ? (1 - confidence) / (options.length - 1) : 0;
      return { type: "choice", choice, probabilities: Object.fromEntries(options.map((o) => [o, o === choice ? confidence : rest])), confidence };
    }
    case "score":
      return { type: "score", score: rule.score ?? 0.5, confidence: rule.confidence ?? 0.9 };
    default:
      return undefined;
  }
}

const numbers = (text, number) => text.replaceAll(/(?<=:)(0\.\d+|[01])(?=[,}])/g, number);
const plain = (res, body) => {
  res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  res.end(body);
};

/** What becomes of an answer's text under each fault. */
const faults = {
  hang: () => {},
  drip: (res, text) => {
    res.writeHead(200, { "content-type": "application/json" });
    let at = 0;
    const timer = setInterval(() => (at < text.length ? res.write(text[at++]) : res.end()), 1000);
    res.on("close", () => clearInterval(timer));
  },
  refuse: (res) => res.destroy(),
  cut: (res, text) => {
    res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    res.write(text.slice(0, text.length / 2), () => res.destroy());
  },
  html: (res) => {
    res.writeHead(200, { "content-type": "text/html" });
    res.end("<!doctype html><title>Sign in</title><p>Please sign in to the network.");
  },
  ids: (res, text) => plain(res, text.replaceAll(/"(?=(keep_whole|focus|chunk_\d+|item_\d+)":)/g, '"nobody_')),
  missing: (res, text) => plain(res, JSON.stringify({ ...JSON.parse(text), answers: {} })),
  nan: (res, text) => plain(res, numbers(text, "NaN")),
  infinite: (res, text) => plain(res, numbers(text, "1e999")),
  negative: (res, text) => plain(res, numbers(text, "-0.5")),
  huge: (res, text) => plain(res, `${text.slice(0, -1)},"filling":"${"x".repeat(10_000_000)}"}`),
  utf8: (res, text) => plain(res, Buffer.concat([Buffer.from(`${text.slice(0, -1)},"name":"`), Buffer.from([0xff, 0xc3]), Buffer.from('"}')])),
  gzip: (res, text) => {
    res.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    res.end(gzipSync(text));
  },
};

const server = createServer(async (req, res) => {
  if (req.method !== "POST" || !new URL(req.url, "http://loopback").pathname.endsWith("/systemone")) {
    return json(res, 404, { error: "unknown route" });
  }
  const parts = [];
  for await (const part of req) parts.push(part);
  const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
  const n = ++served;
  const stateText = JSON.stringify(body.state);
  const save = (status, answerBody) => {
    if (!args.out) return;
    const headers = { ...req.headers, ...(req.headers.authorization ? { authorization: "Bearer <redacted>" } : {}) };
    writeFileSync(
      join(args.out, `${String(n).padStart(3, "0")}.json`),
      JSON.stringify({ request: { method: req.method, url: req.url, headers, body }, response: { status, body: answerBody } }, null, 1),
    );
  };
  if (args.key && req.headers.authorization !== `Bearer ${args.key}`) {
    save(401, { error: "bad key" });
    return json(res, 401, { error: "bad key" });
  }
  const chosen = Object.entries(body.questions ?? {}).map(([id, question]) => [id, question, ruleFor(id, question, body.state, stateText)]);
  await sleep(Math.max(Number(args.delay), ...chosen.map(([, , rule]) => rule?.delayMs ?? 0)));
  const failing = chosen.find(([, , rule]) => rule?.status)?.[2];
  if (failing) {
    const reply = failing.body ?? { error: "scripted failure" };
    save(failing.status, reply);
    return json(res, failing.status, reply, failing.headers);
  }
  const answers = Object.fromEntries(chosen.filter(([, , rule]) => !rule?.drop).map(([id, question, rule]) => [id, answer(question, rule, body.state)]));
  const reply = { answers, usage: { input_tokens: Math.ceil(stateText.length / 4), output_tokens: chosen.length } };
  save(200, reply);
  const fault = chosen.find(([, , rule]) => rule?.fault)?.[2].fault;
  if (fault) return faults[fault](res, JSON.stringify(reply));
  json(res, 200, reply);
});

server.on("connection", () => {
  if (args.out) appendFileSync(join(args.out, "connections"), "connection\n");
});
server.listen(Number(args.port), "127.0.0.1", () => console.log(JSON.stringify({ listening: server.address().port })));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
