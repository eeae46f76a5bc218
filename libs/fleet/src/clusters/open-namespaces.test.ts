import { loadKubeconfigText } from '@sluice/kubernetes';
import { startServer, type TestServer } from '@sluice/kubernetes/testing';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kubeconfigText } from '../testing/kubeconfig-text.ts';
import { connectTo } from './connect.ts';

let server: TestServer;
let allowed: ReadonlySet<string>;
let logger: RecordingLogger;

/** Allows lists in some namespaces only. */
beforeEach(async () => {
  logger = recordingLogger();
  server = await startServer(({ url }, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url === '/version') return answer(200, { gitVersion: 'v1.36.0', major: '1', minor: '36' });
    const [, namespace = ''] = /\/namespaces\/(\w+)\/\w+\?/.exec(url) ?? [];
    if (allowed.has(namespace)) return answer(200, { items: [], metadata: { resourceVersion: '1' } });
    const message = `forbidden in the namespace "${namespace}"`;
    return answer(403, { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message });
  });
});

afterEach(() => server.close());

async function open(namespaces: readonly string[], url = server.url) {
  const access = await loadKubeconfigText({ source: '', text: kubeconfigText({ server: url }) });
  const options = { clock: systemClock, random: seededRandom(1), logger, name: 'prod' };
  const cluster = await connectTo(
    { ...access, namespaces: { only: namespaces } },
    {
      ...options,
      ...{ readOnly: true, work: ['watch'] },
    },
  );
  await cluster.close();
  return cluster;
}

test('namespaces that can be read have a reader each; another one is reported, and tried again by its reader', async () => {
  allowed = new Set(['shop']);
  const { readers, reader } = await open(['shop', 'pay']);
  expect([...(readers?.keys() ?? [])]).toEqual(['shop', 'pay']);
  expect(reader.resources).toEqual(new Set(['services', 'pods', 'endpoints', 'endpointslices']));
  expect(logger.lines).toMatchObject([
    {
      message: 'cannot read namespace; retrying',
      fields: { cluster: 'prod', namespace: 'pay', error: expect.stringMatching(/namespace "pay".*observe-namespace/) },
    },
  ]);
});

test('only lists in these namespaces, and the version, are requested', async () => {
  allowed = new Set(['shop']);
  await open(['shop']);
  expect(new Set(server.requests.map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`))).toEqual(
    new Set([
      'GET /version',
      ...['services', 'pods', 'endpoints'].map((name) => `GET /api/v1/namespaces/shop/${name}`),
      'GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
    ]),
  );
});

test('if no namespace can be read, the error says what to grant', async () => {
  allowed = new Set();
  await expect(open(['shop', 'pay'])).rejects.toThrow(
    /forbidden in the namespace "shop".*with a Role and a RoleBinding.*observe-namespace/,
  );
});

test('the identity depends on the address, and not on the namespaces', async () => {
  allowed = new Set(['shop', 'pay']);
  const { identity } = await open(['shop']);
  expect(identity).toMatch(/^server-[0-9a-f]{32}$/);
  expect((await open(['pay', 'shop'])).identity).toBe(identity);
  expect((await open(['shop'], server.url.replace('127.0.0.1', 'localhost'))).identity).not.toBe(identity);
});
