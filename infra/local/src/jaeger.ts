import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureJaeger } from './binaries.ts';
import { onFreePorts } from './free-ports.ts';
import { type RunningServer, startServer, succeeds } from './running-server.ts';

export interface JaegerOptions {
  /** Its configuration and log; made if missing. Traces are in memory only. */
  readonly directory: string;
  /** The oldest traces make room beyond this number. Default 100,000. */
  readonly maxTraces?: number;
}

/** A running Jaeger on loopback: OTLP in, query API out, traces in memory, which a restart forgets. */
export interface Jaeger extends RunningServer {
  /** What `OTEL_EXPORTER_OTLP_ENDPOINT` takes: exporters post protobuf or JSON to `/v1/traces` under it. */
  readonly otlpUrl: string;
  /** The query API: `/api/services`, `/api/traces/ID`, `/api/traces?service=NAME`; a placeholder as web page. */
  readonly queryUrl: string;
  readonly directory: string;
}

/**
 * Starts Jaeger, builds it first if need be, and returns when it takes spans and answers queries (under a second).
 *
 * @throws LocalError see its codes; nothing is left running then
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
  const answers = async () => (await takesSpans(otlpUrl)) && (await succeeds(`${queryUrl}/api/services`));
  const server = await startServer(
    // Jaeger reads YAML, of which JSON is a part.
    { name: 'jaeger', program, args: [`--config=file:${configuration}`], log: join(directory, 'jaeger.log') },
    { answers, patienceMilliseconds: 90_000 },
  );
  return { ...server, otlpUrl, queryUrl, directory };
}

function configure(otlp: number, query: number, grpc: number, maxTraces: number) {
  return {
    service: {
      extensions: ['jaeger_storage', 'jaeger_query'],
      // No batch processor: what an exporter was told to be stored can be asked for at once.
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

/** No spans at all are a valid delivery. */
async function takesSpans(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  return succeeds(`${url}/v1/traces`, { method: 'POST', headers, body: '{"resourceSpans":[]}' });
}
