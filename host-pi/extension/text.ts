// JSON text that any UTF-8 reader takes.

/**
 * Returns compact JSON text without lone surrogates, which have no UTF-8 and which JSON readers outside JavaScript
 * refuse even as escapes. Each becomes U+FFFD.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, wellFormed) ?? "null";
}

function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const keys = Object.keys(value);
  if (keys.every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), item]));
}
