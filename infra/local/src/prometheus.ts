import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrometheus } from './binaries.ts';
import { onFreePorts } from './free-ports.ts';
import { type RunningServer, startServer, succeeds } from './running-server.ts';

export interface PrometheusOptions {
  /** For its configuration, data and log; created if missing. Existing data is kept. */
  readonly directory: string;
  /** prometheus.yml as an object: `global`, `scrape_configs`, `rule_files` (absolute paths) and so on. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** A running Prometheus on loopback. */
export interface Prometheus extends RunningServer {
  /** Its HTTP API is under `/api/v1`. */
  readonly url: string;
  readonly directory: string;
}

/**
 * Starts Prometheus, building it first if necessary, and waits until it answers queries.
 *
 * @throws LocalError and leaves nothing running; `exited` with the reason if the configuration is invalid
 */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { prometheus } = await ensurePrometheus();
  return onFreePorts(1, (ports) => startOn(ports, prometheus, options));
}

async function startOn(
  [port = 0]: readonly number[],
  program: string,
  { directory, configuration }: PrometheusOptions,
): Promise<Prometheus> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'prometheus.yml');
  // Prometheus reads YAML, and JSON is valid YAML.
  writeFileSync(file, JSON.stringify(configuration, undefined, 2));
  const url = `http://127.0.0.1:${port}`;
  const args = [
    `--config.file=${file}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    '--log.level=warn',
  ];
  const server = await startServer(
    { name: 'prometheus', program, args, log: join(directory, 'prometheus.log') },
    { isReady: () => succeeds(`${url}/-/ready`) },
  );
  return { ...server, url, directory };
}
