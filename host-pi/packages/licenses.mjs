// Writes the notices of all crates that the runner and its guest are built from: their licences ask for it. Some are in the
// list only because cargo does not tell apart what the runner is linked with and what compiles its guest.
//
//   node host-pi/packages/licenses.mjs [--target TRIPLE] [--out FILE]
//
// Of a choice of licences MIT is taken where it is one, for its short text. Crates with the same text stand together.
// A crate that is published without its licence's text stands with another one of the same licence; if there is none,
// that is an error.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const WORKSPACE = fileURLToPath(new URL("../..", import.meta.url));
/** The guest and the runner, which holds it. */
const SHIPPED = ["context-guard", "context-guard-pi"];
const NOTICE = /^(licen[cs]e|copying|notice|unlicense)/i;

/** Returns the text of all notices, of the crates that these of ours are built from for a target. */
export function notices(target, ours = SHIPPED) {
  const crates = linked(metadata(target), ours).filter((crate) => crate.source !== null);
  // Keyed by the words alone: the same text is wrapped and indented in many ways.
  const parts = new Map();
  const silent = [];
  for (const crate of crates) {
    const texts = noticesOf(crate);
    if (texts.length === 0) silent.push(crate);
    for (const text of texts) {
      const key = text.toLowerCase().replaceAll(/\s+/g, " ");
      const part = parts.get(key) ?? { text, crates: [] };
      part.crates.push(crate);
      parts.set(key, part);
    }
  }
  for (const crate of silent) {
    const like = [...parts.values()].find((part) => part.crates.some((other) => other.license === crate.license));
    if (!like) throw new Error(`${named(crate)} (${crate.license}) has no text of its licence, nor has a crate like it`);
    like.crates.push(crate);
  }
  const sorted = [...parts.values()]
    .map((part) => ({ text: part.text, names: part.crates.map((crate) => `${named(crate)} (${crate.license})`).sort() }))
    .sort((a, b) => (a.names[0] < b.names[0] ? -1 : 1));
  const head =
    "The context guard is under the MIT licence (see LICENSE). What is here is built from Rust's standard library\n" +
    `(MIT OR Apache-2.0) and from the ${crates.length} crates below, each under its own terms.\n`;
  return [head, ...sorted.map((part) => `${part.names.join("\n")}\n\n${part.text}\n`)].join(`\n${"-".repeat(100)}\n\n`);
}

function metadata(target) {
  const args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
  const options = { cwd: WORKSPACE, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: ["ignore", "pipe", "inherit"] };
  return JSON.parse(execFileSync("cargo", args, options));
}

/** What is reached from these crates without build and test dependencies and without what only runs in the compiler. */
function linked({ packages, resolve }, ours) {
  const crates = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const reached = new Set(packages.filter((crate) => ours.includes(crate.name)).map((crate) => crate.id));
  for (const id of reached) {
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      const isMacro = crates.get(pkg).targets.some((target) => target.kind.includes("proc-macro"));
      if (!isMacro && dep_kinds.some(({ kind }) => kind === null)) reached.add(pkg);
    }
  }
  return [...reached].map((id) => crates.get(id));
}

/** The texts of a crate's licence, of one that may be chosen. */
function noticesOf(crate) {
  const directory = dirname(crate.manifest_path);
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
    .map((entry) => entry.name)
    .sort();
  const mit = names.filter((name) => /mit/i.test(name));
  const isChoice = / OR |\//.test(crate.license) && !crate.license.includes(" AND ");
  const chosen = isChoice && mit.length > 0 ? mit : names;
  return chosen.map((name) => readFileSync(join(directory, name), "utf8").replaceAll("\r\n", "\n").trim());
}

function named(crate) {
  return `${crate.name} ${crate.version}`;
}

function hostTriple() {
  const text = execFileSync("rustc", ["-vV"], { encoding: "utf8" });
  return /^host: (.+)$/m.exec(text)[1];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { target: { type: "string" }, out: { type: "string" } } });
  const text = notices(values.target ?? hostTriple());
  if (values.out) writeFileSync(values.out, text);
  else process.stdout.write(text);
}
