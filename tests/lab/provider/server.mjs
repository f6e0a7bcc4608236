#!/usr/bin/env node
// A scripted provider with a prompt cache, on loopback: Anthropic's Messages service, or the Responses service behind Codex.
// It refuses what the service would refuse and says for each request what was read, written and paid.
//
//   node server.mjs --model model.json --script turns.json --out DIR [--port 0]
//
// model.json: { "scheme": "anthropic" | "codex", "cost": {…},   // dollars per million tokens, as in Pi's models.json
//               "threads": true, "binds": true, "forgets": true, "systemMessages": true, "minimum": 512,   // anthropic.mjs
//               "reportsWrites": true,                                                    // codex.mjs
//               "stepMs": 1000 }                            // how far the clock goes on with each request
// turns.json:  as in ../fake-model.mjs, without "usage" and "delayMs"; "advanceMs" sets the clock on before the turn.
//
// Routes:  POST …/messages           Anthropic Messages, streamed as SSE
//          POST …/codex/responses    Codex over SSE; the same address takes WebSockets
//          POST /clock               {"advanceMs": n} sets the clock on; it never moves by itself
//          GET  /report              the report, also written to DIR/report.jsonl line by line
// A record of the report:
//   { n, at,                                  the request's number from 1, the clock in milliseconds
//     kind,                                   plain, create or continue (Anthropic); full or delta (Codex)
//     replay,                                 whether it is a refresh of the cache (max_tokens 1)
//     prompt, read, written, writtenLong, uncached, output,   tokens; prompt = read + written + uncached
//     cost: { read, write, input, output, total },            dollars
//     marks: [{ place, ttl }],                where cache_control was in the prompt
//     dropped,                                how many blocks of thinking were left out
//     refused, code, quiet }                  why it was refused; quiet where that is part of the protocol
// DIR/NNN-….json holds each request: "body" as sent, "whole" with the earlier part that the service knew.
import { mkdirSync, appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { zstdDecompressSync } from "node:zlib";
// Pi brings it along.
import { WebSocketServer } from "../../../target/pi-host/node_modules/ws/wrapper.mjs";
import { streamReply } from "../anthropic-stream.mjs";
import { messageText, outputTokens, Script } from "../script.mjs";
import { Anthropic } from "./anthropic.mjs";
import { Codex, eventsOf } from "./codex.mjs";
import { priceOf } from "./prices.mjs";
import { Refusal } from "./refusal.mjs";

const { values: args } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    model: { type: "string" },
    script: { type: "string" },
    out: { type: "string" },
  },
});
const model = JSON.parse(readFileSync(args.model, "utf8"));
const script = Script.read(args.script, "Done.");
const service = model.scheme === "codex" ? new Codex(model) : new Anthropic(model);
mkdirSync(args.out, { recursive: true });

const report = [];
let now = 0;
let served = 0;

/** Writes one request down. */
function record(entry, body, whole) {
  report.push(entry);
  appendFileSync(join(args.out, "report.jsonl"), `${JSON.stringify(entry)}\n`);
  const file = join(args.out, `${String(entry.n).padStart(4, "0")}-${model.scheme}.json`);
  // A refusal that is part of the protocol is not among those that fail a test.
  const refused = entry.quiet ? undefined : entry.refused;
  writeFileSync(file, JSON.stringify({ ...entry, refused, body, whole }, null, 1));
}

/** Takes, charges and answers one request. "accept" and "answer" are the service's; gives what the transport sends. */
function serve(body, accept, answer) {
  const n = ++served;
  now += model.stepMs ?? 1_000;
  const replay = body.max_tokens === 1;
  let accepted;
  try {
    accepted = accept();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { message, code, quiet } = refusal;
    record({ n, at: now, kind: "refused", replay, refused: message, code, quiet }, body);
    return { refusal };
  }
  const { whole, blocks } = accepted;
  const texts = (whole.messages ?? whole.input).filter(({ role, type }) => role !== "system" && type !== "configuration_update");
  const turn = replay ? { text: "." } : script.next(texts.map(spoken));
  now += turn.advanceMs ?? 0;
  if (turn.status) {
    const failure = new Refusal(turn.error ?? "scripted failure", { status: turn.status });
    record({ n, at: now, kind: "failed", replay }, body, whole);
    return { refusal: failure };
  }
  const output = replay ? 1 : outputTokens(turn);
  const answered = answer(accepted, turn, n);
  const { charge } = answered;
  const marks = blocks.filter((block) => block.ttl).map(({ place, ttl }) => ({ place, ttl }));
  const dropped = (accepted.dropped ?? accepted.removed).length;
  const prompt = charge.read + charge.written + charge.uncached;
  const cost = priceOf(model.cost, { ...charge, output });
  record({ n, at: now, kind: accepted.kind, replay, prompt, ...charge, output, cost, marks, dropped }, body, whole);
  return { n, turn, output, ...answered };
}

