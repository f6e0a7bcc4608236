// A turn of the script as the stream of Anthropic's Messages service.

/** The blocks of a reply. "signature" signs the thinking. */
export function replyOf(turn, n, signature) {
  const blocks = [];
  if (turn.thinking) blocks.push({ type: "thinking", thinking: turn.thinking, signature });
  if (turn.text) blocks.push({ type: "text", text: turn.text });
  (turn.tools ?? []).forEach((tool, i) => {
    blocks.push({ type: "tool_use", id: tool.id ?? `toolu_fake_${n}_${i}`, name: tool.name, input: tool.input ?? {} });
  });
  return blocks;
}

/** Streams a reply. "usage" is that of its start, in the service's form; "fields" join the message. */
export function streamReply(res, blocks, { id, model, usage, outputTokens, stop, fields = {} }) {
  const send = (event, data) => res.write(`event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`);
  res.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${id}` });
  const message = { id, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
  send("message_start", { message: { ...message, ...fields } });
  blocks.forEach((block, index) => {
    const { start, deltas } = pieces(block);
    send("content_block_start", { index, content_block: start });
    for (const delta of deltas) send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  });
  const reason = stop ?? (blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn");
  send("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: outputTokens } });
  send("message_stop", {});
  res.end();
}

function pieces(block) {
  switch (block.type) {
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: block.thinking },
          { type: "signature_delta", signature: block.signature },
        ],
      };
    case "tool_use":
      return { start: { ...block, input: {} }, deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }] };
    default:
      return { start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: block.text }] };
  }
}
