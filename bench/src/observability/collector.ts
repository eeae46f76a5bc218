import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Collector {
  /** OTLP/HTTP endpoint. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A span collector in its own process that discards everything. */
export async function startCollector(): Promise<Collector> {
  const child = fork(fileURLToPath(import.meta.url));
  const [endpoint] = await once(child, 'message');
  return {
    endpoint: String(endpoint),
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** The code of that process. It exits with its parent. */
function collect(): void {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`);
  });
  process.once('disconnect', () => process.exit());
}

if (import.meta.main) collect();
