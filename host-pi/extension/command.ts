// The /guard command.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Guard } from "./guard.ts";
import type { Topic } from "./protocol.ts";
import { inWords } from "./runner.ts";
import { show } from "./ui.ts";

export const COMMAND = "guard";

const ARGUMENTS = {
  status: "What the guard saved, and the last pass",
  on: "Switch the guard on",
  off: "Switch the guard off, also in later sessions",
  reload: "Read the settings again",
  allow: "Let the guard ask its classifier over the network",
  deny: "Forbid it",
  preview: "What the next pass would send",
  explain: "Why the last pass kept or removed what it did",
  ledger: "What was sent where, and what it cost",
} as const;

type Argument = keyof typeof ARGUMENTS;

const NAMES = Object.keys(ARGUMENTS).filter(isArgument);

export function registerCommand(pi: ExtensionAPI, guard: Guard): void {
  pi.registerCommand(COMMAND, {
    description: `Context guard: ${NAMES.join(", ")}`,
    getArgumentCompletions: (prefix) =>
      NAMES.filter((name) => name.startsWith(prefix.trim().toLowerCase())).map((name) => ({
        value: name,
        label: name,
        description: ARGUMENTS[name],
      })),
    handler: async (args, ctx) => {
      const given = args.trim().toLowerCase() || "status";
      if (!isArgument(given)) return show(ctx, `Usage: /guard [${NAMES.join("|")}]`, "warning");
      try {
        show(ctx, await answer(given, guard, ctx));
      } catch (error) {
        show(ctx, `The guard could not do that: ${inWords(error)}`, "warning");
      }
    },
  });
}

async function answer(argument: Argument, guard: Guard, ctx: ExtensionContext): Promise<string> {
  switch (argument) {
    case "on":
    case "off":
      await guard.enable(argument === "on", ctx);
      return guard.report("status", ctx);
    case "reload":
      await guard.reload(ctx);
      return guard.report("status", ctx);
    case "allow":
    case "deny": {
      const origin = await guard.grant(argument === "allow", ctx);
      const report = await guard.report("status", ctx);
      return origin ? report : `The classifier needs no network.\n${report}`;
    }
    default: {
      const topic: Topic = argument;
      return guard.report(topic, ctx);
    }
  }
}

function isArgument(text: string): text is Argument {
  return Object.hasOwn(ARGUMENTS, text);
}
