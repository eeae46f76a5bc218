import { Counter, type OpenMetricsContentType, Registry, type RegistryContentType } from 'prom-client';

export interface Exposed {
  readonly contentType: RegistryContentType;
  readonly body: string;
}

/**
 * All metrics of one process, for scrapers that accept either format. Exemplars exist in OpenMetrics only.
 *
 * prom-client writes one format per registry and, in OpenMetrics, renames every counter to end in `_total`. Prometheus asks
 * for OpenMetrics by default, so upstream's `endpoint_slice_controller_changes` would lose its name. As in client_golang,
 * such a counter keeps its name and has the type `unknown`.
 */
export class Exposition {
  /** Metrics register here. prom-client accepts metrics with exemplars in no other type of registry. */
  readonly registry: Registry<OpenMetricsContentType>;

  constructor() {
    this.registry = new Registry();
    this.registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  }

  /** In the format that fits a scraper's `Accept` header: the Prometheus text format unless it prefers OpenMetrics. */
  async expose(accept: string | undefined): Promise<Exposed> {
    return prefersOpenMetrics(accept ?? '')
      ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: await this.openMetrics() }
      : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: await this.text() };
  }

  text(): Promise<string> {
    const registry = new Registry();
    for (const metric of this.#metrics) registry.registerMetric(metric);
    return registry.metrics();
  }

  openMetrics(): Promise<string> {
    const registry: Registry<OpenMetricsContentType> = new Registry();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    for (const metric of this.#metrics) {
      registry.registerMetric(metric instanceof Counter ? openMetricsCounter(metric) : metric);
    }
    return registry.metrics();
  }

  get #metrics() {
    return this.registry.getMetricsAsArray().flatMap(({ name }) => this.registry.getSingleMetric(name) ?? []);
  }
}

const suffix = '_total';

/** The counter as the registry exposes it in OpenMetrics. */
function openMetricsCounter(counter: Counter): Counter {
  return Object.create(counter, {
    // The registry would rename a counter by changing the metric itself.
    type: { value: undefined },
    get: {
      value: async () => {
        const data = await counter.get();
        return data.name.endsWith(suffix)
          ? { ...data, name: data.name.slice(0, -suffix.length) }
          : { ...data, type: 'unknown' };
      },
    },
  });
}

/** Whether `Accept` gives OpenMetrics at least the weight of the text format. */
export function prefersOpenMetrics(accept: string): boolean {
  const weight = (isFormat: (type: string, version: string | undefined) => boolean) =>
    Math.max(
      0,
      ...accept.split(',').map((range) => {
        const [type = '', ...given] = range.split(';').map((part) => part.trim().toLowerCase());
        const parameters = new Map(given.map((one) => one.split('=', 2) as [string, string]));
        return isFormat(type, parameters.get('version')) ? Number(parameters.get('q') ?? 1) : 0;
      }),
    );
  const openMetrics = weight(
    (type, version) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'),
  );
  const text = weight((type, version) => type === 'text/plain' && (version === undefined || version === '0.0.4'));
  return openMetrics > 0 && openMetrics >= text;
}
