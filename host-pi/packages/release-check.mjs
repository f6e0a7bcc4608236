// Checks what a release must hold, after `make package`; ends with 1 if something does not.
//
//   node host-pi/packages/release-check.mjs FOLDER_OF_TARBALLS
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const WORKSPACE = fileURLToPath(new URL("../..", import.meta.url));
/** The runner's most bytes on linux x64, the guest inside. */
const MOST_BYTES = 9_000_000;
/** What a guest may import; build.rs refuses others as well. */
const IMPORTS = /^wasi:(io\/|http\/|clocks\/monotonic-clock@)/;
const IN_EVERY_PACKAGE = ["LICENSE", "README.md", "THIRD-PARTY-NOTICES.txt", "package.json"];
const IN_THE_MAIN_PACKAGE = ["CHANGELOG.md", "context-guard.wasm", "digests.json", ...IN_EVERY_PACKAGE];
const IN_A_RUNNERS_PACKAGE = [/^context-guard(\.exe)?$/];

const checks = {
  "one version": versions,
  "contents of the packages": contents,
  "size of the runner": size,
  "imports of the guest": imports,
  "licences and sources of all crates": dependencies,
};

const packages = resolve(process.argv[2] ?? join(WORKSPACE, "target/packages"));
const extracted = mkdtempSync(join(tmpdir(), "release-check-"));
let failed = 0;
try {
  const tarballs = readdirSync(packages).filter((name) => name.endsWith(".tgz"));
  if (tarballs.length === 0) throw new Error(`${packages} has no packages: run \`make package\``);
  const manifests = tarballs.map(extract);
  for (const [name, check] of Object.entries(checks)) {
    try {
      console.log(`✓ ${name}: ${check(manifests)}`);
    } catch (error) {
      failed += 1;
      console.log(`✗ ${name}: ${error.message}`);
    }
  }
} finally {
  rmSync(extracted, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

function extract(tarball) {
  const folder = mkdtempSync(join(extracted, "package-"));
  run("tar", ["-xzf", join(packages, tarball), "-C", folder]);
  const root = join(folder, "package");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { root, manifest, isMain: manifest.optionalDependencies !== undefined };
}

function versions(all) {
  const [, cargo] = /^version = "(.+)"$/m.exec(readFileSync(join(WORKSPACE, "Cargo.toml"), "utf8"));
  const sources = JSON.parse(readFileSync(join(WORKSPACE, "host-pi/package.json"), "utf8")).version;
  if (sources !== cargo) throw new Error(`host-pi/package.json says ${sources}, Cargo.toml ${cargo}`);
  for (const { manifest } of all) {
    if (manifest.version !== cargo) throw new Error(`${manifest.name} is ${manifest.version}, Cargo.toml says ${cargo}`);
    for (const [name, version] of Object.entries(manifest.optionalDependencies ?? {})) {
      if (version !== cargo) throw new Error(`${manifest.name} wants ${name} ${version}, not exactly ${cargo}`);
    }
    if (manifest.scripts) throw new Error(`${manifest.name} has scripts: no package may run any at installing`);
  }
  const changelog = readFileSync(join(WORKSPACE, "CHANGELOG.md"), "utf8");
  const dated = new RegExp(`^## \\[${cargo.replaceAll(".", "\\.")}\\] - \\d{4}-\\d\\d-\\d\\d$`, "m").test(changelog);
  return dated ? cargo : `${cargo}; not dated in CHANGELOG.md yet, where "Unreleased" becomes \`[${cargo}] - DATE\``;
}

function contents(all) {
  for (const { root, manifest, isMain } of all) {
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1).replaceAll("\\", "/"));
    const wanted = isMain ? IN_THE_MAIN_PACKAGE : IN_EVERY_PACKAGE;
    const others = isMain ? [/^extension\/[a-z-]+\.ts$/] : IN_A_RUNNERS_PACKAGE;
    for (const file of wanted) if (!files.includes(file)) throw new Error(`${manifest.name} lacks ${file}`);
    for (const other of others) if (!files.some((file) => other.test(file))) throw new Error(`${manifest.name} lacks ${other}`);
    const strange = files.filter((file) => !wanted.includes(file) && !others.some((other) => other.test(file)));
    if (strange.length > 0) throw new Error(`${manifest.name} has what does not belong there: ${strange.join(", ")}`);
  }
  return all.map(({ manifest }) => manifest.name).join(", ");
}

function size(all) {
  const sizes = runners(all).map(({ manifest, path }) => ({ name: manifest.name, bytes: statSync(path).size }));
  const large = sizes.find(({ name, bytes }) => name.endsWith("-linux-x64") && bytes > MOST_BYTES);
  if (large) throw new Error(`the runner of ${large.name} has ${large.bytes} bytes, and at most ${MOST_BYTES} were promised`);
  return sizes.map(({ name, bytes }) => `${name} ${(bytes / 1e6).toFixed(2)} MB`).join(", ");
}

function imports(all) {
  const here = runners(all).find(({ manifest }) => manifest.name.endsWith(`-${process.platform}-${process.arch}`));
  if (!here) throw new Error(`there is no package for ${process.platform}-${process.arch}, so that none can be started here`);
  const { imports: names } = JSON.parse(run(here.path, ["inspect", "--json"])).guest;
  const strange = names.filter((name) => !IMPORTS.test(name));
  if (strange.length > 0) throw new Error(`the guest imports ${strange.join(", ")}`);
  return `${names.length}, of wasi:io, wasi:clocks/monotonic-clock and wasi:http`;
}

function dependencies() {
  try {
    run("cargo", ["deny", "--version"]);
  } catch {
    throw new Error("cargo-deny is missing: cargo install --locked cargo-deny");
  }
  run("cargo", ["deny", "--log-level", "error", "check", "licenses", "bans", "sources"]);
  return "as .deny.toml allows (known flaws: `cargo deny check advisories`, which needs a network)";
}

function runners(all) {
  return all
    .filter(({ isMain }) => !isMain)
    .map(({ root, manifest }) => {
      const name = manifest.os.includes("win32") ? "context-guard.exe" : "context-guard";
      return { manifest, path: join(root, name) };
    });
}

function run(command, args) {
  try {
    return execFileSync(command, args, { cwd: WORKSPACE, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw new Error(`\`${command} ${args.join(" ")}\` failed\n${error.stdout ?? ""}${error.stderr ?? ""}`.trim());
  }
}
