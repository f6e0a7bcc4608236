// The rules P2, P3, T1 to T10 and S2 to S7 of docs/CACHE.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Anthropic } from "./anthropic.mjs";

const MINUTE = 60_000;
const LONG = "x".repeat(4_000);
const mark = (ttl) => ({ cache_control: { type: "ephemeral", ...(ttl && { ttl }) } });
const text = (words, fields) => ({ type: "text", text: words, ...fields });
const user = (...content) => ({ role: "user", content });
const result = (id, words, fields) => ({ type: "tool_result", tool_use_id: id, content: words, ...fields });
const DROP = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
const request = (messages, fields = {}) => ({
  model: "m",
  max_tokens: 9,
  tools: [{ name: "bash", ...mark() }],
  system: [text("Be brief.", mark())],
  messages,
  ...fields,
});

/** A service with a client that sends whole requests and plays the model's turns. */
function talk(facts) {
  const service = new Anthropic(facts);
  const messages = [];
  let n = 0;
  let now = 0;
  return {
    messages,
    pass: (time) => (now += time),
    send(body, turn = { text: "Yes." }, betas = "") {
      n += 1;
      const accepted = service.accept(body, betas, now);
      const answered = service.answer(accepted, turn, { id: `msg_${n}`, n, betas, now });
      return { ...accepted, ...answered, id: `msg_${n}` };
    },
    /** Adds a user's message, sends all and adds the reply. */
    say(message, turn, fields) {
      messages.push(message);
      const answered = this.send(request(messages, fields), turn);
      messages.push({ role: "assistant", content: answered.reply });
      return answered;
    },
  };
}

test("P2 refuses more than four marks", () => {
  const marked = user(...Array.from({ length: 3 }, () => text(LONG, mark())));
  assert.throws(() => talk().send(request([marked])), /5 marks, at most 4/);
});

test("P3 refuses an hour's mark behind a shorter one, in the order tools, system, messages", () => {
  assert.throws(() => talk().send(request([user(text("Go", mark("1h")))])), /messages\.0\.content\.0\.cache_control\.ttl/);
  const head = { tools: [{ name: "bash", ...mark("1h") }], system: [text("Be brief.", mark("1h"))] };
  assert.doesNotThrow(() => talk().send(request([user(text("Go", mark()))], head)));
});

test("refuses a call without its result, and a mark on thinking", () => {
  const calls = talk();
  calls.say(user(text("Go")), { tools: [{ name: "bash", id: "a" }] });
  assert.throws(() => calls.send(request([...calls.messages, user(text("And?"))])), /tool_use a has no tool_result/);
  const thinks = talk();
  thinks.say(user(text("Go")), { thinking: "Hm.", text: "Yes." });
  Object.assign(thinks.messages[1].content[0], mark());
  assert.throws(() => thinks.send(request([...thinks.messages, user(text("And?"))])), /cannot be set for thinking/);
});

test("T2, T9 a continued thread is charged like the whole request", () => {
  const turns = [{ text: LONG, tools: [{ name: "bash", id: "a" }] }, { text: "Done." }];
  const whole = talk({ threads: true });
  const first = user(text(LONG, mark()));
  const second = user(result("a", LONG, mark()));
  whole.say(first, turns[0], { thread: { type: "create" } });
  delete first.content[0].cache_control;
  const expected = whole.say(second, turns[1], { thread: { type: "create" } });

  const threaded = talk({ threads: true });
  const { id } = threaded.send(request([user(text(LONG, mark()))], { thread: { type: "create" } }), turns[0]);
  const { tools: _tools, system: _system, ...rest } = request([second]);
  const continued = threaded.send({ ...rest, thread: { type: "continue", previous_message_id: id } }, turns[1]);
  assert.equal(continued.kind, "continue");
  assert.deepEqual(continued.charge, expected.charge);
  assert.deepEqual(continued.whole.messages, expected.whole.messages.slice(0, -1), "the service knew the rest");
});

