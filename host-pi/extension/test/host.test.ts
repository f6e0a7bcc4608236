import assert from "node:assert/strict";
import { test } from "node:test";
import { isRecent } from "../host.ts";

test("Pi 1.3 and newer will do", () => {
  for (const version of ["1.3.0", "1.6.0", "1.10.2", "2.0.0-beta.1"]) assert.ok(isRecent(version), version);
  for (const version of ["1.2.9", "1.0.3", "0.99.0", "", "unknown"]) assert.ok(!isRecent(version), version);
});
