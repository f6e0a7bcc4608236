// A Pi extension that sets the clock: "/clock MS" moves what Pi and its extensions take for the time by that many
// milliseconds, back if there is a minus.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const machine = Date.now;

export default function clock(pi: ExtensionAPI): void {
  let ahead = 0;
  pi.registerCommand("clock", {
    description: "Move the clock",
    handler: async (args) => {
      ahead += Number(args.trim());
      Date.now = () => machine() + ahead;
    },
  });
}
