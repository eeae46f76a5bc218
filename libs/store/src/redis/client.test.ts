import { Redis } from 'ioredis';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from './client.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  ['standalone', {}],
  ['sentinel', { topology: { mode: 'sentinel', masterName: 'm' } as const }],
  ['cluster', { topology: { mode: 'cluster' } as const }],
])('an error event of a %s client without listeners is not printed', (_, topology) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const client = createClient(
    { urls: ['redis://127.0.0.1:1'], fleet: 'sluice', ...topology },
    { commandTimeoutMs: 100, offlineQueue: true },
  );
  // ioredis emits errors this way, for a Cluster too.
  Redis.prototype.silentEmit.call(client as Redis, 'error', new Error('connect ECONNREFUSED'));
  client.disconnect();
  expect(printed).not.toHaveBeenCalled();
});
