import type { Clock } from '@sluice/platform';
import { prefersOpenMetrics } from '../exposition.ts';
import type { Metrics } from '../metrics.ts';
import { SharedRequest } from '../shared-request.ts';

/** All metrics, encoded once for all responses, which share these bytes while they are unread. */
interface EncodedMetrics {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Renders the metrics at most once a second in each format, however many requests there are. */
export class CachedExposition {
  readonly #text: SharedRequest<EncodedMetrics>;
  readonly #openMetrics: SharedRequest<EncodedMetrics>;

  constructor(metrics: Pick<Metrics, 'expose'>, clock: Clock) {
    const rendering = (accept?: string) =>
      new SharedRequest(clock, async () => {
        const { contentType, body } = await metrics.expose(accept);
        return { contentType, body: Buffer.from(body) };
      });
    this.#text = rendering();
    this.#openMetrics = rendering('application/openmetrics-text; version=1.0.0');
  }

  /** In the format that a scraper's `Accept` header prefers. */
  expose(accept: string | undefined): Promise<EncodedMetrics> {
    return (prefersOpenMetrics(accept ?? '') ? this.#openMetrics : this.#text).answer;
  }
}
