#!/usr/bin/env node
// An npm registry on loopback that serves the tarballs of one folder. Node >= 22.19, no dependencies.
//
//   node fake-registry.mjs --dir ./tarballs --out ./registry [--port 0]
//
// A package is published by putting its tarball there. It knows nothing but those packages: anything else is a 404, so
// that a test cannot install what it did not make.
// It prints {"listening":<port>} when ready and stops on SIGTERM/SIGINT. Nothing is written to OUT, which all servers here take.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";

const { values: args } = parseArgs({
  options: { dir: { type: "string" }, out: { type: "string" }, port: { type: "string", default: "0" } },
});

/** The package.json inside an npm tarball. */
function manifestOf(tgz) {
  const tar = gunzipSync(tgz);
  for (let at = 0; at + 512 <= tar.length; ) {
    const text = (from, length) => tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const name = text(0, 100);
    if (!name) break;
    const size = Number.parseInt(text(124, 12).trim(), 8);
    if (/^[^/]+\/package\.json$/.test(name)) return JSON.parse(tar.toString("utf8", at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error("no package.json in the tarball");
}

const read = new Map(); // file -> what is in it

function published() {
  const files = readdirSync(args.dir).filter((file) => file.endsWith(".tgz"));
  return files.map((file) => {
    if (!read.has(file)) {
      const bytes = readFileSync(join(args.dir, file));
      read.set(file, { file, bytes, manifest: manifestOf(bytes) });
    }
    return read.get(file);
  });
}

function packument(name, base) {
  const releases = published().filter(({ manifest }) => manifest.name === name);
  if (releases.length === 0) return undefined;
  const versions = releases.map(({ file, bytes, manifest }) => [
    manifest.version,
    {
      ...manifest,
      hasInstallScript: Boolean(manifest.scripts?.preinstall || manifest.scripts?.install || manifest.scripts?.postinstall),
      dist: {
        tarball: `${base}/-/tarball/${file}`,
        shasum: createHash("sha1").update(bytes).digest("hex"),
        integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}`,
      },
    },
  ]);
  const latest = versions.map(([version]) => version).sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  return { name, "dist-tags": { latest }, versions: Object.fromEntries(versions) };
}

const server = createServer((req, res) => {
  const base = `http://${req.headers.host}`;
  const path = decodeURIComponent(new URL(req.url, base).pathname).slice(1);
  const send = (status, type, body) => (res.writeHead(status, { "content-type": type }), res.end(body));
  const missing = () => send(404, "application/json", '{"error":"not found"}');
  if (req.method !== "GET") return missing();
  if (path.startsWith("-/tarball/")) {
    const found = published().find(({ file }) => file === path.slice("-/tarball/".length));
    return found ? send(200, "application/octet-stream", found.bytes) : missing();
  }
  const found = packument(path, base);
  return found ? send(200, "application/json", JSON.stringify(found)) : missing();
});

server.listen(Number(args.port), "127.0.0.1", () => console.log(JSON.stringify({ listening: server.address().port })));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
