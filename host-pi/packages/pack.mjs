// Makes the npm packages: the main one with the extension, and one with only the runner for each platform.
//
//   node host-pi/packages/pack.mjs --binary linux-x64=PATH [--binary …] --component PATH --out DIR [--version VERSION]
//
// The main package names the exact version of each platform's package as an optional dependency, so that npm installs
// the one that fits and skips the others, and holds the SHA-256 of each runner. No package has an install script.
// In front of the tarballs, DIR gets the folders that they are made of. With --version the packages get another
// version than host-pi/package.json says, to try an update.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { identify } from "./executable.mjs";
import { notices } from "./licenses.mjs";

const WORKSPACE = fileURLToPath(new URL("../..", import.meta.url));
const PACKAGE = join(WORKSPACE, "host-pi");

/** The platforms that there are packages for, and what cargo calls them: by that it tells whose crates a runner has. */
const TRIPLES = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
};

export const PLATFORMS = Object.keys(TRIPLES);

/** Packs everything; returns the tarballs, the main package's last, in the order in which they are to be published. */
export function pack({ binaries, component, version, ...rest }) {
  const out = resolve(rest.out);
  const source = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  const manifest = { ...source, version: version ?? source.version };
  rmSync(out, { recursive: true, force: true });
  const runners = Object.entries(binaries).map(([platform, path]) => runnerPackage(manifest, platform, path, out));
  const main = mainPackage(manifest, runners, component, out);
  return [...runners.map(({ folder }) => folder), main].map((folder) => tarball(folder, out));
}

function runnerPackage(manifest, platform, path, out) {
  if (!PLATFORMS.includes(platform)) throw new Error(`"${platform}" is none of ${PLATFORMS.join(", ")}`);
  const bytes = readFileSync(path);
  const built = identify(bytes);
  if (`${built.platform}-${built.arch}` !== platform) {
    throw new Error(`${path} was built for ${built.platform}-${built.arch}, not for ${platform}`);
  }
  const name = `${manifest.name}-${platform}`;
  const folder = emptyFolder(out, name);
  const binary = join(folder, built.platform === "win32" ? "context-guard.exe" : "context-guard");
  writeFileSync(binary, bytes);
  chmodSync(binary, 0o755);
  writeManifest(folder, {
    name,
    version: manifest.version,
    description: `The runner of ${manifest.name} for ${platform}`,
    license: manifest.license,
    os: [built.platform],
    cpu: [built.arch],
    ...(built.libc && { libc: [built.libc] }),
    // Some package managers leave packages zipped, and nothing can be started in there.
    preferUnplugged: true,
  });
  writeFileSync(
    join(folder, "README.md"),
    `# ${name}\n\nThe runner of [${manifest.name}](https://www.npmjs.com/package/${manifest.name}) for ${platform}, which installs it.\n`,
  );
  copyFileSync(join(WORKSPACE, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices(TRIPLES[platform]));
  return { name, platform, folder, digest: createHash("sha256").update(bytes).digest("hex") };
}

function mainPackage(manifest, runners, component, out) {
  const folder = emptyFolder(out, manifest.name);
  // Sources are private, and what their tests need is nothing for users.
  const { private: _, scripts, devDependencies, ...published } = manifest;
  const pinned = runners.map(({ name }) => [name, manifest.version]);
  writeManifest(folder, { ...published, optionalDependencies: Object.fromEntries(pinned) });
  const digests = Object.fromEntries(runners.map(({ platform, digest }) => [platform, digest]));
  writeFileSync(join(folder, "digests.json"), `${JSON.stringify(digests, null, 2)}\n`);
  mkdirSync(join(folder, "extension"));
  for (const name of readdirSync(join(PACKAGE, "extension")).filter((name) => name.endsWith(".ts"))) {
    copyFileSync(join(PACKAGE, "extension", name), join(folder, "extension", name));
  }
  copyFileSync(component, join(folder, "context-guard.wasm"));
  copyFileSync(join(PACKAGE, "README.md"), join(folder, "README.md"));
  copyFileSync(join(WORKSPACE, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices("wasm32-unknown-unknown", ["context-guard"]));
  const changelog = readFileSync(join(WORKSPACE, "CHANGELOG.md"), "utf8");
  writeFileSync(join(folder, "CHANGELOG.md"), withSection(changelog, manifest.version));
  return folder;
}

/**
 * Pi shows the sections of a changelog that are newer than the version before an update, and knows them by the version in
 * their headings. A package that is made before a release has what is unreleased.
 */
export function withSection(changelog, version) {
  return changelog.includes(`\n## [${version}]`) ? changelog : changelog.replace(/^## \[Unreleased\]$/m, `## [${version}]`);
}

function emptyFolder(out, name) {
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function writeManifest(folder, manifest) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function tarball(folder, out) {
  const shell = process.platform === "win32";
  const args = ["pack", folder, "--pack-destination", out, "--json", "--ignore-scripts", "--offline"];
  const [{ filename, size }] = packed(execFileSync("npm", args, { encoding: "utf8", shell, cwd: out }));
  return { file: join(out, filename), bytes: size };
}

/** What `npm pack --json` printed: a list, or in newer ones an object by name. */
function packed(text) {
  const said = JSON.parse(text);
  return Array.isArray(said) ? said : Object.values(said);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      binary: { type: "string", multiple: true },
      component: { type: "string" },
      out: { type: "string" },
      version: { type: "string" },
    },
  });
  if (!values.binary || !values.component || !values.out) throw new Error("--binary, --component and --out are needed");
  const binaries = Object.fromEntries(
    values.binary.map((text) => {
      const [platform, path] = text.split(/=(.*)/s);
      if (!path) throw new Error(`"${text}" is not PLATFORM=PATH`);
      return [platform, path];
    }),
  );
  for (const { file, bytes } of pack({ ...values, binaries })) {
    console.log(`${(bytes / 1e6).toFixed(2).padStart(6)} MB  ${file}`);
  }
}
