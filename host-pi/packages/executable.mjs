// What an executable was built for, as the first bytes of it say.

const ARCHITECTURES = {
  elf: { 62: "x64", 183: "arm64" },
  macho: { 0x01000007: "x64", 0x0100000c: "arm64" },
  pe: { 0x8664: "x64", 0xaa64: "arm64" },
};

/** The program header that names the dynamic linker. A static program has none. */
const PT_INTERP = 3;

/**
 * Returns what a binary runs on: `platform` and `arch` in Node's words, and `libc` in npm's where it needs one.
 *
 * @param {Buffer} bytes
 * @returns {{ platform: string, arch: string, libc?: string }}
 */
export function identify(bytes) {
  try {
    if (bytes.readUInt32BE(0) === 0x7f454c46) return elf(bytes);
    if (bytes.readUInt32LE(0) === 0xfeedfacf) return of("darwin", ARCHITECTURES.macho, bytes.readUInt32LE(4));
    if (bytes.toString("latin1", 0, 2) === "MZ") {
      const header = bytes.readUInt32LE(0x3c);
      if (bytes.toString("latin1", header, header + 4) === "PE\0\0") {
        return of("win32", ARCHITECTURES.pe, bytes.readUInt16LE(header + 4));
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new Error("this is no executable of Linux, macOS or Windows");
}

function elf(bytes) {
  const found = of("linux", ARCHITECTURES.elf, bytes.readUInt16LE(18));
  const [start, size, count] = [Number(bytes.readBigUInt64LE(32)), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  for (let header = start; header < start + size * count; header += size) {
    if (bytes.readUInt32LE(header) !== PT_INTERP) continue;
    const from = Number(bytes.readBigUInt64LE(header + 8));
    const linker = bytes.toString("latin1", from, from + Number(bytes.readBigUInt64LE(header + 32)));
    return { ...found, libc: linker.includes("musl") ? "musl" : "glibc" };
  }
  return found;
}

function of(platform, architectures, machine) {
  const arch = architectures[machine];
  if (!arch) throw new Error(`no package is made for machine 0x${machine.toString(16)} of ${platform}`);
  return { platform, arch };
}
