import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StoredIdentities } from '@sluice/fleet/clusters';
import { anonymousAccess } from '@sluice/kubernetes';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { recordingLogger, until } from '@sluice/platform/testing';
import { MemoryDocument } from '@sluice/store';
import { afterEach, expect, test } from 'vitest';
import { AccessReviews } from '../access-reviews.ts';
import { ReviewingClusters } from './reviewing-clusters.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** An API server of a cluster with this UID, where the token `reader` may list the slices of the namespace `shop`. */
async function startApiServer(uid: string) {
  const requests: string[] = [];
  const identity = { uid, answers: true };
  const answer = (response: ServerResponse, code: number, body: object) =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const status = (response: ServerResponse, code: number) =>
    answer(response, code, { kind: 'Status', code, message: 'no, reader-token-of-someone' });
  const review = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { namespace, ...attributes } = JSON.parse(Buffer.concat(chunks).toString()).spec.resourceAttributes;
    if (request.headers.authorization !== 'Bearer reader') return status(response, 401);
    if (!identity.answers) return status(response, 500);
    expect(attributes).toEqual({ verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' });
    return answer(response, 201, { status: { allowed: namespace === 'shop' } });
  };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no token'}`);
    if (request.url === '/version') answer(response, 200, { gitVersion: 'v1.36.3', major: '1', minor: '36' });
    else if (request.method === 'POST') void review(request, response);
    else answer(response, 200, { kind: 'Namespace', metadata: { name: 'kube-system', uid: identity.uid } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, identity };
}

/** A console that is configured with clusters at these addresses. */
function startReviewing(servers: Readonly<Record<string, string>>, clusterPins = new MemoryDocument()) {
  const logger = recordingLogger();
  const ports = { clock: systemClock, random: seededRandom(1), logger };
  const candidates = Object.entries(servers).map(([name, url]) => {
    return { name, from: name, fingerprint: url, load: async () => anonymousAccess(url, name) };
  });
  const source = { about: 'a test', read: async () => ({ candidates, problems: [] }) };
  const reviewing = new ReviewingClusters({ sources: [source], clusterPins, ...ports });
  const stop = new AbortController();
  const running = reviewing.run(stop.signal);
  const reviews = new AccessReviews(reviewing.accesses, ports);
  cleanups.push(async () => {
    stop.abort();
    await running;
    await reviews.close();
  });
  return { reviews, logger };
}

test('an identified cluster reviews readers, with their token and no other', async () => {
  const { url, requests } = await startApiServer('uid-1');
  const { reviews } = startReviewing({ prod: url });
  await until('the cluster is identified', async () => reviews.clusters().length > 0);
  expect(reviews.clusters()).toEqual(['uid-1']);
  expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
  expect(await reviews.review('uid-1', 'reader', 'shop')).toBe('allowed');
  expect(await reviews.review('uid-1', 'reader', 'pay')).toBe('denied');
  expect(await reviews.review('uid-1', 'reader', undefined)).toBe('denied');
  requests.length = 0;
  expect(await reviews.review('uid-1', 'stranger', undefined)).toBe('unauthenticated');
  expect(await reviews.review('uid-1', '', undefined)).toBe('unauthenticated');
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  expect(requests).toEqual([`POST ${path} Bearer stranger`]);
});

test('no decision follows from an error or from a cluster that is not connected; what the server says is not logged', async () => {
  const { url, identity } = await startApiServer('uid-1');
  const { reviews, logger } = startReviewing({ prod: url });
  await until('the cluster is identified', async () => reviews.clusters().length > 0);
  identity.answers = false;
  for (let n = 0; n < 2; n++) await expect(reviews.review('uid-1', 'reader', 'shop')).rejects.toThrow();
  await expect(reviews.review('uid-2', 'reader', 'shop')).rejects.toThrow('cluster uid-2 is not connected');
  expect(logger.fields('warn')).toEqual([{ cluster: 'uid-1', reason: 'HTTP status 500' }]);
});

test('a cluster with the identity that the fleet has pinned to another one reviews nothing', async () => {
  const [prod, impostor] = [await startApiServer('uid-1'), await startApiServer('uid-1')];
  const clusterPins = new MemoryDocument();
  const evidence = { identity: 'uid-1', server: prod.url, authorities: ['its authority'] };
  await new StoredIdentities(clusterPins).admit('prod', evidence);
  const before = await clusterPins.read();
  const { reviews, logger } = startReviewing({ impostor: impostor.url }, clusterPins);
  await until('the impostor is refused', async () => logger.fields('error').length > 0);
  expect(reviews.clusters()).toEqual([]);
  expect(await clusterPins.read()).toBe(before);
});
