import { secretsIn } from '@sluice/runtime';
import type { Configuration } from './configuration.ts';
import type { Environment } from './environment-layer.ts';

/** The secrets of a process's settings, and the headers of its exporter of traces, which reads its own variables. */
export function configurationSecrets(configuration: Configuration, environment: Environment): readonly string[] {
  const headers = Object.entries(environment).flatMap(([name, value = '']) =>
    name.startsWith('OTEL_EXPORTER_OTLP_') && name.endsWith('HEADERS') ? value.split(',') : [],
  );
  return [...secretsIn(configuration), ...headers.map((header) => decoded(header.slice(header.indexOf('=') + 1)))];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
