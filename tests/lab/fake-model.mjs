#!/usr/bin/env node
// A scripted chat model on loopback. Node >= 22.19, no dependencies.
//
//   node fake-model.mjs --script turns.json --out ./requests [--port 0] [--delay 0]
//
// Routes:  POST /v1/messages           Anthropic Messages, streamed as SSE
//          POST /v1/chat/completions   OpenAI chat completions, streamed as SSE
//          GET  /requests              how many requests were served, and which script turns are left
// It prints one JSON line {"listening":<port>} when it is ready and stops on SIGTERM/SIGINT.
//
// turns.json is an array. Each request takes the first unused turn whose "match" (a regular expression,
// tested against the text of the last message of the request) fits; a turn without "match" fits always.
// When no turn is left, the "fallback" text answers. A request to /v1/messages that the real service would refuse
// (see validity.mjs) gets status 400, uses no turn, and its record names the reason as "refused".
// A turn has any of these fields:
//   { "match": "regex", "text": "...", "thinking": "...",
//     "tools": [{ "name": "bash", "input": { "command": "ls" } }],
//     "usage": { "input": 100, "output": 20, "cacheRead": 0, "cacheWrite": 0 },   // default: sizes / 4
//     "delayMs": 50, "status": 529, "error": "overloaded", "stop": "max_tokens",
//     "capture": "regex" }      // "$1" in a tool's input stands for its first group, found in any message so far
import { createServer } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { replyOf, streamReply } from "./anthropic-stream.mjs";
import { messageText, outputTokens, Script } from "./script.mjs";
import { objection } from "./validity.mjs";

const { values: args } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    script: { type: "string" },
    out: { type: "string" },
    delay: { type: "string", default: "0" },
    fallback: { type: "string", default: "Done." },
  },
});
const script = Script.read(args.script, args.fallback);
if (args.out) mkdirSync(args.out, { recursive: true });

let served = 0;
const issued = new Map(); // the thinking that was sent, by its signature
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const readBody = async (req) => {
  const parts = [];
  for await (const part of req) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
};

function record(n, api, req, body, refused) {
  if (!args.out) return;
  const headers = { ...req.headers };
  for (const name of ["authorization", "x-api-key"]) if (headers[name]) headers[name] = "<redacted>";
  const file = join(args.out, `${String(n).padStart(3, "0")}-${api}.json`);
  writeFileSync(file, JSON.stringify({ n, at: Date.now(), method: req.method, url: req.url, headers, body, refused }, null, 1));
}

function usageOf(turn, raw) {
  return { input: Math.ceil(raw.length / 4), output: outputTokens(turn), cacheRead: 0, cacheWrite: 0, ...turn.usage };
}

function anthropic(res, turn, usage, model, n) {
  if (turn.thinking) issued.set(`sig-${n}`, turn.thinking);
  streamReply(res, replyOf(turn, n, `sig-${n}`), {
    id: `msg_fake_${n}`,
    model,
    usage: {
      input_tokens: usage.input,
      output_tokens: 1,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
    },
    outputTokens: usage.output,
    stop: turn.stop,
  });
}

function openai(res, turn, usage, model, n) {
  const send = (extra) => res.write(`data: ${JSON.stringify({ id: `chatcmpl-fake-${n}`, object: "chat.completion.chunk", created: 0, model, ...extra })}\n\n`);
  const choice = (delta, finish = null) => send({ choices: [{ index: 0, delta, finish_reason: finish }] });
  res.writeHead(200, { "content-type": "text/event-stream" });
  choice({ role: "assistant", content: "" });
  if (turn.text) choice({ content: turn.text });
  (turn.tools ?? []).forEach((tool, i) => {
    choice({
      tool_calls: [{ index: i, id: tool.id ?? `call_fake_${n}_${i}`, type: "function", function: { name: tool.name, arguments: JSON.stringify(tool.input ?? {}) } }],
    });
  });
  choice({}, turn.tools?.length ? "tool_calls" : "stop");
  send({
    choices: [],
    usage: {
      prompt_tokens: usage.input + usage.cacheRead,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.cacheRead + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cacheRead },
    },
  });
  res.end("data: [DONE]\n\n");
}

const server = createServer(async (req, res) => {
  const path = new URL(req.url, "http://loopback").pathname;
  if (req.method === "GET" && path === "/requests") {
    res.writeHead(200, { "content-type": "application/json" });
    return res.end(JSON.stringify({ served, unusedTurns: script.unused }));
  }
  const api = path.endsWith("/messages") ? "anthropic" : path.endsWith("/chat/completions") ? "openai" : undefined;
  if (req.method !== "POST" || !api) {
    res.writeHead(404, { "content-type": "application/json" });
    return res.end('{"error":{"type":"not_found_error","message":"unknown route"}}');
  }
  const raw = await readBody(req);
  const n = ++served;
  const body = JSON.parse(raw);
  const refused = api === "anthropic" ? objection(body, issued) : undefined;
  record(n, api, req, body, refused);
  const turn = refused ? { status: 400, type: "invalid_request_error", error: refused } : script.next((body.messages ?? []).map(messageText));
  const wait = Number(args.delay) + (turn.delayMs ?? 0);
  if (wait) await sleep(wait);
  if (turn.status) {
    res.writeHead(turn.status, { "content-type": "application/json" });
    return res.end(JSON.stringify({ type: "error", error: { type: turn.type ?? "fake_error", message: turn.error ?? "scripted failure" } }));
  }
  (api === "anthropic" ? anthropic : openai)(res, turn, usageOf(turn, raw), body.model, n);
});

server.listen(Number(args.port), "127.0.0.1", () => console.log(JSON.stringify({ listening: server.address().port })));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
