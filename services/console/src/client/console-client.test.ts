import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConsoleClient } from './console-client.ts';

let server: Server;
let url: string;
const service = { cluster: 'c', namespace: 'n', service: 's' };

beforeEach(async () => {
  server = createServer((_, response) => response.end('{"items":[]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

it.each<[string, (client: ConsoleClient) => Promise<unknown>]>([
  ['an answer', (client) => client.overview()],
  ['the start of a stream', (client) => client.follow(service, {}).next()],
])('the wait for %s passes through the option wait', async (_, ask) => {
  let waits = 0;
  const wait = <T>(answer: Promise<T>) => {
    waits++;
    return answer;
  };
  await ask(new ConsoleClient({ url, wait }));
  expect(waits).toBe(1);
});
