import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addInspectCommands } from './inspect.ts';

const overview = {
  clusters: [
    { identity: 'uid-1', name: 'prod', services: 1 },
    { identity: 'uid-2', name: 'test' },
  ],
};
const message = {
  kind: 'release',
  key: { cluster: 'uid-1', namespace: 'shop', service: 'web\u001b[2J' },
  releasedAt: 1,
};
let requested: (string | undefined)[];
let complete: boolean;
let written: { out: string; err: string };
let url: string;
const server = createServer((request, response) => {
  requested.push(request.url);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request.url?.endsWith('/log') ? { complete, messages: [message, message] } : overview));
});

beforeEach(async () => {
  [requested, complete, written] = [[], true, { out: '', err: '' }];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [stream, to] of [[process.stdout, 'out'] as const, [process.stderr, 'err'] as const])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      written[to] += String(text);
      return true;
    });
});

afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function run(...args: readonly string[]): Promise<void> {
  const program = new Command('sluice');
  addInspectCommands(program);
  await program.parseAsync(['history', 'export', ...args, '--console', url], { from: 'user' });
}

test('history export prints messages as lines of JSON, and escapes what a terminal interprets', async () => {
  await run('prod/shop/web');
  expect(requested).toEqual(['/api/v1/overview', '/api/v1/services/prod/shop/web/log']);
  const lines = written.out.split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('\\u001b[2J');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject(message);
  expect(written.err).toBe('');
});

test('history export says that the history begins too late', async () => {
  complete = false;
  await run('shop/web', '--cluster', 'prod');
  expect(requested[1]).toBe('/api/v1/services/prod/shop/web/log');
  expect(written.err).toBe('the history does not reach back to the first snapshot of this Service\n');
});

test.each([
  ['-n', 'shop'],
  ['--cluster', 'prod'],
])('a name with a cluster excludes %s', async (...options) => {
  await expect(run('prod/shop/web', ...options)).rejects.toThrow('already names cluster and namespace');
});
