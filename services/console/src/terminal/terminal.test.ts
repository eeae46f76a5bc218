import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Change,
  encodeMessage,
  formatServiceKey,
  type Outcome,
  type PlannedMutations,
  type ServiceKey,
} from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConsoleClient } from '../client/console-client.ts';
import { toParkedKey } from '../fleet/parked-key.ts';
import { History } from '../history/history.ts';
import { createConsole } from '../http/lazy-console.ts';
import { findService, parseServiceName, qualified } from './find-service.ts';
import { printPod, printPodDetail, printService } from './print-explanation.ts';
import { historyPreface, printEntry } from './print-history.ts';
import { listParked } from './print-parked.ts';
import { printTraces, traceLines } from './print-traces.ts';
import { textFormatFor } from './text.ts';

const startedAt = new Date(2026, 0, 1, 12, 0, 0).getTime();
const format = textFormatFor({}, startedAt + 60_000);
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const key: ServiceKey = { cluster: 'uid-1', namespace: 'shop', service: 'web' };
let url: string;
let close: () => Promise<void>;
let client: ConsoleClient;
/** Adds a record of the bus to the history. */
let add: (message: Change | Outcome | PlannedMutations) => void;

/** A console with shop/web in two clusters, one of which has a Pod, and shop/only in one. */
beforeEach(async () => {
  const clock = new VirtualClock(startedAt);
  const history = new History({ clock });
  add = (message) => {
    const record = { id: 'any', key: formatServiceKey(message.key), headers: { traceparent } };
    const topic = message.kind === 'mutations' ? 'mutations' : 'changes';
    history.add(topic, 0, { ...record, payload: encodeMessage(message) });
  };
  for (const known of [key, { ...key, cluster: 'uid-2' }, { ...key, service: 'only' }]) add(snapshot(known));
  add(pod(2, startedAt + 2_000));
  add(plan(startedAt + 2_001));
  add(outcome(startedAt + 2_012));
  clock.step(startedAt + 60_000);
  const cluster = (identity: string, name: string) => ({ identity, name, version: '', server: '', state: 'watched' });
  const clusters = () => [cluster('uid-1', 'production'), cluster('uid-2', 'staging')];
  const jaeger = 'http://jaeger/trace/{traceId}';
  const access = { hosts: [], token: 'secret' };
  const app = await createConsole({
    ...{ history, sources: { clusters }, access, clock, logger: silentLogger, version: '0.1.0', jaeger },
  });
  const server = createServer(app.handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new ConsoleClient({ url, token: 'secret' });
  close = async () => {
    await app.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});

afterEach(() => close());

const causes = { first: [{ description: 'Pod shop/web-1 became ready', observedAt: startedAt + 2_000 }], more: 0 };

function snapshot(of: ServiceKey): Change {
  const service = {
    ...{ namespace: 'shop', name: of.service, uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', deleting: false },
    ...{ labels: {}, annotations: {}, type: 'ClusterIP', selector: { app: 'web' }, clusterIP: '10.96.0.1' },
    ...{ ipFamilies: ['IPv4'], publishNotReadyAddresses: false, trafficDistribution: null },
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: null }],
  } as const;
  return {
    ...{ kind: 'change', key: of, stamp: { epoch: 1, sequence: 1 }, facts: [{ kind: 'service', service }] },
    ...{ causes: { first: [], more: 0 } },
    snapshot: { first: true, last: true, initial: false, resourceVersions: { endpoints: '1', endpointslices: '1' } },
  } as Change;
}

function pod(sequence: number, observedAt: number): Change {
  const fact = {
    ...{ namespace: 'shop', name: 'web-1', uid: 'p', ip: '10.0.0.1', ips: ['10.0.0.1'], nodeName: 'node-a' },
    ...{ hostname: '', subdomain: '', terminal: false, terminating: false, ready: true, ports: [] },
    readyTransitionTime: new Date(startedAt + 2_000).toISOString(),
  };
  const facts = [{ kind: 'pod', name: 'web-1', node: { zone: 'a' }, pod: fact }] as unknown as Change['facts'];
  return {
    kind: 'change',
    key,
    stamp: { epoch: 1, sequence },
    facts,
    causes: { first: [{ description: 'x', observedAt }], more: 0 },
  };
}

const slice = {
  metadata: {
    ...{ name: 'web-abc', namespace: 'shop' },
    labels: {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
  },
  addressType: 'IPv4',
  ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  endpoints: [
    {
      ...{ addresses: ['10.0.0.1'], nodeName: 'node-a', zone: 'a' },
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'p' },
    },
  ],
} as const;

function plan(decidedAt: number): PlannedMutations {
  return {
    ...{ kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, events: [], causes },
    ...{ groups: [{ mutations: [{ verb: 'create', resource: 'endpointslices', object: slice }] }] },
    ...{ incomplete: [], serviceUid: 'u', decidedAt },
  } as unknown as PlannedMutations;
}

function outcome(completedAt: number): Outcome {
  const stored = { uid: 's', resourceVersion: '7', generation: 1 };
  const result = { group: 0, index: 0, verb: 'create', resource: 'endpointslices', name: 'web-abc', status: 'applied' };
  return {
    ...{ kind: 'outcome', key, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, status: 'applied' },
    ...{ results: [{ ...result, stored }], message: '', causes, decidedAt: startedAt + 2_001, completedAt, retries: 0 },
  } as unknown as Outcome;
}

const web = { cluster: 'production', namespace: 'shop', service: 'web' };

describe('findService', () => {
  const find = async (text: string, cluster?: string) => findService(client, await client.overview(), text, cluster);

  test('finds the given cluster, or the only one with the Service', async () => {
    expect(await find('shop/web', 'staging')).toEqual({ ...web, cluster: 'staging' });
    expect(await find('shop/only')).toEqual({ ...web, service: 'only', cluster: 'uid-1' });
  });

  test('lists the choices if the cluster is ambiguous or unknown', async () => {
    await expect(find('shop/web')).rejects.toThrow(
      'exists in several clusters; pass --cluster with one of: production, staging',
    );
    await expect(find('shop/web', 'test')).rejects.toThrow(
      'cluster test not found; known clusters: production, staging',
    );
    await expect(find('shop/none')).rejects.toThrow('no history for Service shop/none in any cluster');
    for (const text of ['web', 'a/b/c', '/web', '']) expect(() => parseServiceName(text)).toThrow('NAMESPACE/SERVICE');
  });
});

describe('errors say what to do', () => {
  test('for an unknown Service and a time before the history', async () => {
    await expect(client.service({ ...web, service: 'wob' })).rejects.toThrow(/in cluster production\nKnown: shop\//);
    await expect(client.service(web, startedAt - 1_000)).rejects.toThrow(
      /the history starts at .*\nRequest a later time/,
    );
  });

  test('for a missing token, another server, and no server', async () => {
    await expect(new ConsoleClient({ url }).overview()).rejects.toThrow('pass --console-token-file');
    const other = createServer((_, response) => response.writeHead(404).end('there is /metrics'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await expect(new ConsoleClient({ url: address }).overview()).rejects.toThrow(
      'is not a Sluice console (HTTP status 404)',
    );
    await new Promise((resolve) => other.close(resolve));
    await expect(new ConsoleClient({ url: address }).overview()).rejects.toThrow(
      /cannot reach a console at .*ECONNREFUSED/,
    );
  });
});

function expectToFit(text: string): void {
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);
}

test('prints the history with causes and durations', async () => {
  const { entries } = await client.history(web, { since: startedAt + 1_000 });
  expect(entries.map((entry) => printEntry(entry, format)).join('')).toBe(
    '12:00:02.000  observed Pod web-1 appeared: ready, 10.0.0.1, on node-a\n' +
      '12:00:02.001  decided  endpointslice: create endpointslices web-abc\n' +
      '12:00:02.012  applied  endpointslice: create web-abc, 12 ms after the first cause\n' +
      '                       + web-1 10.0.0.1, ready, zone a\n' +
      '                       because: Pod shop/web-1 became ready\n',
  );
  // With and without the date.
  for (const now of [format.now, format.now + 86_400_000])
    expectToFit(entries.map((entry) => printEntry(entry, { ...format, now, width: 60 })).join(''));
});

test('explains a Pod and when its endpoint was added', async () => {
  expect(printPod(await client.pod(web, 'web-1'), format)).toBe(
    'web-1: ready (node node-a, zone a)\n' +
      '  10.0.0.1 in web-abc\n' +
      '  its condition Ready is True since 12:00:02\n' +
      '  endpoint was added at 12:00:02.012 (58.0 s ago), 12 ms after the first cause: Pod shop/web-1 became ready\n',
  );
  expect(printService(await client.service(web), format)).toContain('1 of 1 endpoints ready');
  expect(printService(await client.service(web, startedAt + 1_000), format)).toContain('No Pods.');
  expectToFit(printService(await client.service(web), { ...format, width: 60 }));
});

test('lists traces with links to Jaeger', async () => {
  const lines = traceLines(await client.history(web, {}), (await client.overview()).jaeger);
  expect(lines).toMatchObject([
    { traceId: '0af7651916cd43dd8448eb211c80319c', link: 'http://jaeger/trace/0af7651916cd43dd8448eb211c80319c' },
  ]);
  expect(printTraces(lines, format)).toContain('12 ms');
});

test('lists refused writes as parked, also without a store', async () => {
  expect(await client.parked()).toEqual([]);
  const message = 'forbidden by a webhook';
  add(plan(startedAt + 3_000));
  add({ ...outcome(startedAt + 3_010), status: 'rejected', results: [], message });
  const parked = (await client.parked()).map(toParkedKey);
  expect(parked).toMatchObject([{ name: 'uid-1/shop/web/endpointslice', key, reason: message }]);
  expect(listParked(parked, format)).toContain(message);
});

describe('what an on-call engineer must not overlook', () => {
  const detailOf = (service = 'web') => client.service({ cluster: 'uid-1', namespace: 'shop', service });

  test('a cluster that does not answer: the state is from that time', async () => {
    const outage = { what: 'production', since: startedAt + 30_000, reason: 'connection refused' };
    const [first, second] = printService({ ...(await detailOf()), outage }, format).split('\n');
    expect(first).toBe(
      'production has not answered since 12:00:30 (connection refused); the state below is from that time',
    );
    expect(second).toContain('Service shop/web in production, as of 12:00:30: ok');
    const history = await client.history(web, {});
    expect(historyPreface({ ...history, outage }, undefined, format)).toBe(
      'production has not answered since 12:00:30 (connection refused); later changes are unknown\n',
    );
    expect(historyPreface({ ...history, outage: null }, undefined, format)).toBe('');
  });

  test('a problem instead of healthy counts', async () => {
    const { summary, ...detail } = await detailOf();
    const headOf = (given: Partial<typeof summary>) =>
      printService({ ...detail, summary: { ...summary, ...given } }, format).split('\n')[0];
    const leftOut = '2 ready, 1 Pod left out because Node node-b does not exist';
    expect(headOf({ status: 'degraded', problem: leftOut })).toMatch(new RegExp(`now: degraded: ${leftOut}$`));
    const unreachable =
      'no reachable endpoints: port web refers to container port "htpp", which no Pod has (available: http)';
    expect(headOf({ status: 'empty', problem: unreachable })?.endsWith(`now: ${unreachable}`)).toBe(true);
  });

  test('a Pod on its own: of which Service and cluster, and when', async () => {
    const view = await client.pod({ cluster: 'uid-1', namespace: 'shop', service: 'web' }, 'web-1');
    const heading = { service: 'shop/web', clusterName: 'production' };
    const [first, second] = printPodDetail(view, { ...heading, at: undefined }, format).split('\n');
    expect(first).toBe('Service shop/web in production, now');
    expect(second).toMatch(/^web-1: /);
    const at = new Date(2026, 0, 1, 12, 0, 30).getTime();
    expect(printPodDetail(view, { ...heading, at }, { ...format, now: at + 5_000 })).toMatch(
      /^Service shop\/web in production, at 12:00:30\.000\n/,
    );
  });

  test('a Pod whose readiness flaps', async () => {
    const view = await client.pod({ cluster: 'uid-1', namespace: 'shop', service: 'web' }, 'web-1');
    expect(printPod({ ...view, readinessChanges: 8 }, format)).toContain(
      'its readiness changed 8 times in the last minute',
    );
    expect(printPod(view, format)).not.toContain('readiness changed');
  });
});

test('-n names the namespace of a Service', () => {
  expect(qualified('web', 'shop')).toBe('shop/web');
  expect(qualified('shop/web', undefined)).toBe('shop/web');
  expect(() => qualified('shop/web', 'shop')).toThrow('already names a namespace');
});
