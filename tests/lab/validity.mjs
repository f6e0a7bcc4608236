// Whether a request is one that Anthropic's Messages service would take. Stricter than the service in one point: an
// assistant's message right after another means that something between them was lost, so it is refused.

const MOST_BREAKPOINTS = 4; // the service's limit of cache_control marks in one request
const SIGNATURES = { "image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR" };

/** Says what is wrong with a request's body; undefined when nothing is. "issued" maps the signature of each thinking
 *  block that the model sent to its text. "systemMessages" says whether the model takes system messages between others. */
export function objection(body, issued = new Map(), { systemMessages = false } = {}) {
  try {
    check(systemMessages ? withoutSystemMessages(body) : body, issued);
  } catch (refusal) {
    if (refusal instanceof Refusal) return refusal.message;
    throw refusal;
  }
}

class Refusal extends Error {}

function refuseIf(wrong, why) {
  if (wrong) throw new Refusal(why);
}

/** The body without its system messages, each of which must stand just before a reply or at the end. */
function withoutSystemMessages(body) {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  messages.forEach(({ role }, at) => {
    const next = messages.slice(at + 1).find((later) => later.role !== "system")?.role ?? "assistant";
    refuseIf(role === "system" && next !== "assistant", `messages.${at}: role 'system' must precede an 'assistant' message`);
  });
  return { ...body, messages: messages.filter(({ role }) => role !== "system") };
}

function check(body, issued) {
  const { messages, max_tokens: maxTokens } = body;
  refuseIf(typeof body.model !== "string" || body.model === "", "model: missing");
  refuseIf(!Number.isInteger(maxTokens) || maxTokens < 1, `max_tokens: ${maxTokens} is no positive number`);
  refuseIf(!Array.isArray(messages) || messages.length === 0, "messages: at least one message is required");
  refuseIf(messages[0].role !== "user", "messages.0: the first message must be the user's");
  refuseIf(messages.at(-1).role !== "user", "messages: the last message must be the user's");
  blocksOf(body.system ?? []).forEach((block, at) => checkText(block, `system.${at}`));
  const known = { issued, calls: new Set(), tools: new Set((body.tools ?? []).map((tool) => tool.name)) };
  messages.forEach((message, at) => checkMessage(message, messages[at - 1], `messages.${at}`, known));
  const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
  refuseIf(marks > MOST_BREAKPOINTS, `cache_control: ${marks} marks, at most ${MOST_BREAKPOINTS} are allowed`);
}

function blocksOf(content) {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function checkMessage({ role, content }, before, place, known) {
  refuseIf(role !== "user" && role !== "assistant", `${place}: unexpected role ${role}`);
  refuseIf(role === "assistant" && before?.role === "assistant", `${place}: an assistant's message follows another`);
  refuseIf(typeof content !== "string" && !Array.isArray(content), `${place}: content is missing`);
  const blocks = blocksOf(content);
  refuseIf(blocks.length === 0, `${place}: content is empty`);
  const check = role === "user" ? checkOfUser : checkOfAssistant;
  blocks.forEach((block, at) => check(block, `${place}.content.${at}`, known));
  checkPairs(before?.role === "assistant" ? blocksOf(before.content) : [], blocks, place);
}

function checkPairs(before, blocks, place) {
  const called = before.filter((block) => block.type === "tool_use").map((block) => block.id);
  const answered = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id);
  for (const id of called) refuseIf(!answered.includes(id), `${place}: tool_use ${id} has no tool_result`);
  for (const id of answered) refuseIf(!called.includes(id), `${place}: tool_result ${id} has no tool_use before it`);
  refuseIf(new Set(answered).size < answered.length, `${place}: a tool_use has more than one tool_result`);
  const first = blocks.slice(0, answered.length);
  refuseIf(first.some((block) => block.type !== "tool_result"), `${place}: tool_results must come first`);
}

function checkOfUser(block, place) {
  switch (block.type) {
    case "text":
      return checkText(block, place);
    case "image":
      return checkImage(block, place);
    case "tool_result":
      return blocksOf(block.content ?? []).forEach((inner, at) => {
        const checkInner = inner.type === "image" ? checkImage : checkText;
        checkInner(inner, `${place}.content.${at}`);
      });
    default:
      refuseIf(true, `${place}: a user's message cannot hold ${block.type}`);
  }
}

function checkOfAssistant(block, place, { issued, calls, tools }) {
  switch (block.type) {
    case "text":
      return checkText(block, place);
    case "thinking":
      refuseIf(!block.signature, `${place}: thinking without a signature`);
      return refuseIf(issued.get(block.signature) !== block.thinking, `${place}: thinking does not fit its signature`);
    case "tool_use":
      refuseIf(!/^[\w-]{1,64}$/.test(block.id ?? ""), `${place}: ${block.id} is no id of a tool_use`);
      refuseIf(calls.has(block.id), `${place}: tool_use ${block.id} is not unique`);
      refuseIf(typeof block.input !== "object" || block.input === null, `${place}: input is no object`);
      // A call of a tool that is not there any more is history; without any tools it is refused.
      refuseIf(tools.size === 0, `${place}: tool_use in a request without tools`);
      return calls.add(block.id);
    default:
      refuseIf(true, `${place}: an assistant's message cannot hold ${block.type}`);
  }
}

function checkText({ type, text }, place) {
  refuseIf(type !== "text", `${place}: unexpected ${type}`);
  refuseIf(typeof text !== "string" || text.trim() === "", `${place}: text must not be empty`);
}

function checkImage({ source }, place) {
  const start = SIGNATURES[source?.media_type];
  refuseIf(source?.type !== "base64" || !start, `${place}: ${source?.media_type} is no image of a known kind`);
  refuseIf(!source.data?.startsWith(start), `${place}: the image is no ${source.media_type}`);
}
