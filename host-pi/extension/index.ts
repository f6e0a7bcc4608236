// The context guard in Pi: replaces the parts of long tool outputs that the work no longer needs by short notes, and
// gives them back through the tool `recall`. Try it: pi -e ./host-pi, then /guard.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { COMMAND, registerCommand } from "./command.ts";
import { Guard } from "./guard.ts";
import { loadHost, tooOld } from "./host.ts";
import { RECALL, registerRecall } from "./recall.ts";
import { rivalIn, standBack } from "./rival.ts";

export default async function contextGuard(pi: ExtensionAPI): Promise<void> {
  const host = await loadHost();
  if (!host) {
    pi.on("session_start", (_event, ctx) => tooOld(ctx));
    return;
  }
  let guard: Guard | undefined;
  pi.on("session_start", (_event, ctx) => {
    const rival = rivalIn(pi, RECALL, COMMAND);
    if (rival) return standBack(ctx, rival);
    guard = new Guard(pi, host);
    registerRecall(pi, guard);
    registerCommand(pi, guard);
    guard.start(ctx);
  });
  pi.on("session_tree", (_event, ctx) => guard?.redraw(ctx));
  pi.on("session_compact", (_event, ctx) => guard?.redraw(ctx));
  pi.on("agent_settled", (_event, ctx) => guard?.redraw(ctx));
  pi.on("turn_end", (event, ctx) => guard?.checkpoint(event, ctx));
  pi.on("agent_before_settle", (event, ctx) => guard?.pass(event, ctx));
  pi.on("before_provider_request", (event, ctx) => guard?.breakpoints.request(event, ctx));
  pi.on("message_end", (event, ctx) => guard?.breakpoints.response(event, ctx));
  pi.on("cache_warming_decision", () => guard?.warming.decision(Date.now()));
  pi.on("session_before_switch", () => guard?.stop());
  pi.on("session_before_fork", () => guard?.stop());
  pi.on("session_shutdown", () => guard?.end());
}
