// Where the runner's executable is, and whether it is the one that this package was published with.
import { webcrypto } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, readdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PACKAGE = "pi-context-guard-wasi";

const AGAIN = `\`pi remove npm:${PACKAGE}\` and \`pi install npm:${PACKAGE}\` bring it anew`;
const OWN = "build one in a checkout (`make build`) and name it in CONTEXT_GUARD_BINARY";

/** Thrown when there is no runner that may be started; the message says what to do. */
export class MissingBinary extends Error {}

/** Where to look, and for what. */
export interface Surroundings {
  /** The root of the extension's package. */
  directory: string;
  /** `CONTEXT_GUARD_BINARY`. */
  override: string | undefined;
  platform: string;
  arch: string;
  /** Whether the C library is there that a Linux runner is linked with. */
  glibc: boolean;
}

/** What starts a program that is linked with glibc. */
const LOADERS: Readonly<Record<string, string>> = {
  "linux-x64": "/lib64/ld-linux-x86-64.so.2",
  "linux-arm64": "/lib/ld-linux-aarch64.so.1",
};

/**
 * Finds the runner: `CONTEXT_GUARD_BINARY`, which is taken as it is; in a published package the one of the platform's own
 * package, if its digest is the published one; in a checkout the release build.
 */
export async function findBinary(surroundings: Surroundings = here()): Promise<string> {
  const { directory, override, platform } = surroundings;
  if (override) {
    // Not another one in its place, so that a typing mistake is seen.
    if (await isExecutable(override)) return override;
    throw new MissingBinary(`CONTEXT_GUARD_BINARY names no executable file: ${override}`);
  }
  const executable = platform === "win32" ? "context-guard.exe" : "context-guard";
  const digests = await publishedDigests(directory);
  return digests ? published(digests, executable, surroundings) : built(executable, directory);
}

function here(): Surroundings {
  const { platform, arch } = process;
  const directory = fileURLToPath(new URL("..", import.meta.url));
  const loader = LOADERS[`${platform}-${arch}`];
  const glibc = loader === undefined || existsSync(loader);
  return { directory, override: process.env.CONTEXT_GUARD_BINARY, platform, arch, glibc };
}

async function built(executable: string, directory: string): Promise<string> {
  const path = join(directory, "..", "target", "release", executable);
  if (await isExecutable(path)) return path;
  throw new MissingBinary(
    `${dirname(directory)} has sources and no runner. \`pi install npm:${PACKAGE}\` brings both; ` +
      "or build one there with `make build`, which needs Rust, or name one in CONTEXT_GUARD_BINARY",
  );
}

async function published(
  digests: ReadonlyMap<string, string>,
  executable: string,
  { directory, platform, arch, glibc }: Surroundings,
): Promise<string> {
  const machine = `${platform}-${arch}`;
  const digest = digests.get(machine);
  if (!digest) throw new MissingBinary(`there is no runner for ${machine}: ${OWN}`);
  const folder = packageFolder(directory, machine);
  if (!folder) throw new MissingBinary(leftOut(machine, await machinesBeside(directory), glibc));
  const path = join(folder, executable);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new MissingBinary(`${path} is missing. ${AGAIN}`);
  if (!(await isExecutable(path))) {
    throw new MissingBinary(`${path} may not be executed. \`chmod +x\` permits it, or ${AGAIN}`);
  }
  // Read anew when it changed, such as by an update while Pi runs.
  const state = `${path} ${digest} ${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
  if (!checked.has(state)) {
    if ((await digestOf(path)) !== digest) {
      throw new MissingBinary(`${path} is not the runner that this version was published with, and is not started. ${AGAIN}`);
    }
    checked.add(state);
  }
  return path;
}

/** What had the published digest in this process. Nothing outlives it: whoever can change the runner could change that, too. */
const checked = new Set<string>();

function leftOut(machine: string, others: readonly string[], glibc: boolean): string {
  if (others.length > 0) {
    return `the runner that is installed is for ${others.join(" and ")}, and this machine is ${machine}. ${AGAIN}`;
  }
  if (!glibc) return `the runner for ${machine} needs glibc, which is not here (as with musl): ${OWN}`;
  return (
    `npm has left out the runner, ${PACKAGE}-${machine}, as it does with \`omit=optional\`. ` +
    `Take that out of npm's settings; then ${AGAIN}`
  );
}

/** The machines whose runner's package lies beside this one, as after a copy from another computer. */
async function machinesBeside(directory: string): Promise<string[]> {
  const names = await readdir(join(directory, "..")).catch(() => []);
  const start = `${PACKAGE}-`;
  return names.filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
}

/** The SHA-256 of each platform's runner; nothing in a checkout, where each build has another one. */
async function publishedDigests(directory: string): Promise<ReadonlyMap<string, string> | undefined> {
  const path = join(directory, "digests.json");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new MissingBinary(`${path} cannot be read. ${AGAIN}`);
  }
  try {
    const digests: unknown = JSON.parse(text);
    return new Map(Object.entries(digests ?? {}).map(([platform, digest]) => [platform, String(digest)]));
  } catch {
    throw new MissingBinary(`${path} is no JSON. ${AGAIN}`);
  }
}

function packageFolder(directory: string, machine: string): string | undefined {
  try {
    const require = createRequire(pathToFileURL(join(directory, "package.json")));
    return dirname(require.resolve(`${PACKAGE}-${machine}/package.json`));
  } catch {
    return undefined;
  }
}

/** Read and hashed by other threads, so that Pi is not held up. */
async function digestOf(path: string): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest("SHA-256", await readFile(path))).toString("hex");
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
