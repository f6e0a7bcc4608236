// Programs that take the runner's place.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** Where they are kept; gone after the tests. */
export const folder = mkdtempSync(join(tmpdir(), "runner-"));
after(() => rmSync(folder, { recursive: true }));

/** Writes a runner that does `body` for each line: `call` is the parsed line, `answer` writes a message, `state` stays. */
export function standIn(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    `#!${process.execPath}
const answer = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const state = {};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line);
  ${body}
}).on("close", () => process.exit(0));
`,
  );
  chmodSync(path, 0o755);
  return path;
}
