import { Registry } from 'prom-client';

/** A metric that writes itself as Prometheus reads it. */
export interface Exposed {
  readonly name: string;
  text(): string | Promise<string>;
}

/**
 * A registry of metrics that write themselves beside those that prom-client writes. A scrape is rare, so it runs in code that
 * is not compiled, and what it makes of objects is garbage: the fewer steps there are to a line, the less it is felt.
 */
export class Exposition extends Registry {
  readonly #exposed = new Map<string, Exposed>();

  /** @throws Error if there is one of that name */
  expose(metric: Exposed): void {
    if (this.#exposed.has(metric.name)) throw new Error(`there are two metrics ${metric.name}`);
    this.#exposed.set(metric.name, metric);
  }

  override async metrics(): Promise<string> {
    const own = [...this.#exposed.values()].map((metric) => metric.text());
    const others = this.getMetricsAsArray().map(({ name }) => this.getSingleMetricAsString(name));
    return `${(await Promise.all([...own, ...others])).join('\n\n')}\n`;
  }
}

export interface About {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** The lines before the samples of a metric. */
export function head({ name, help }: About, type: 'counter' | 'gauge' | 'histogram'): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}`;
}

/** One line. `labels`: as `labelsText` makes them. */
export function sample(name: string, labels: string, value: number): string {
  return labels === '' ? `\n${name} ${value}` : `\n${name}{${labels}} ${value}`;
}

/** Labels as they stand between the braces of a sample. */
export function labelsText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => `${name}="${escaped(values[i] ?? '')}"`).join(',');
}

function escaped(value: string): string {
  if (!/[\\\n"]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
