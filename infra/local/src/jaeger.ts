import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureJaeger } from './binaries.ts';
import { onFreePorts } from './free-ports.ts';
import { type RunningServer, startServer, succeeds } from './running-server.ts';

export interface JaegerOptions {
  /** For its configuration and log; created if missing. Traces are kept in memory only. */
  readonly directory: string;
  /** Jaeger drops the oldest traces beyond this number. Default 100,000. */
  readonly maxTraces?: number;
}

/** A running Jaeger on loopback with OTLP receiver and query API. It keeps traces in memory and loses them on restart. */
export interface Jaeger extends RunningServer {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`: exporters post protobuf or JSON to `/v1/traces` under it. */
  readonly otlpUrl: string;
  /** The query API: `/api/services`, `/api/traces/ID`, `/api/traces?service=NAME`. Its web page is a placeholder. */
  readonly queryUrl: string;
  readonly directory: string;
}

/**
 * Starts Jaeger, building it first if necessary, and waits until it accepts spans and queries (under a second).
 *
 * @throws LocalError and leaves nothing running
 */
export async function startJaeger(options: JaegerOptions): Promise<Jaeger> {
  const program = await ensureJaeger();
  return onFreePorts(3, (ports) => startOn(ports, program, options));
}

async function startOn(
  [otlp = 0, query = 0, grpc = 0]: readonly number[],
  program: string,
  { directory, maxTraces = 100_000 }: JaegerOptions,
): Promise<Jaeger> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'jaeger.json');
  const otlpUrl = `http://127.0.0.1:${otlp}`;
  const queryUrl = `http://127.0.0.1:${query}`;
  writeFileSync(configuration, JSON.stringify(configure(otlp, query, grpc, maxTraces), undefined, 2));
  const isReady = async () => (await acceptsSpans(otlpUrl)) && (await succeeds(`${queryUrl}/api/services`));
  const server = await startServer(
    // Jaeger reads YAML, and JSON is valid YAML.
    { name: 'jaeger', program, args: [`--config=file:${configuration}`], log: join(directory, 'jaeger.log') },
    { isReady },
  );
  return { ...server, otlpUrl, queryUrl, directory };
}

function configure(otlp: number, query: number, grpc: number, maxTraces: number) {
  return {
    service: {
      extensions: ['jaeger_storage', 'jaeger_query'],
      // Without a batch processor, spans can be queried as soon as the exporter has its response.
      pipelines: { traces: { receivers: ['otlp'], exporters: ['jaeger_storage_exporter'] } },
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
    },
    extensions: {
      jaeger_storage: { backends: { memory: { memory: { max_traces: maxTraces } } } },
      jaeger_query: {
        storage: { traces: 'memory' },
        http: { endpoint: `127.0.0.1:${query}` },
        grpc: { endpoint: `127.0.0.1:${grpc}` },
      },
    },
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlp}` } } } },
    exporters: { jaeger_storage_exporter: { trace_storage: 'memory' } },
  };
}

/** An empty request is valid OTLP. */
async function acceptsSpans(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  return succeeds(`${url}/v1/traces`, { method: 'POST', headers, body: '{"resourceSpans":[]}' });
}
