import type { Logger } from '@sluice/runtime';
import type { TracesConfiguration } from '../configuration/configuration.ts';
import type { Environment } from '../configuration/environment-layer.ts';
import { originText } from '../configuration/layer.ts';
import { openTelemetryLayer } from '../configuration/opentelemetry-layer.ts';
import { defaultTraces, parseEndpoint, parseRatio, type TracesOptions } from '../options/traces-options.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What is traced: flags before OpenTelemetry's variables. @throws UsageError */
export function tracesOf(
  options: Partial<TracesOptions>,
  environment: Environment,
  logger: Logger,
): TracesConfiguration {
  const given = openTelemetryLayer(environment, (text) => logger.warn(text));
  const read = <T>(path: string, parse: (text: string) => T): T | undefined => {
    const { raw, origin } = given.get(path) ?? {};
    if (raw === undefined || origin === undefined) return undefined;
    try {
      return parse(String(raw));
    } catch (error) {
      throw new UsageError(`${originText(origin)}: ${error instanceof Error ? error.message : error}`);
    }
  };
  return {
    endpoint: options.otlpEndpoint ?? read('traces.endpoint', parseEndpoint),
    ratio: options.traceRatio ?? read('traces.ratio', parseRatio) ?? defaultTraces.traceRatio,
    slowMs: options.traceSlow ?? defaultTraces.traceSlow,
  };
}
