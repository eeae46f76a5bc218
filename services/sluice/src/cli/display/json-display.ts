import type { Applied } from './applied.ts';
import type { Display } from './display.ts';
import type { Statistics } from './statistics.ts';
import { writesOf } from './writes.ts';

/** Prints one JSON object per line, with stable keys. */
export class JsonDisplay implements Display {
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  started(lines: readonly string[]): void {
    this.#line({ event: 'started', details: lines });
  }

  synced(): void {
    this.#line({ event: 'synced' });
  }

  applied({ cluster, plan, outcome, latencyMs }: Applied): void {
    this.#line({
      event: 'plan',
      time: new Date(outcome.completedAt).toISOString(),
      cluster,
      namespace: plan.key.namespace,
      service: plan.key.service,
      controller: plan.controller,
      status: outcome.status,
      ...(outcome.message !== '' && { message: outcome.message }),
      causes: plan.causes.first.map(({ description }) => description),
      moreCauses: plan.causes.more,
      writes: writesOf(plan, outcome),
      latencyMs: Math.round(latencyMs * 1_000) / 1_000,
      retries: outcome.retries,
    });
  }

  ended(statistics: Statistics, ranMs: number): void {
    const { services, plans, writes, failures, conflicts, refusals, refused, retries, malformed, latencies } =
      statistics;
    this.#line({
      event: 'summary',
      ranMs: Math.round(ranMs),
      services,
      plans,
      writes,
      failures,
      conflicts,
      refusals,
      refused: [...refused].map(([name, reason]) => ({ name, reason })),
      retries,
      malformed,
      latencyMs: latencies ?? null,
    });
  }

  #line(value: object): void {
    this.#write(`${JSON.stringify(value)}\n`);
  }
}
