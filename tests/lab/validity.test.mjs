import assert from "node:assert/strict";
import { test } from "node:test";
import { objection } from "./validity.mjs";

const user = (...content) => ({ role: "user", content });
const assistant = (...content) => ({ role: "assistant", content });
const text = (words) => ({ type: "text", text: words });
const call = (id) => ({ type: "tool_use", id, name: "bash", input: {} });
const result = (id, ...content) => ({ type: "tool_result", tool_use_id: id, content });
const thinking = (words, signature) => ({ type: "thinking", thinking: words, signature });
const image = (data, media_type = "image/png") => ({ type: "image", source: { type: "base64", media_type, data } });
const PNG = "iVBORw0KGgoAAAA=";
const request = (messages, fields = {}) => ({ model: "m", max_tokens: 9, tools: [{ name: "bash" }], messages, ...fields });

const taken = {
  "a plain prompt": [{ role: "user", content: "Hello" }],
  "two prompts in a row": [user(text("[context-guard] Omitted …")), user(text("Next"))],
  "calls with their results": [user(text("Go")), assistant(call("a"), call("b")), user(result("b", text("2")), result("a"), text("More"))],
  "an image in a result": [user(text("Go")), assistant(call("a")), user(result("a", text("shot"), image(PNG)))],
  "thinking as it was sent": [user(text("Go")), assistant(thinking("Hm.", "sig-1"), text("Yes.")), user(text("Go on"))],
};
for (const [name, messages] of Object.entries(taken)) {
  test(`takes ${name}`, () => assert.equal(objection(request(messages), new Map([["sig-1", "Hm."]])), undefined));
}

const go = user(text("Go"));
const refused = {
  "no message": [[], /at least one/],
  "an assistant at the start": [[assistant(text("Hi")), go], /first message/],
  "an assistant at the end": [[go, assistant(text("Hi"))], /last message/],
  "two assistants in a row": [[go, assistant(text("a")), assistant(text("b")), go], /follows another/],
  "another role": [[go, { role: "system", content: [] }, go], /unexpected role system/],
  "an empty message": [[user()], /content is empty/],
  "blank text": [[user(text(" \n"))], /text must not be empty/],
  "blank text in a result": [[go, assistant(call("a")), user(result("a", text("")))], /content\.0\.content\.0: text/],
  "a call without a result": [[go, assistant(call("a")), go], /tool_use a has no tool_result/],
  "a result in the wrong message": [[go, assistant(call("a")), go, user(result("a"))], /tool_use a has no tool_result/],
  "a result without a call": [[go, assistant(text("Hi")), user(result("a"))], /tool_result a has no tool_use/],
  "a result twice": [[go, assistant(call("a")), user(result("a"), result("a"))], /more than one/],
  "a result after text": [[go, assistant(call("a")), user(text("x"), result("a"))], /must come first/],
  "a call twice": [[go, assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))], /not unique/],
  "thinking without a signature": [[go, assistant(thinking("Hm.", "")), go], /without a signature/],
  "thinking that was changed": [[go, assistant(thinking("Ha.", "sig-1")), go], /does not fit/],
  "an image of another kind": [[user(image(PNG, "image/jpeg"))], /is no image\/jpeg/],
  "an image of an unknown kind": [[user(image(PNG, "image/bmp"))], /no image of a known kind/],
};
for (const [name, [messages, why]] of Object.entries(refused)) {
  test(`refuses ${name}`, () => assert.match(objection(request(messages), new Map([["sig-1", "Hm."]])) ?? "", why));
}

test("refuses calls in a request without tools", () => {
  assert.match(objection(request([go, assistant(call("a")), user(result("a"))], { tools: [] })) ?? "", /without tools/);
});

test("refuses more than four cache marks", () => {
  const marked = { ...text("x"), cache_control: { type: "ephemeral" } };
  assert.match(objection(request([user(...Array(5).fill(marked))])) ?? "", /5 marks/);
  assert.equal(objection(request([user(...Array(4).fill(marked))])), undefined);
});

test("takes system messages only where the model does, and only just before a reply", () => {
  const system = { role: "system", content: [text("Now in French.")] };
  const asked = (messages) => objection(request(messages), new Map(), { systemMessages: true });
  assert.equal(asked([go, system, assistant(text("Oui.")), go, system]), undefined);
  assert.equal(asked([go, assistant(call("a")), user(result("a")), system]), undefined);
  assert.match(asked([go, system, go]) ?? "", /messages\.1: role 'system' must precede/);
  assert.match(asked([go, assistant(call("a")), system, user(result("a"))]) ?? "", /must precede/);
});
