// Deadlines: Pi has none of its own, so that whatever is awaited in a hook needs one. Those on the runner are longer
// than what the runner itself allows its guest, so that a slow guest costs a trap and not the runner.

/** What a call that waits for nobody may take, in milliseconds: two calls into the guest, of another and its own. */
export const ORDINARY = 10_000;

/** What a pass may take until it asks, in milliseconds: two calls into the guest. */
export const PASS_BEGIN = 10_000;

/** What it may take beyond the budget of its questions: what asking may overrun, and two calls as above. */
export const PASS_GRACE = 10_000;

/** What a request to the model may wait for its breakpoints, in milliseconds; they are worth no more. */
export const REQUEST = 250;

/** Resolves as the work does, or rejects when it takes longer. The work itself goes on unheeded. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, expiry]);
  } finally {
    clearTimeout(timer);
  }
}
