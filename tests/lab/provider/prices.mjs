// What a request is charged, in dollars, from the prices of a model of Pi's catalogue.

/** The price of a request by its tokens. A tier applies to the whole request; a one-hour write costs twice the input. */
export function priceOf(cost, { read, written, writtenLong = 0, uncached, output }) {
  const prompt = read + written + uncached;
  const tiers = (cost.tiers ?? []).filter((tier) => prompt > tier.inputTokensAbove);
  const rates = tiers.sort((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0] ?? cost;
  // Without a write price, writes cost what uncached input costs.
  const write = rates.cacheWrite || rates.input;
  const dollars = {
    read: read * rates.cacheRead,
    write: (written - writtenLong) * write + writtenLong * 2 * rates.input,
    input: uncached * rates.input,
    output: output * rates.output,
  };
  const per = Object.fromEntries(Object.entries(dollars).map(([name, value]) => [name, value / 1_000_000]));
  return { ...per, total: per.read + per.write + per.input + per.output };
}
