// The chat model as the contract has it. What Pi and the providers do about caches is in docs/CACHE.md.
import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { CacheScheme, Model, Prices, ThinkingBinding } from "./contract.ts";

type PiModel = NonNullable<ExtensionContext["model"]>;

/** What Anthropic's breakpoints stand for, in seconds. */
const SHORT = 300;
const LONG = 3600;

/** About how long OpenAI keeps a prompt, in seconds. */
const HALF_AN_HOUR = 1800;

/** @param keptFor How long Pi has renewed the cache after the last request, in seconds. */
export function modelOf({ model, thinkingLevel }: Pick<ExtensionContext, "model" | "thinkingLevel">, keptFor: number): Model {
  if (!model) return { name: "", cache: "Other", prices: null, cache_lifetime: LONG, thinking: "Unbound" };
  return {
    name: `${model.provider}/${model.id}`,
    cache: cacheOf(model),
    prices: pricesOf(model),
    cache_lifetime: wholeSeconds(lifetimeOf(model) + keptFor),
    thinking: bindingOf(model, thinkingLevel),
  };
}

function cacheOf(model: PiModel): CacheScheme {
  if (model.api === "anthropic-messages") return "Anthropic";
  return model.provider === "openai-codex" ? "OpenaiCodex" : "Other";
}

/**
 * Where nobody says how long a cache lives, an hour is taken: an edit must not be made because a cache is believed to be
 * gone that is still there.
 */
function lifetimeOf(model: PiModel): number {
  const long = process.env.PI_CACHE_RETENTION === "long" && compatOf(model, "supportsLongCacheRetention") !== false;
  const listed = model.promptCache?.[long ? "long" : "short"];
  if (listed !== undefined) return listed;
  if (model.api === "anthropic-messages") return long ? LONG : SHORT;
  return model.provider === "openai-codex" ? HALF_AN_HOUR : LONG;
}

/** A catalogue can say anything. */
function wholeSeconds(seconds: number): number {
  return Number.isFinite(seconds) ? Math.min(Math.max(0, Math.ceil(seconds)), 0xffff_ffff) : LONG;
}

/**
 * Pi has Anthropic drop the thinking behind an edit where it sets the effort by message, and only while the model
 * thinks; Codex drops it by itself. Elsewhere a model that binds its thinking refuses the request.
 */
function bindingOf(model: PiModel, thinkingLevel: string | undefined): ThinkingBinding {
  if (model.provider === "openai-codex") return "Dropped";
  if (model.api !== "anthropic-messages" || !model.reasoning) return "Unbound";
  if (compatOf(model, "supportsMidConvoEffort") === true && thinkingLevel !== "off") return "Dropped";
  return binds(model) ? "Refused" : "Unbound";
}

/** The first version of each family that binds its thinking, as Pi's catalogue lets guess: it has drops asked for there. */
const BINDING: Record<string, number> = { opus: 5, sonnet: 5.5, haiku: 5.5, fable: 5.1 };

/** A heuristic: the version that the id names. One that names none is a new Claude where its thinking is adaptive. */
function binds(model: PiModel): boolean {
  const [, family, major, minor = "0"] = /(opus|sonnet|haiku|fable)-(\d{1,2})(?:[-.](\d))?(?!\d)/.exec(model.id) ?? [];
  const first = family === undefined ? undefined : BINDING[family];
  if (first !== undefined) return Number(`${major}.${minor}`) >= first;
  return !/claude-\d/.test(model.id) && compatOf(model, "forceAdaptiveThinking") === true;
}

function compatOf({ compat }: PiModel, name: string): unknown {
  return Reflect.get(compat ?? {}, name);
}

/** The catalogue says 0 for a price that it does not have. */
function pricesOf({ cost }: PiModel): Prices | null {
  const prices = { input: cost.input, output: cost.output, cache_read: cost.cacheRead, cache_write: cost.cacheWrite };
  return Object.values(prices).some((price) => price > 0) ? prices : null;
}
