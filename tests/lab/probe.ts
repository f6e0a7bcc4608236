// A Pi extension that keeps the guard company: at the end of each run it proposes a record of its own, as any other
// extension may. It stands before the guard, whose answer must not lose it.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function probe(pi: ExtensionAPI): void {
  let runs = 0;
  pi.on("agent_before_settle", (event) => {
    runs += 1;
    return { entries: [...event.entries, { type: "custom", customType: "probe", data: { runs } }] };
  });
}
