import type { HistoryEntry } from '@sluice/console/client';

/** A change of readiness that the load sent. */
export interface SentFlip {
  readonly service: string;
  readonly pod: string;
  readonly ready: boolean;
}

/** What a history says of the writes of one Service, compared with the load. */
export interface Comparison {
  /** Writes of slices that changed the readiness of Pods. */
  readonly slices: Score;
  /** Changes of Pods that Endpoints had to show. */
  readonly endpoints: Score;
  /** From the watch event of the Pod to that of the slice, in milliseconds. */
  readonly latenciesMs: readonly number[];
}

export interface Score {
  readonly correct: number;
  readonly total: number;
}

/**
 * The n-th flip of a Pod is the n-th change of its readiness in the history, and its cause: the load changes a Pod again only
 * once the last change is written.
 */
export function compare(entries: readonly HistoryEntry[], flips: readonly SentFlip[]): Comparison {
  const observations = entries.flatMap((entry) =>
    entry.kind === 'observed'
      ? entry.observations.map((one) => ({ at: entry.causes.first[0]?.observedAt, ...one }))
      : [],
  );
  const events = new Map<string, number[]>();
  for (const { of, name, text, at } of observations) {
    if (of !== 'pod' || at === undefined || !/^became (not )?ready/.test(text)) continue;
    events.set(name, [...(events.get(name) ?? []), at]);
  }
  const shown = new Map<string, number>();
  const latenciesMs: number[] = [];
  const explained = new Set<string>();
  let [correct, total] = [0, 0];
  for (const { of, write } of observations) {
    if (write === undefined) continue;
    const causes = new Set(
      write.causes.first.map(({ description, observedAt }) => `${podIn(description)} ${observedAt}`),
    );
    if (of === 'endpoints') for (const cause of causes) explained.add(cause);
    if (of !== 'slice') continue;
    const changed = write.endpoints.filter(({ before, after }) => after !== null && before?.ready === !after.ready);
    if (changed.length === 0) continue;
    const isCorrect = changed.map(({ pod }) => {
      const index = shown.get(pod) ?? 0;
      shown.set(pod, index + 1);
      return causes.has(`${pod} ${events.get(pod)?.[index]}`);
    });
    total++;
    if (!isCorrect.every(Boolean)) continue;
    correct++;
    if (write.latencyMs !== null) latenciesMs.push(write.latencyMs);
  }
  const sent = Map.groupBy(flips, ({ pod }) => pod);
  const missing = [...sent].reduce((sum, [pod, of]) => sum + Math.abs(of.length - (shown.get(pod) ?? 0)), 0);
  const known = [...events].flatMap(([pod, times]) => times.map((at) => `${pod} ${at}`));
  return {
    // A write that the history lacks is a wrong one.
    slices: { correct, total: total + missing },
    endpoints: { correct: known.filter((one) => explained.has(one)).length, total: flips.length },
    latenciesMs,
  };
}

/** `Pod NAMESPACE/NAME became ready` */
const podIn = (description: string): string => /^Pod [^/ ]+\/(\S+) /.exec(description)?.[1] ?? '';
