import type { Given, Layer } from './layer.ts';
import type { Environment } from './process-layers.ts';

/**
 * Reads OpenTelemetry's standard variables for traces; Sluice's own variables and flags take precedence. The exporter
 * reads its own variables (`OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION`, `_CERTIFICATE`…).
 */
export function openTelemetryLayer(environment: Environment, warn: (text: string) => void): Layer {
  const layer = new Map<string, Given>();
  const give = (path: string, raw: unknown, variable: string) =>
    layer.set(path, { raw, origin: { from: 'environment', variable } });
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') {
    return layer;
  }
  for (const variable of ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const) {
    const text = environment[variable];
    if (!text) continue;
    // The general variable is a base URL; that of traces is complete.
    give(
      'traces.endpoint',
      variable.includes('TRACES') ? text : `${text.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
      variable,
    );
    warnAboutProtocol(environment, warn);
    break;
  }
  const ratio = ratioOf(environment, warn);
  if (ratio !== undefined) give('traces.ratio', ratio, 'OTEL_TRACES_SAMPLER');
  return layer;
}

function ratioOf(environment: Environment, warn: (text: string) => void): number | string | undefined {
  const sampler = environment.OTEL_TRACES_SAMPLER;
  switch (sampler?.replace(/^parentbased_/, '')) {
    case undefined:
    case '':
      return undefined;
    case 'always_on':
      return 1;
    case 'always_off':
      return 0;
    case 'traceidratio': {
      const share = environment.OTEL_TRACES_SAMPLER_ARG || '1';
      return Number.isFinite(Number(share)) ? Number(share) : share;
    }
    default:
      warn(`OTEL_TRACES_SAMPLER is ${JSON.stringify(sampler)}, which Sluice does not support; --trace-ratio applies`);
      return undefined;
  }
}

function warnAboutProtocol(environment: Environment, warn: (text: string) => void): void {
  const protocol = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (!protocol || protocol === 'http/protobuf') return;
  warn(`OTEL_EXPORTER_OTLP_PROTOCOL is ${JSON.stringify(protocol)}; Sluice supports http/protobuf only`);
}
