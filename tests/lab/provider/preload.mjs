// Loaded into Pi before anything else (node --import): what a test sets of the world around it.
//
//   LAB_REDIRECT        an address on loopback that gets what is meant for api.anthropic.com
//   LAB_CLOCK_AHEAD_MS  how far the clock is ahead of the machine's
const { LAB_REDIRECT: redirect, LAB_CLOCK_AHEAD_MS: ahead } = process.env;

if (redirect) {
  const official = "https://api.anthropic.com";
  const redirected = (fetch) => (input, init) => {
    const address = String(input?.url ?? input);
    if (!address.startsWith(official)) return fetch(input, init);
    return fetch(redirect + address.slice(official.length), init);
  };
  // Pi installs its own fetch while it starts; that one is redirected as well.
  let current = redirected(globalThis.fetch);
  const set = (fetch) => (current = redirected(fetch));
  Object.defineProperty(globalThis, "fetch", { configurable: true, get: () => current, set });
}

if (Number(ahead) > 0) {
  const Machine = Date;
  globalThis.Date = class extends Machine {
    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [Machine.now() + Number(ahead)]));
    }
    static now() {
      return Machine.now() + Number(ahead);
    }
  };
}
