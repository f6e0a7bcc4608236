// Checkpoints: passes at the end of a turn that another one follows.
import type { TurnEndEvent } from "@earendil-works/pi-coding-agent";

/** Returns whether the turn called tools. One that did not is the last of its run, and the pass at its end is due instead. */
export function goesOn({ message }: TurnEndEvent): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "toolCall");
}