function spoken(message) {
  return typeof message.output === "string" ? message.output : messageText(message);
}

function anthropic(req, res, body) {
  const betas = req.headers["anthropic-beta"] ?? "";
  const id = `msg_${served + 1}`;
  const { refusal, turn, output, reply, usage, fields } = serve(
    body,
    () => service.accept(body, betas, now),
    (accepted, turn, n) => service.answer(accepted, turn, { id, n, betas, now }),
  );
  if (refusal) return refuse(res, refusal);
  streamReply(res, reply, { id, model: body.model, usage, outputTokens: output, stop: turn.stop, fields });
}

function refuse(res, { status, message, code }) {
  res.writeHead(status, { "content-type": "application/json" });
  const type = { 400: "invalid_request_error", 404: "not_found_error", 529: "overloaded_error" }[status] ?? "api_error";
  res.end(JSON.stringify({ type: "error", error: { type, message, details: code ? { error_code: code } : undefined } }));
}

/** The events that answer a request to Codex. */
function* codex(body, connection) {
  const id = `resp_${served + 1}`;
  const { refusal, output, charge, removed, ...rest } = serve(
    body,
    () => service.accept(body, connection),
    (accepted, turn, n) => {
      const { output: items, ...answered } = service.answer(accepted, turn, { id, n, now }, connection);
      return { ...answered, items };
    },
  );
  if (refusal) {
    const { status, message, code = "invalid_request_error" } = refusal;
    return yield { type: "error", status, code, message };
  }
  const input = charge.read + charge.written + charge.uncached;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: charge.read, cache_write_tokens: charge.written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
  yield* eventsOf(rest.items, { id, usage, removed });
}

function codexOverSse(res, body) {
  const events = [...codex(body)];
  const failed = events.find(({ type }) => type === "error");
  if (failed) {
    res.writeHead(failed.status, { "content-type": "application/json" });
    return res.end(JSON.stringify({ error: failed }));
  }
  res.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) res.write(`data: ${JSON.stringify(event)}\n\n`);
  res.end();
}

async function bodyOf(req) {
  const parts = [];
  for await (const part of req) parts.push(part);
  const bytes = Buffer.concat(parts);
  return JSON.parse(req.headers["content-encoding"] === "zstd" ? zstdDecompressSync(bytes) : bytes);
}

const server = createServer(async (req, res) => {
  const path = new URL(req.url, "http://loopback").pathname;
  const json = (value) => {
    res.writeHead(200, { "content-type": "application/json" });
    res.end(JSON.stringify(value));
  };
  if (req.method === "GET" && path === "/report") return json(report);
  const body = req.method === "POST" ? await bodyOf(req) : undefined;
  if (body && path === "/clock") return json({ now: (now += body.advanceMs) });
  if (body && path.endsWith("/messages") && model.scheme === "anthropic") return anthropic(req, res, body);
  if (body && path.endsWith("/codex/responses") && model.scheme === "codex") return codexOverSse(res, body);
  res.writeHead(404, { "content-type": "application/json" });
  res.end('{"error":{"type":"not_found_error","message":"unknown route"}}');
});

new WebSocketServer({ server }).on("connection", (socket) => {
  const connection = {};
  socket.on("message", (data) => {
    const { type: _type, ...body } = JSON.parse(data);
    for (const event of codex(body, connection)) socket.send(JSON.stringify(event));
  });
});

server.listen(Number(args.port), "127.0.0.1", () => console.log(JSON.stringify({ listening: server.address().port })));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
