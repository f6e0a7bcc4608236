// An extension that has nothing to do with the guard but the name of its tool.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function memory(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "recall",
    label: "Recall",
    description: "Remembers what was learnt about the project.",
    parameters: { type: "object", properties: {} },
    execute: async () => ({ content: [{ type: "text", text: "nothing" }], details: undefined }),
  });
}
