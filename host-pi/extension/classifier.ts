// Which classifier answers, where, and with what credential: all of it from Pi's own registry.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Service } from "./contract.ts";

type Registry = ExtensionContext["modelRegistry"];

/** What the runner's gate adds to the requests of one service. It never reaches the guest. */
export interface Credential {
  api_key: string | null;
  headers: [string, string][];
}

/** A classifier that can be asked, or why it cannot: in the status bar's words, and as a sentence with the remedy. */
export type Lookup =
  | { service: Service; credential: Credential | null }
  | { problem: string; remedy: string };

/**
 * Looks the classifier up. Ask anew before each pass: the user may log in or out meanwhile.
 *
 * @param name `provider/id`; the id may hold slashes of its own.
 * @param apis The wire protocols that the runner speaks.
 */
export async function findClassifier(registry: Registry, name: string, apis: readonly string[]): Promise<Lookup> {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(0, slash));
  const id = name.slice(slash + 1);
  if (name === "builtin/lexical") {
    return { service: { api: "builtin", base_url: "", model: id, headers: [], input_price: 0 }, credential: null };
  }
  const model = provider === "builtin" ? undefined : registry.findOfType("classifier", provider, id);
  if (!model) {
    return {
      problem: "Jev model not found",
      remedy: `Pi's catalogue has no classifier "${name}". Set "model" in context-guard.json to one that it has, such as "openrouter/~typesafe/jev-latest", or to "builtin/lexical", which needs no network.`,
    };
  }
  if (!apis.includes(model.api)) {
    return {
      problem: "Jev model not found",
      remedy: `the classifier "${name}" speaks ${model.api}; the guard speaks ${apis.join(", ")}.`,
    };
  }
  // Pi reads nothing but `provider` and `headers` here, which all kinds of models have; its type names chat models only.
  const auth = await registry.getApiKeyAndHeaders(model as unknown as Parameters<Registry["getApiKeyAndHeaders"]>[0]);
  const headers = Object.entries((auth.ok && auth.headers) || {}).flatMap(([header, value]): [string, string][] =>
    value === null ? [] : [[header, value]],
  );
  const apiKey = auth.ok ? auth.apiKey : undefined;
  // `ok` without a key means that nothing is configured, unless the headers carry the authorisation.
  if (!apiKey && !headers.some(([header]) => /^(authorization|x-api-key)$/i.test(header))) {
    return {
      problem: `no ${provider} key`,
      remedy: `Pi has no key for the classifier "${name}". Use /login, or set "model" in context-guard.json to "builtin/lexical", which needs none.`,
    };
  }
  const baseUrl = (auth.ok && auth.baseUrl) || model.baseUrl;
  return {
    service: {
      api: model.api,
      base_url: provider === "github-copilot" ? withVersion(baseUrl) : baseUrl,
      model: model.id,
      headers: [],
      input_price: model.cost.input,
    },
    credential: { api_key: apiKey ?? null, headers },
  };
}

/** Copilot's address in the catalogue lacks the version that the call needs. */
function withVersion(url: string): string {
  return /\/v1\/?$/.test(url) ? url : `${url.replace(/\/+$/, "")}/v1`;
}
