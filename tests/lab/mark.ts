// A Pi extension that changes breakpoints in every second request: with LAB_MARK=messages it marks the first message, with
// LAB_MARK=tools it takes the mark from the tools.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

type Block = { type: string; text?: string; cache_control?: { type: string } };
type Payload = { tools: Block[]; messages: { content: string | Block[] }[] };

export default function mark(pi: ExtensionAPI): void {
  let requests = 0;
  pi.on("before_provider_request", (event) => {
    requests += 1;
    if (requests % 2 === 1) return undefined;
    const payload = event.payload as Payload;
    if (process.env.LAB_MARK === "tools") {
      for (const tool of payload.tools) delete tool.cache_control;
      return payload;
    }
    const first = payload.messages[0];
    const content = first?.content ?? [];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (first) first.content = blocks.map((block) => ({ ...block, cache_control: { type: "ephemeral" } }));
    return payload;
  });
}
