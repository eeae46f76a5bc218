import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { FoundProblem } from '@sluice/recording/problems';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { problemWebhook } from './problem-webhook.ts';

let server: Server;
let status: number;
let received: unknown[];
let url: string;

beforeEach(async () => {
  [status, received] = [200, []];
  server = createServer(async (request, response) => {
    received.push({ method: request.method, url: request.url, body: await json(request) });
    response.writeHead(status, { location: '/elsewhere' }).end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/hush`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const problem: FoundProblem = {
  ...{ key: 'c/shop/web', reason: 'NoReadyEndpoints', severity: 'critical', message: '1 Pod: 1 not ready' },
  ...{ from: 1_000, to: null, isStartKnown: true, event: 'Pod shop/web-1 became not ready' },
};
const nameOf = (cluster: string) => (cluster === 'c' ? 'prod' : cluster);

test('problems are sent in the format of Alertmanager', async () => {
  const ended: FoundProblem = { ...problem, key: 'c/shop/db', event: null };
  await problemWebhook(url)({ started: [problem], ended: [ended] }, 60_000, nameOf);
  const labels = { alertname: 'NoReadyEndpoints', severity: 'critical', cluster: 'prod', namespace: 'shop' };
  expect(received).toMatchObject([
    {
      ...{ method: 'POST', url: '/services/hush' },
      body: {
        ...{ version: '4', status: 'firing' },
        alerts: [
          {
            ...{ status: 'firing', labels: { ...labels, service: 'web' }, startsAt: '1970-01-01T00:00:01.000Z' },
            annotations: {
              summary: 'shop/web in prod: 1 Pod: 1 not ready',
              event: 'Pod shop/web-1 became not ready',
              runbook_url: expect.stringContaining('runbooks/service-problems.md'),
            },
          },
          { status: 'resolved', labels: { ...labels, service: 'db' }, endsAt: '1970-01-01T00:01:00.000Z' },
        ],
      },
    },
  ]);
});

test('a problem over all clusters and a lost cluster are named as such', async () => {
  const notServed: FoundProblem = { ...problem, key: '*/shop/web', reason: 'NotServed' };
  const lost: FoundProblem = { ...problem, key: 'c/*/*', reason: 'LostCluster', message: 'not watched' };
  await problemWebhook(url)({ started: [notServed, lost], ended: [] }, 1, nameOf);
  expect(received).toMatchObject([
    {
      body: {
        alerts: [
          { annotations: { summary: 'shop/web in all clusters: 1 Pod: 1 not ready' } },
          { labels: { cluster: 'prod' }, annotations: { summary: 'cluster prod: not watched' } },
        ],
      },
    },
  ]);
});

test('a message with problems that ended only is resolved', async () => {
  await problemWebhook(url)({ started: [], ended: [problem] }, 1, nameOf);
  expect(received).toMatchObject([{ body: { status: 'resolved' } }]);
});

test('an answer without success is an error that does not name the address', async () => {
  status = 403;
  const send = () => problemWebhook(url)({ started: [problem], ended: [] }, 1, nameOf);
  await expect(send()).rejects.toThrow(/^HTTP status 403$/);
  status = 302;
  await expect(send()).rejects.toThrow(/^no connection$/);
  server.closeAllConnections();
  server.close();
  await expect(send()).rejects.toThrow(/^no connection$/);
});

test('an address that is no URL is rejected at once, without it in the error', () => {
  expect(() => problemWebhook('hush')).toThrow(
    /^recording\.webhookUrl \(--problems-webhook-file\) is not a URL such as/,
  );
});
