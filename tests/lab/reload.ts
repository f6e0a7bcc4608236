// A Pi extension that brings /reload to RPC clients, as "/again". Where Pi refuses, it says so.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function reload(pi: ExtensionAPI): void {
  pi.registerCommand("again", {
    description: "Load the extensions anew",
    handler: async (_args, ctx) => {
      await ctx.reload().catch(() => ctx.ui.notify("not now", "info"));
    },
  });
}
