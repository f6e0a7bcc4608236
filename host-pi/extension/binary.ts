// Where the runner's executable is.
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXECUTABLE = process.platform === "win32" ? "context-guard.exe" : "context-guard";
const PACKAGE = "pi-context-guard-wasi";

/** Thrown when there is no runner for this machine; the message says what to do. */
export class MissingBinary extends Error {}

/**
 * Finds the runner: `CONTEXT_GUARD_BINARY`, then the platform's own npm package, then the package's `bin`, then
 * the release build of a checkout. A variable that names no executable is an error, so that a typing mistake is seen.
 */
export function findBinary(env: NodeJS.ProcessEnv = process.env): string {
  const override = env.CONTEXT_GUARD_BINARY;
  if (override) {
    if (isExecutable(override)) return override;
    throw new MissingBinary(`CONTEXT_GUARD_BINARY names no executable file: ${override}`);
  }
  const packageDirectory = fileURLToPath(new URL("..", import.meta.url));
  const candidates = [
    fromPlatformPackage(`${PACKAGE}-${process.platform}-${process.arch}`),
    join(packageDirectory, "bin", EXECUTABLE),
    join(packageDirectory, "..", "target", "release", EXECUTABLE),
  ];
  const found = candidates.find((path) => path !== undefined && isExecutable(path));
  if (found) return found;
  throw new MissingBinary(
    `no runner for ${process.platform}-${process.arch}. ` +
      `Install the package again without \`omit=optional\` (npm leaves the runner out with it), ` +
      `or build it with \`cargo build --release\` in a checkout, or name one in CONTEXT_GUARD_BINARY`,
  );
}

function fromPlatformPackage(name: string): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), EXECUTABLE);
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
