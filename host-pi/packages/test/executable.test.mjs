import assert from "node:assert/strict";
import { test } from "node:test";
import { identify } from "../executable.mjs";

/** The beginning of an ELF file with one program header, of that type, which names the text behind it. */
function elf(machine, type, text = "") {
  const bytes = Buffer.alloc(256);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.writeUInt16LE(machine, 18);
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(type, 64);
  bytes.writeBigUInt64LE(128n, 72);
  bytes.writeBigUInt64LE(BigInt(text.length), 96);
  bytes.write(text, 128);
  return bytes;
}

function macho(machine) {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(0xfeedfacf, 0);
  bytes.writeUInt32LE(machine, 4);
  return bytes;
}

function pe(machine) {
  const bytes = Buffer.alloc(256);
  bytes.write("MZ", 0);
  bytes.writeUInt32LE(128, 0x3c);
  bytes.write("PE\0\0", 128);
  bytes.writeUInt16LE(machine, 132);
  return bytes;
}

test("a runner says what it was built for", () => {
  assert.deepEqual(identify(elf(62, 1)), { platform: "linux", arch: "x64" });
  assert.deepEqual(identify(elf(183, 3, "/lib/ld-linux-aarch64.so.1")), { platform: "linux", arch: "arm64", libc: "glibc" });
  assert.deepEqual(identify(elf(62, 3, "/lib/ld-musl-x86_64.so.1")), { platform: "linux", arch: "x64", libc: "musl" });
  assert.deepEqual(identify(macho(0x0100000c)), { platform: "darwin", arch: "arm64" });
  assert.deepEqual(identify(macho(0x01000007)), { platform: "darwin", arch: "x64" });
  assert.deepEqual(identify(pe(0x8664)), { platform: "win32", arch: "x64" });
});

test("what is no program of these machines is refused", () => {
  assert.throws(() => identify(elf(8, 1)), /no package is made for machine 0x8 of linux/);
  for (const text of ["", "#!/bin/sh\nexit 0\n", "MZ", "\x7fELF"]) {
    assert.throws(() => identify(Buffer.from(text, "latin1")), /no executable/);
  }
});
