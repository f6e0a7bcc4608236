// The chat model as the contract has it.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CacheScheme, Model, Prices } from "./contract.ts";

type PiModel = NonNullable<ExtensionContext["model"]>;

/** The shortest lifetime that the providers document for a cache entry, in seconds. */
const CACHE_LIFETIME = 300;

export function modelOf(model: ExtensionContext["model"]): Model {
  return {
    name: model ? `${model.provider}/${model.id}` : "",
    cache: model ? cacheOf(model) : "Other",
    prices: model ? pricesOf(model) : null,
    cache_lifetime: CACHE_LIFETIME,
    thinking: model && isThinkingBound(model) ? "Dropped" : "Unbound",
  };
}

function cacheOf(model: PiModel): CacheScheme {
  if (model.api === "anthropic-messages") return "Anthropic";
  return model.provider === "openai-codex" ? "OpenaiCodex" : "Other";
}

/** For these models Pi has the provider drop the thinking behind an edit; the others do not tie it to the history. */
function isThinkingBound({ api, compat }: PiModel): boolean {
  return api === "anthropic-messages" && Reflect.get(compat ?? {}, "forceAdaptiveThinking") === true;
}

/** The catalogue says 0 for a price that it does not have. */
function pricesOf({ cost }: PiModel): Prices | null {
  const prices = { input: cost.input, output: cost.output, cache_read: cost.cacheRead, cache_write: cost.cacheWrite };
  return Object.values(prices).some((price) => price > 0) ? prices : null;
}
