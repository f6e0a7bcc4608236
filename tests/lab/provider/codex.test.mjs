// The rules X2, X3, X8, X10 and S9 of docs/CACHE.md.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Codex, eventsOf } from "./codex.mjs";

const LONG = "x".repeat(8_000);
const user = (words) => ({ role: "user", content: [{ type: "input_text", text: words }] });
const result = (call_id, output) => ({ type: "function_call_output", call_id, output });
const request = (input, fields = {}) => ({ model: "m", store: false, prompt_cache_key: "s", input, ...fields });
const thought = { thinking: "Hm.", text: "Look.", tools: [{ name: "bash", id: "a" }] };

function talk(facts) {
  const service = new Codex(facts);
  let n = 0;
  return {
    send(body, turn = { text: "Yes." }, connection = undefined) {
      n += 1;
      const accepted = service.accept(body, connection);
      return { ...accepted, ...service.answer(accepted, turn, { id: `resp_${n}`, n, now: n }, connection), id: `resp_${n}` };
    },
  };
}

test("X2 what is new continues the connection's last reply and is charged like the whole", () => {
  const whole = talk();
  const { output } = whole.send(request([user(LONG)]), thought);
  const expected = whole.send(request([user(LONG), ...output, result("a", LONG)]));

  const client = talk();
  const connection = {};
  const { id } = client.send(request([user(LONG)]), thought, connection);
  const delta = request([result("a", LONG)], { previous_response_id: id });
  const continued = client.send(delta, undefined, connection);
  assert.equal(continued.kind, "delta");
  assert.deepEqual(continued.charge, expected.charge);
  assert.ok(expected.charge.read > 0);
});

test("X3, X4 only the connection's last reply can be continued, and with the same settings", () => {
  const client = talk();
  const connection = {};
  const { id } = client.send(request([user("Go")]), undefined, connection);
  const delta = (fields) => request([user("And?")], { previous_response_id: id, ...fields });
  const lost = { code: "previous_response_not_found", quiet: true };
  assert.throws(() => client.send(delta(), undefined, {}), lost, "another connection");
  assert.throws(() => client.send(delta({ previous_response_id: "resp_9" }), undefined, connection), lost);
  assert.throws(() => client.send(delta({ model: "other" }), undefined, connection), /other settings/);
  client.send(delta(), undefined, connection);
  assert.throws(() => client.send(delta(), undefined, connection), lost, "it was continued already");
});

test("X5 a request that is to be stored is refused", () => {
  assert.throws(() => talk().send(request([user("Go")], { store: true })), /store/i);
});

test("X8 what is not read is written, or plain input where writes are not reported", () => {
  const charged = (facts) => talk(facts).send(request([user(LONG)])).charge;
  const { written } = charged({});
  assert.ok(written > 2_000);
  assert.deepEqual(charged({ reportsWrites: false }), { read: 0, written: 0, writtenLong: 0, uncached: written });
});

test("X10 calls and their outputs come in pairs", () => {
  const client = talk();
  const { output } = client.send(request([user("Go")]), thought);
  const refused = (items, why) => assert.throws(() => client.send(request([user("Go"), ...items])), why);
  refused(output, /No tool output found for function call a/);
  refused([result("b", "ok")], /No tool call found for function call output with call_id b/);
  refused([...output, result("a", "1"), result("a", "2")], /not unique/);
});

test("S9 reasoning behind an edit is removed and reported, each time", () => {
  const client = talk({ binds: true });
  const { output } = client.send(request([user("Go")]), thought);
  const same = client.send(request([user("Go"), ...output, result("a", "ok")]));
  assert.deepEqual(same.removed, []);
  const edited = request([user("Changed"), ...output, result("a", "ok")]);
  const removed = [{ type: "reasoning", id: "rs_1", action: "removed", reason: "prefix_mismatch" }];
  for (const attempt of [1, 2]) assert.deepEqual(client.send(edited).removed, removed, `attempt ${attempt}`);
  assert.deepEqual(talk().send(edited).removed, [], "older models do not bind");
});

test("a reply that comes back without its state is the same reply", () => {
  const client = talk({ binds: true });
  const first = client.send(request([user(LONG)]), thought);
  const second = client.send(request([user(LONG), ...first.output, result("a", LONG)]), { thinking: "So.", text: "Done." });
  const back = [...first.output, result("a", LONG), ...second.output].map(({ status: _status, ...item }) => item);
  const third = client.send(request([user(LONG), ...back, user("And?")]));
  assert.deepEqual(third.removed, []);
  assert.ok(third.charge.read > second.charge.read);
});

test("the events of a reply end with its usage", () => {
  const { output } = talk().send(request([user("Go")]), thought);
  const events = [...eventsOf(output, { id: "resp_1", usage: { input_tokens: 1 }, removed: [] })];
  assert.equal(events[0].type, "response.created");
  assert.deepEqual(events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item), output);
  assert.deepEqual(events.at(-1).response.usage, { input_tokens: 1 });
});
