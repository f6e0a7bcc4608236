import assert from "node:assert/strict";
import { test } from "node:test";
import { allows, credential } from "./permission.ts";

const permission = { origin: "https://a.example", path: "/api/v1/", key: "k" };

test("one origin is allowed, and no other", () => {
  assert(allows(permission, "https", "A.example"));
  for (const [scheme, authority] of [
    ["http", "a.example"], ["https", "a.example:8443"], ["https", "b.example"], ["https", "a.example.b.example"], ["https", "me@a.example"],
  ] as const) {
    assert(!allows(permission, scheme, authority), `${scheme}://${authority}`);
  }
});

test("the key goes to what is under the path, and nowhere else", () => {
  for (const path of ["/api/v1", "/api/v1/systemone"]) assert.equal(credential(permission, path), "Bearer k", path);
  for (const path of ["/", "/api/v10", "/api/v1/../admin", "/api/v1/%2e%2e/admin"]) {
    assert.equal(credential(permission, path), undefined, path);
  }
  assert.equal(credential({ ...permission, key: undefined }, "/api/v1"), undefined);
});
