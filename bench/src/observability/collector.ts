import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Collector {
  /** Where it takes OTLP over HTTP. */
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A collector of spans as a process of its own, which takes everything and keeps nothing. */
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

/** What runs in that process. It ends with the one that started it. */
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
