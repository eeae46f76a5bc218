import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { silentLogger, VirtualClock } from '@sluice/runtime';
import { afterEach, describe, expect, it } from 'vitest';
import { Connection, withUserAgent } from './connection.ts';
import { loadKubeconfig } from './kubeconfig.ts';
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

  it.each([403, 404])('says what to do if the API server answers %i', async (code) => {
    const { get } = await given((_, response) => json(response, code, { kind: 'Status', code, message: 'no' }));
    await expect(get()).rejects.toMatchObject({
      message:
        'cannot request a token for ServiceAccount kube-system/endpoint-controller: no; create the ServiceAccount ' +
        'and allow this user to request its tokens, see infra/kubernetes/controller-accounts.yaml',
      kind: 'terminal',
      reason: 'CredentialsUnavailable',
    });
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
