import type { Clock } from '@sluice/runtime';

/** Loads again only when the last answer is older than `forMs`; whoever asks meanwhile waits for the same one. */
export function remembered<T>(
  clock: Pick<Clock, 'monotonic'>,
  forMs: number,
  load: () => Promise<T>,
): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const now = clock.monotonic();
    if (last !== undefined && now - last.at < forMs) return last.answer;
    const asked = { at: now, answer: load() };
    last = asked;
    // A failure is not remembered.
    asked.answer.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.answer;
  };
}
