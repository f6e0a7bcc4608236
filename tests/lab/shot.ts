// A Pi extension with a tool "shot" that stands for a browser's screenshots: it returns a grey PNG of the size that is
// asked for.
import { crc32, deflateSync } from "node:zlib";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const PARAMETERS = {
  type: "object",
  properties: { width: { type: "number" }, height: { type: "number" } },
  required: ["width", "height"],
} as const;

export default function shot(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "shot",
    label: "Shot",
    description: "Take a screenshot",
    parameters: PARAMETERS,
    execute: async (_toolCallId, { width, height }) => ({
      content: [
        { type: "text", text: `The page at ${width} by ${height}.` },
        { type: "image", data: png(width, height).toString("base64"), mimeType: "image/png" },
      ],
      details: undefined,
    }),
  });
}

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits of a pixel, which is grey: colour type 0
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, 0x80)]); // a row starts with its filter: none
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
