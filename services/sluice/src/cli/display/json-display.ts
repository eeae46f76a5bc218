import type { Applied, ClusterPhase, Display, Latencies, Statistics } from './display.ts';
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
      latencyMs: rounded(latencyMs),
      retries: outcome.retries,
    });
  }

  ended(statistics: Statistics, ranMs: number, clusters: readonly ClusterPhase[] = []): void {
    const { services, plans, writes, failures, conflicts, refusals, refused, retries, malformed, latencies } =
      statistics;
    this.#line({
      event: 'summary',
      ranMs: Math.round(ranMs),
      clusters: clusters.map(({ name, phase }) => ({ name, phase })),
      services,
      plans,
      writes,
      failures,
      conflicts,
      refusals,
      refused: [...refused].map(([name, reason]) => ({ name, reason })),
      retries,
      malformed,
      latencyMs: latencies === undefined ? null : roundedLatencies(latencies),
    });
  }

  #line(value: object): void {
    this.#write(`${JSON.stringify(value)}\n`);
  }
}

const roundedLatencies = ({ p50, p99, max }: Latencies): Latencies => ({
  p50: rounded(p50),
  p99: rounded(p99),
  max: rounded(max),
});

/** To microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;
