import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiClient, Connection, withUserAgent } from './connection.ts';
import { type ClusterAccess, loadKubeconfig } from './kubeconfig.ts';
import { serviceAccountAccess } from './service-account-access.ts';
import { type Handler, json, kubeconfigText, noAbort, startServer, writeFiles } from './testing/fixtures.ts';

const testdata = (name: string) => path.join(import.meta.dirname, 'testdata', name);
const pem = (name: string) => readFile(testdata(name), 'utf8');
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const tokenPath = '/api/v1/namespaces/kube-system/serviceaccounts/endpoint-controller/token';

/** A user with a client certificate, and the ServiceAccount whose tokens it requests. */
async function given(token: Handler) {
  const handler: Handler = (request, response) =>
    request.url === tokenPath ? token(request, response) : json(response, 200, {});
  const server = await startServer(handler, {
    ...{ cert: await pem('server.crt'), key: await pem('server.key'), ca: await pem('ca.crt') },
    ...{ requestCert: true, rejectUnauthorized: false },
  });
  const certificate = { 'client-certificate': testdata('client.crt'), 'client-key': testdata('client.key') };
  const cluster = { server: server.url, 'certificate-authority': testdata('ca.crt') };
  const files = await writeFiles({ config: kubeconfigText(cluster, certificate) });
  const access = await loadKubeconfig({ paths: [files.file('config')] });
  const ports = { clock: new VirtualClock(1_700_000_000_000), logger: silentLogger };
  const client = new Connection({ access, userAgent: 'sluice/test', ...ports });
  const account = { access, client, namespace: 'kube-system', name: 'endpoint-controller', clock: ports.clock };
  const own = new Connection({ access: serviceAccountAccess(account), userAgent: 'sluice/test own', ...ports });
  cleanups.push(
    server.close,
    files.remove,
    () => client.destroy(),
    () => own.destroy(),
  );
  const get = () => own.request({ method: 'GET', path: '/version', signal: noAbort });
  return { server, client, clock: ports.clock, get };
}

/** Issues the tokens t1, t2 and so on. */
function issue(expirationSeconds: number): Handler {
  let issued = 0;
  return (_, response) => {
    issued += 1;
    json(response, 201, { spec: { expirationSeconds }, status: { token: `t${issued}` } });
  };
}

describe('access as a ServiceAccount (A1)', () => {
  it('authenticates with a token only, which the user requests with its certificate', async () => {
    const { server, get } = await given(issue(3600));
    await get();
    expect(server.requests).toMatchObject([
      { url: tokenPath, peer: 'test client', body: { kind: 'TokenRequest', spec: { expirationSeconds: 3600 } } },
      { url: '/version', peer: '', headers: { authorization: 'Bearer t1', 'user-agent': 'sluice/test own' } },
    ]);
  });

  it('renews the token after most of the lifetime that the API server granted', async () => {
    const { server, clock, get } = await given(issue(600));
    const tokenAfter = async (seconds: number) => {
      clock.step(clock.now() + seconds * 1000);
      await get();
      return server.requests.at(-1)?.headers.authorization;
    };
    expect(await tokenAfter(0)).toBe('Bearer t1');
    expect(await tokenAfter(470)).toBe('Bearer t1');
    expect(await tokenAfter(70)).toBe('Bearer t2');
  });

  it.each([
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])('says what to do if the API server answers %i', async (code, reason) => {
    const status = { kind: 'Status', code, reason, message: 'no' };
    const { get } = await given((_, response) => json(response, code, status));
    await expect(get()).rejects.toMatchObject({
      message:
        'cannot request a token for ServiceAccount kube-system/endpoint-controller: no; create the ServiceAccount ' +
        'and allow this user to request its tokens, see infra/kubernetes/controller-accounts.yaml',
      kind: 'terminal',
      reason: 'CredentialsUnavailable',
    });
  });

  it.each([
    ['an outage', 503, 'retry'],
    ['a rejection without advice', 401, 'terminal'],
  ])('says for which account after %s, and no more', async (_, code, kind) => {
    const { get } = await given((_, response) => json(response, code, { kind: 'Status', code, message: 'no' }));
    await expect(get()).rejects.toMatchObject({
      ...{ kind, message: 'cannot request a token for ServiceAccount kube-system/endpoint-controller: no' },
    });
  });

  it('fails if the API server grants no token', async () => {
    const { get } = await given((_, response) => json(response, 201, { status: {} }));
    await expect(get()).rejects.toMatchObject({ kind: 'retry', reason: 'CredentialsUnavailable' });
  });

  it('expects the lifetime that it asked for if the API server names none', async () => {
    let issued = 0;
    const { server, clock, get } = await given((_, response) => {
      issued += 1;
      json(response, 201, { status: { token: `t${issued}` } });
    });
    for (const seconds of [0, 2_870, 70]) {
      clock.step(clock.now() + seconds * 1_000);
      await get();
    }
    const tokens = server.requests.filter(({ url }) => url === '/version').map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  it('can be tried again after an outage', async () => {
    const { get } = await given((_, response) => json(response, 503, { kind: 'Status', code: 503, message: 'busy' }));
    await expect(get()).rejects.toMatchObject({ kind: 'retry' });
  });
});

it('a named client sends its name over the connections of another (A1)', async () => {
  const { server, client } = await given(issue(3600));
  await withUserAgent(client, 'sluice/test endpoint-controller').request({
    ...{ method: 'GET', path: '/version', signal: noAbort },
  });
  expect(server.requests).toMatchObject([
    { peer: 'test client', headers: { 'user-agent': 'sluice/test endpoint-controller' } },
  ]);
});

describe('access as a ServiceAccount to a server that the user trusts', () => {
  const user = (options: RequestOptions): ClusterAccess => ({
    ...{ context: 'prod', server: 'https://api.test', source: 'kubeconfig "config"', proxyUrl: undefined },
    open: async () => ({ applyToHTTPSOptions: async (target) => void Object.assign(target, options) }),
  });
  const paths: string[] = [];
  const client: ApiClient = {
    server: 'https://api.test',
    request: async ({ path }) => {
      paths.push(path);
      return { status: 201, headers: {}, body: { status: { token: 't' } } };
    },
    stream: () => Promise.reject(new Error('no stream')),
  };
  const access = (options: RequestOptions) =>
    serviceAccountAccess({
      ...{ access: user(options), client, clock: new VirtualClock(0) },
      ...{ namespace: 'a/b', name: 'c/d' },
    });

  it.each<[RequestOptions, RequestOptions]>([
    [{}, {}],
    [
      { ca: 'ca', servername: 'name' },
      { ca: 'ca', servername: 'name' },
    ],
    [{ rejectUnauthorized: false }, { rejectUnauthorized: false }],
    [{ cert: 'crt', key: 'key', auth: 'a:b', headers: { Authorization: 'Bearer own' } }, {}],
  ])('trusts it as the user does, but does not authenticate as the user: %j', async (ofUser, expected) => {
    const options: RequestOptions = {};
    await (await access(ofUser).open()).applyToHTTPSOptions(options);
    expect(options).toEqual({ headers: { Authorization: 'Bearer t' }, ...expected });
  });

  it('requests a token only under the path of the account, and names both in messages', async () => {
    await (await access({}).open()).applyToHTTPSOptions({});
    expect(paths.at(-1)).toBe('/api/v1/namespaces/a%2Fb/serviceaccounts/c%2Fd/token');
    expect(access({})).toMatchObject({ context: 'prod', server: 'https://api.test' });
    expect(access({}).source).toBe('ServiceAccount a/b/c/d, requested with the kubeconfig "config"');
  });
});
