// What the guard decided, as drafts that Pi appends to the session.
import type { ContextEditableContent, SessionBoundaryDraft, SessionEntry } from "@earendil-works/pi-coding-agent";
import type { Edit, Outcome, Part } from "./contract.ts";
import { isEditable, RECORD_TYPE, recordedBlocks } from "./entries.ts";

/** Thrown for an outcome that Pi would refuse, or that would go out as empty text. */
export class UnusableOutcome extends Error {}

/**
 * Returns the edits and the record as drafts, all of them or none: Pi refuses a whole list, other extensions' drafts
 * included, for one bad member.
 */
export function draftsOf(outcome: Outcome, branch: readonly SessionEntry[]): SessionBoundaryDraft[] {
  const entries = new Map(branch.map((entry) => [entry.id, entry]));
  const drafts: SessionBoundaryDraft[] = outcome.edits.map((edit) => {
    const entry = entries.get(edit.target);
    if (!entry || !isEditable(entry)) throw new UnusableOutcome(`entry ${edit.target} cannot be edited`);
    return { type: "context_edit", targetId: edit.target, replacement: replacementOf(edit, entry) };
  });
  if (outcome.guard_record !== null) {
    drafts.push({ type: "custom", customType: RECORD_TYPE, data: JSON.parse(outcome.guard_record) });
  }
  return drafts;
}

function replacementOf({ target, replacement }: Edit, entry: SessionEntry): { content: ContextEditableContent } | null {
  if (replacement === null) return null;
  const recorded = recordedBlocks(entry);
  const content = replacement.map((part) => blockOf(part, recorded, target));
  // Recorded blocks go back to the entry that they came from, so they are of the kinds that it may hold.
  return { content: content as ContextEditableContent };
}

function blockOf(part: Part, recorded: readonly unknown[], target: string): unknown {
  if ("Text" in part) return { type: "text", text: part.Text };
  const block = recorded[part.Recorded];
  if (block === undefined) throw new UnusableOutcome(`entry ${target} has no block ${part.Recorded}`);
  return block;
}
