import type { Clock } from '@sluice/runtime';
import { prefersOpenMetrics } from '../exposition.ts';
import type { Metrics } from '../metrics.ts';

/** All metrics, encoded once for all responses, which share these bytes while they are unread. */
export interface EncodedMetrics {
  readonly contentType: string;
  readonly body: Buffer;
}

interface Rendering {
  readonly startedAt: number;
  readonly metrics: Promise<EncodedMetrics>;
}

/** How long a rendering is used, in milliseconds: less than any interval of scrapes. */
const maxAgeMs = 1_000;

/** Renders the metrics at most once a second in each format, however many requests there are. */
export class CachedExposition {
  readonly #metrics: Pick<Metrics, 'expose'>;
  readonly #clock: Clock;
  readonly #renderings = new Map<boolean, Rendering>();

  constructor(metrics: Pick<Metrics, 'expose'>, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** In the format that a scraper's `Accept` header prefers. */
  expose(accept: string | undefined): Promise<EncodedMetrics> {
    const isOpenMetrics = prefersOpenMetrics(accept ?? '');
    const now = this.#clock.monotonic();
    const last = this.#renderings.get(isOpenMetrics);
    if (last !== undefined && now - last.startedAt < maxAgeMs) return last.metrics;
    const metrics = this.#metrics
      .expose(accept)
      .then(({ contentType, body }) => ({ contentType, body: Buffer.from(body) }));
    this.#renderings.set(isOpenMetrics, { startedAt: now, metrics });
    return metrics;
  }
}
