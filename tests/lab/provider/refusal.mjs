// A request that a provider does not take.

/** A refusal with the provider's kind of code. "quiet" ones are part of the protocol and no fault of the request. */
export class Refusal extends Error {
  constructor(message, { code, status = 400, quiet = false } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.quiet = quiet;
  }
}

export function refuseIf(wrong, message, fields) {
  if (wrong) throw new Refusal(message, fields);
}
