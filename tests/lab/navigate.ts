// A Pi extension that brings /tree to RPC clients: "/navigate ID" moves the session to that entry.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function navigate(pi: ExtensionAPI): void {
  pi.registerCommand("navigate", {
    description: "Move the session to an entry",
    handler: async (args, ctx) => {
      await ctx.navigateTree(args.trim());
    },
  });
}
