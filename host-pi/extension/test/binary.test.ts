import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findBinary, MissingBinary, type Surroundings } from "../binary.ts";

const root = mkdtempSync(join(tmpdir(), "binary-test-"));
after(() => rmSync(root, { recursive: true }));

/** The SHA-256 of the text "runner". */
const DIGEST = "527aa9f431539da8e151d5434d1d5e611d973f601d8e970790882624554146b0";

/** A published package, in the node_modules of a folder of its own, and the runner's package for linux-x64 beside it. */
function published(name: string, digests: string | undefined, runner: string | undefined): Surroundings {
  const modules = join(root, name, "node_modules");
  const directory = join(modules, "pi-context-guard-wasi");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), "{}");
  if (digests !== undefined) writeFileSync(join(directory, "digests.json"), digests);
  if (runner !== undefined) {
    const folder = join(modules, "pi-context-guard-wasi-linux-x64");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    writeFileSync(join(folder, "context-guard"), runner);
    chmodSync(join(folder, "context-guard"), 0o755);
  }
  return { directory, override: undefined, platform: "linux", arch: "x64", glibc: true };
}

const refused = (says: RegExp) => (error: unknown) => error instanceof MissingBinary && says.test(error.message);

test("the runner with the published digest is found", async () => {
  const place = published("sound", JSON.stringify({ "linux-x64": DIGEST }), "runner");
  assert.match(await findBinary(place), /pi-context-guard-wasi-linux-x64.context-guard$/);
});

test("another one is not started, also when it was sound before", async () => {
  const place = published("changed", JSON.stringify({ "linux-x64": DIGEST }), "runner");
  const path = await findBinary(place);
  writeFileSync(path, "Runner");
  await assert.rejects(findBinary(place), refused(/is not the runner that this version was published with/));
});

test("a Linux without glibc is told as such, where npm has left the runner out", async () => {
  const place = published("musl", JSON.stringify({ "linux-x64": DIGEST }), undefined);
  await assert.rejects(findBinary(place), refused(/omit=optional/));
  await assert.rejects(findBinary({ ...place, glibc: false }), refused(/needs glibc.*CONTEXT_GUARD_BINARY/));
});

test("a machine without a runner, and digests that are none", async () => {
  const place = published("other", JSON.stringify({ "linux-x64": DIGEST }), "runner");
  await assert.rejects(findBinary({ ...place, platform: "freebsd" }), refused(/no runner for freebsd-x64/));
  for (const [name, text] of Object.entries({ broken: "{", empty: "null", list: "[]" })) {
    await assert.rejects(findBinary(published(name, text, "runner")), refused(/no JSON|no runner for linux-x64/));
  }
});

test("sources have the release build, and nothing of it is compared", async () => {
  const place = published("sources", undefined, "another");
  await assert.rejects(findBinary(place), refused(/has sources and no runner/));
  const release = join(root, "sources/node_modules/target/release");
  mkdirSync(release, { recursive: true });
  writeFileSync(join(release, "context-guard"), "any");
  chmodSync(join(release, "context-guard"), 0o755);
  assert.equal(await findBinary(place), join(release, "context-guard"));
});

test("one that the environment names is taken as it is, or refused", async () => {
  const place = published("named", JSON.stringify({ "linux-x64": DIGEST }), "runner");
  assert.equal(await findBinary({ ...place, override: process.execPath }), process.execPath);
  await assert.rejects(findBinary({ ...place, override: "/nonexistent" }), refused(/names no executable file/));
});
