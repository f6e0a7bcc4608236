// What the guard was told of the session, and what it has yet to be told.
import type { ExtensionContext, ProjectedSessionEntry, SessionEntry } from "@earendil-works/pi-coding-agent";
import type { Delta, View, Visible } from "./contract.ts";
import { entryOf, type SeenLength, viewOf } from "./entries.ts";
import { jsonText } from "./text.ts";

/** One session as Pi has it at a moment: the whole active branch, root first, and the context made from it. */
export interface Snapshot {
  branch: readonly SessionEntry[];
  context: readonly ProjectedSessionEntry[];
}

/** Takes the session as it is now. */
export function snapshotOf({ sessionManager }: ExtensionContext): Snapshot {
  return { branch: sessionManager.getBranch(), context: sessionManager.buildSessionProjection().entries };
}

/**
 * Pi's log is append-only, so a call carries what is new since the last one. Each item is remembered by a key: a
 * branch entry by its id, a visible entry by its id and its view.
 */
export class Projection {
  private branch: string[] = [];
  private context: string[] = [];
  private readonly seenLength: SeenLength;

  constructor(seenLength: SeenLength) {
    this.seenLength = seenLength;
  }

  /** The guard holds nothing any more: the next delta is the whole session. */
  forget(): void {
    this.branch = [];
    this.context = [];
  }

  /** Returns what changed, and takes it as told. Call `forget` when the guard turns out not to have it. */
  delta({ branch, context }: Snapshot): Delta {
    const recorded = new Set(branch.map((entry) => entry.id));
    // An entry that stands for several messages has no single content that an edit could replace.
    const fixed = new Set(
      context.filter((entry) => isMessage(entry) && entry.messages.length > 1).map((entry) => entry.sourceEntry.id),
    );

    const branchKeys = branch.map((entry) => (fixed.has(entry.id) ? `${entry.id} fixed` : entry.id));
    const keepBranch = commonStart(this.branch, branchKeys);
    const appended = branch.slice(keepBranch).map((e) => entryOf(e, fixed.has(e.id), this.seenLength));

    const visible = context
      // What another handler only proposed stands here under an id that the session will never use.
      .filter((entry) => recorded.has(entry.sourceEntry.id))
      .flatMap((entry) => visibleOf(entry, fixed.has(entry.sourceEntry.id)));
    const contextKeys = visible.map(({ id, view }) => `${id} ${typeof view === "string" ? view : jsonText(view)}`);
    const keepContext = commonStart(this.context, contextKeys);

    this.branch = branchKeys;
    this.context = contextKeys;
    return {
      keep_branch: keepBranch,
      branch: appended,
      keep_context: keepContext,
      context: visible.slice(keepContext),
    };
  }
}

function visibleOf(entry: ProjectedSessionEntry, fixed: boolean): Visible[] {
  const view: View | undefined = viewOf(entry, fixed);
  return view === undefined ? [] : [{ id: entry.sourceEntry.id, view }];
}

function isMessage({ sourceEntry }: ProjectedSessionEntry): boolean {
  return sourceEntry.type === "message" || sourceEntry.type === "custom_message";
}

function commonStart(before: readonly string[], now: readonly string[]): number {
  const end = Math.min(before.length, now.length);
  let kept = 0;
  while (kept < end && before[kept] === now[kept]) kept++;
  return kept;
}
