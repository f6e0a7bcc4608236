// Another extension in the guard's place: its TypeScript predecessor, or this very guard installed twice. Two of them would
// edit the same entries, and Pi does not start where two extensions register the same tool while they are loaded. So this one
// registers its own only when all are loaded, and stands back where the name is taken.
import type { ExtensionAPI, ExtensionContext, SessionBoundaryDraft } from "@earendil-works/pi-coding-agent";
import { RECORD_TYPE } from "./entries.ts";

type Tool = ReturnType<ExtensionAPI["getAllTools"]>[number];
type Source = Pick<Tool["sourceInfo"], "origin" | "path" | "source">;

/**
 * Returns what the user is told of another extension that has registered `recall`; nothing where the name is free. Call it
 * before the guard registers its own.
 */
export function rivalIn(pi: ExtensionAPI, tool: string, command: string): string | undefined {
  const source = pi.getAllTools().find(({ name }) => name === tool)?.sourceInfo;
  if (!source) return undefined;
  const named = new RegExp(`^${command}(:\\d+)?$`);
  const isGuard = pi.getCommands().some(({ name, sourceInfo }) => named.test(name) && sourceInfo.path === source.path);
  const why = isGuard
    ? `another context guard is installed, ${nameOf(source)}, and this one stands back`
    : `the tool "${tool}" is that of ${nameOf(source)}, so the guard could give nothing back and does nothing`;
  return `${why}. Remove one of the two${removal(source)}.`;
}

/** Tells the user that this guard leaves everything to the other extension, the status bar included. */
export function standBack(ctx: ExtensionContext, told: string): void {
  if (ctx.hasUI) ctx.ui.notify(`Context guard: ${told}`, "warning");
}

/** Returns whether another guard has just proposed edits of its own. */
export function isEdited(drafts: readonly SessionBoundaryDraft[]): boolean {
  return drafts.some((draft) => draft.type === "custom" && draft.customType === RECORD_TYPE);
}

function nameOf({ origin, source, path }: Source): string {
  return origin === "package" ? source : path;
}

function removal({ origin, source }: Source): string {
  return origin === "package" ? `, such as with \`pi remove ${source}\`` : "";
}