test("T6, T7, T10 a thread is continued once, within five minutes, and with the same settings", () => {
  const refusal = (change, { facts = { threads: true }, twice = false, pass = 0, betas = "" } = {}) => {
    const client = talk({ ...facts });
    const { id } = client.send(request([user(text("Go"))], { thread: { type: "create" } }));
    const { tools: _tools, system: _system, ...rest } = request([user(text("And?"))]);
    const body = { ...rest, thread: { type: "continue", previous_message_id: id }, ...change };
    client.pass(pass);
    try {
      client.send(body, undefined, betas);
      if (twice) client.send(body);
    } catch ({ code, message, quiet }) {
      return code ? [code, quiet] : message;
    }
    return undefined;
  };
  assert.equal(refusal({}), undefined);
  assert.equal(refusal({}, { pass: 5 * MINUTE }), undefined);
  assert.deepEqual(refusal({}, { pass: 5 * MINUTE + 1 }), ["thread_not_found", true]);
  assert.deepEqual(refusal({ thread: { type: "continue", previous_message_id: "msg_9" } }), ["thread_not_found", true]);
  assert.deepEqual(refusal({}, { twice: true }), ["thread_already_continued", true]);
  for (const change of [{ model: "other" }, { thinking: { type: "adaptive" } }, { tool_choice: { type: "any" } }]) {
    assert.deepEqual(refusal(change), ["thread_fingerprint_mismatch", true], JSON.stringify(change));
  }
  assert.deepEqual(refusal({}, { betas: "new" }), ["thread_fingerprint_mismatch", true]);
  assert.match(refusal({ system: "Be brief." }), /no system and no tools/);
});

test("T1 an endpoint without threads does not know the field", () => {
  assert.throws(() => talk().send(request([user(text("Go"))], { thread: { type: "create" } })), /thread: Extra inputs/);
});

const thought = { thinking: "Hm.", text: "Look.", tools: [{ name: "bash", id: "a" }] };
const edited = (messages) => messages.map((message, at) => (at === 0 ? user(text("Changed")) : message));

test("S2, S7 thinking behind an edit is dropped, each time, and what comes later stays", () => {
  const client = talk({ binds: true });
  const { dropped } = client.say(user(text("Go")), thought, { thinking: DROP });
  assert.deepEqual(dropped, []);
  client.messages.splice(0, 1, ...edited(client.messages.slice(0, 1)));
  const second = client.say(user(result("a", "ok")), { thinking: "So.", text: "Done." }, { thinking: DROP });
  assert.deepEqual(second.fields.input_transformations, [
    { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_mismatch" },
  ]);
  assert.ok(second.blocks.every((block) => block.kind !== "thinking"), "it is no part of the prompt");
  const third = client.say(user(text("And?")), undefined, { thinking: DROP });
  assert.deepEqual(third.dropped.map(({ path }) => path), ["messages.1.content.0"]);
});

test("S3, S6 without the field the request is refused, whatever changed before the thinking", () => {
  const client = talk({ binds: true });
  client.say(user(text("Go")), thought);
  const next = [...client.messages, user(result("a", "ok"))];
  assert.doesNotThrow(() => client.send(request(next)));
  const why = /messages\.1\.content\.0: Invalid signature.*bound to a different conversation/;
  assert.throws(() => client.send(request(edited(next))), why);
  assert.throws(() => client.send(request(next, { system: "Be long." })), why);
  assert.throws(() => client.send(request(next, { tools: [{ name: "read" }, { name: "bash" }] })), why);
});

test("S6 a mark and what comes later are no part of what thinking is bound to", () => {
  const client = talk({ binds: true });
  client.say(user(text("Go")), thought);
  client.say(user(result("a", "ok")));
  const marked = client.messages.map((message, at) => (at === 0 ? user(text("Go", mark())) : message));
  marked[2] = user(result("a", "changed"));
  assert.doesNotThrow(() => client.send(request([...marked, user(text("And?"))])));
});

test("S10 a model that leaves out the thinking of earlier runs takes an edit from the next run on", () => {
  const client = talk({ binds: true, forgets: true });
  client.say(user(text("Go")), thought);
  client.say(user(result("a", "ok")), { thinking: "So.", text: "Done." });
  const run = client.messages.slice(0, 3);
  assert.throws(() => client.send(request(edited(run))), /bound to a different conversation/);
  const next = edited([...client.messages, user(text("And?"))]);
  const { blocks, dropped } = client.send(request(next));
  assert.deepEqual([blocks.filter(({ kind }) => kind === "thinking"), dropped], [[], []]);
});

test("S4, S5 a model that does not bind takes any thinking of its own, and not the field", () => {
  const client = talk();
  client.say(user(text("Go")), thought);
  const next = edited([...client.messages, user(result("a", "ok"))]);
  assert.doesNotThrow(() => client.send(request(next)));
  assert.throws(() => client.send(request(next, { thinking: DROP })), /block_binding: Extra inputs/);
});

test("M5 effort messages are part of the prompt where the model takes them", () => {
  const effort = { role: "system", content: [], output_config: { effort: "high" } };
  assert.throws(() => talk().send(request([user(text("Go")), effort])), /unexpected role system|last message/);
  const client = talk({ systemMessages: true, binds: true });
  const { charge } = client.send(request([user(text(LONG)), { ...effort }]));
  assert.ok(charge.uncached > 1_000);
  assert.throws(() => client.send(request([effort, user(text("Go"))])), /must precede an 'assistant'/);
});
