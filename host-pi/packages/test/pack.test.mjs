import assert from "node:assert/strict";
import { test } from "node:test";
import { withSection } from "../pack.mjs";

test("what is unreleased is packed as the version that it will be", () => {
  assert.equal(withSection("# Changelog\n\n## [Unreleased]\n\n- New.\n", "1.2.3"), "# Changelog\n\n## [1.2.3]\n\n- New.\n");
});

test("a released version has its own section already", () => {
  const released = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2027-01-01\n\n- New.\n";
  assert.equal(withSection(released, "1.2.3"), released);
});
