import type { Environment, TracesConfiguration } from '@sluice/configuration';
import {
  defaultTraces,
  openTelemetryLayer,
  originText,
  parseEndpoint,
  parseRatio,
  type TracesOptions,
} from '@sluice/configuration';
import { UsageError } from '@sluice/process';
import type { Logger } from '@sluice/runtime';
import { errorMessage } from '@sluice/runtime';

/** The tracing configuration from flags, then OpenTelemetry's variables. @throws UsageError */
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
      throw new UsageError(`${originText(origin)}: ${errorMessage(error)}`);
    }
  };
  return {
    endpoint: options.otlpEndpoint ?? read('traces.endpoint', parseEndpoint),
    ratio: options.traceRatio ?? read('traces.ratio', parseRatio) ?? defaultTraces.traceRatio,
    slowMs: options.traceSlow ?? defaultTraces.traceSlow,
  };
}
