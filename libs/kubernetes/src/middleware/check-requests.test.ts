import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndpointSlice } from '@sluice/model';
import { afterEach, expect, test } from 'vitest';
import type { ConnectionOptions } from '../connection.ts';
import { chainWriter } from '../middleware.ts';
import { clusterOver, connect, json, noAbort, startServer } from '../testing/fixtures.ts';
import { checkRequests, type RequestCheck } from './check-requests.ts';

class LeaseExpiredError extends Error {}

const slice: EndpointSlice = {
  metadata: { namespace: 'shop', name: 'web-x7k2p', resourceVersion: '1' },
  addressType: 'IPv4',
  endpoints: [],
};
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server that holds its answer to `/held`, and a writer whose lease expires on demand. */
async function fenced(user: object, options: Partial<ConnectionOptions>) {
  const held = Promise.withResolvers<void>();
  const server = await startServer((request, response) => {
    const stored = { metadata: { name: 'web-x7k2p', uid: 'u', resourceVersion: '2' } };
    void (request.url === '/held' ? held.promise : Promise.resolve()).then(() => json(response, 200, stored));
  });
  const { connection, clock, close } = await connect(server.url, user, options);
  cleanUps.push(server.close, close);
  let [isCurrent, checks] = [true, 0];
  const lease: RequestCheck = {
    assert() {
      checks++;
      if (!isCurrent) throw new LeaseExpiredError();
    },
  };
  const writer = chainWriter(clusterOver(connection, clock), checkRequests([lease]));
  const write = () => writer.update('endpointslices', slice, noAbort).catch((error: unknown) => error);
  const expire = async () => {
    await expect.poll(() => checks).toBe(1);
    isCurrent = false;
  };
  return { server, connection, write, expire, answerHeld: held.resolve };
}

test('a write that waits for a free connection is not sent under an expired lease', async () => {
  const { server, connection, write, expire, answerHeld } = await fenced({}, { maxConnections: 1 });
  const first = connection.request({ method: 'GET', path: '/held', signal: noAbort });
  await expect.poll(() => server.requests.length).toBe(1);
  const writing = write();
  await expire();
  answerHeld();
  await first;
  expect(await writing).toBeInstanceOf(LeaseExpiredError);
  expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
});

test('a write that waits for an exec credential is not sent under an expired lease', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-fence-'));
  cleanUps.push(() => rm(directory, { recursive: true }));
  const [plugin, go] = [join(directory, 'plugin'), join(directory, 'go')];
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 't' } });
  await writeFile(plugin, `#!/bin/sh\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\necho '${credential}'\n`);
  await chmod(plugin, 0o700);
  const { server, write, expire } = await fenced(
    { exec: { apiVersion, command: plugin, interactiveMode: 'Never' } },
    {},
  );
  const writing = write();
  await expire();
  await writeFile(go, '');
  expect(await writing).toBeInstanceOf(LeaseExpiredError);
  expect(server.requests).toEqual([]);
});

test('a request is queued only while the lease is current', async () => {
  let sent = 0;
  let isCurrent = true;
  const check = checkRequests([
    {
      assert() {
        if (!isCurrent) throw new LeaseExpiredError();
      },
    },
  ]);
  const send = () =>
    check({ verb: 'identity', signal: noAbort }, async () => {
      sent += 1;
      return 'one' as never;
    });
  expect(await send()).toBe('one');
  isCurrent = false;
  await expect(send()).rejects.toThrow(LeaseExpiredError);
  expect(sent).toBe(1);
});

test('the first check that says no decides, before the next one asks a server', async () => {
  const asked: string[] = [];
  const check = (name: string, error?: Error): RequestCheck => ({
    verify: async () => void asked.push(`verify ${name}`),
    assert() {
      asked.push(`assert ${name}`);
      if (error !== undefined) throw error;
    },
    failed: () => asked.push(`failed ${name}`),
  });
  const send = async () => undefined as never;
  const request = { verb: 'identity', signal: noAbort } as const;
  await checkRequests([check('a'), check('b')])(request, send);
  expect(asked).toEqual(['verify a', 'assert a', 'verify b', 'assert b']);
  asked.length = 0;
  await expect(checkRequests([check('a', new LeaseExpiredError()), check('b')])(request, send)).rejects.toThrow();
  expect(asked).toEqual(['verify a', 'assert a', 'failed a', 'failed b']);
});
