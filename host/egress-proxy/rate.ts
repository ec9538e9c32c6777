/**
 * A token bucket that holds one second's worth: each call takes one, and says whether there was one.
 *
 * @param rate tokens a second, asked anew at each call
 * @param now a clock in ms that never goes back
 */
export function rateLimit(rate: () => number, now: () => number = () => performance.now()): () => boolean {
  let tokens = rate();
  let filledAt = now();
  return () => {
    const at = now();
    const perSecond = rate();
    tokens = Math.min(perSecond, tokens + ((at - filledAt) * perSecond) / 1000);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
