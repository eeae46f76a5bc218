import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeApiServer, kubeconfigOfAll } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HostileServer, isOf } from './harness/hostile-server.ts';

/** `sluice doctor` compares the addresses of the clusters that it checks. */
const program = join(import.meta.dirname, '..', 'bin', 'sluice');
const directory = mkdtempSync(join(tmpdir(), 'sluice-doctor-networks-'));
const kubeconfig = join(directory, 'kubeconfig');
const servers: HostileServer[] = [];

interface Shape {
  readonly pods: string;
  readonly services?: string;
  readonly node: string;
  /** Answered with 403. */
  readonly forbidden?: string;
}

/** A cluster with one Node and one Pod, whose address is the fifth of `pods`. Returns its URL. */
async function cluster(seed: number, { pods, services, node, forbidden }: Shape): Promise<string> {
  const api = new FakeApiServer({ clock: systemClock, random: seededRandom(seed) });
  const status = { addresses: [{ type: 'InternalIP', address: node }] };
  api.put('nodes', { metadata: { name: 'node-1' }, spec: { podCIDRs: [pods] }, status });
  const ip = pods.replace(/0\/\d+$/, '5');
  const spec = { containers: [] };
  api.put('pods', { metadata: { namespace: 'default', name: 'web' }, spec, status: { podIP: ip, podIPs: [{ ip }] } });
  const server = new HostileServer(api, (request, response) => {
    const isCidrs = isOf(request, '/apis/networking.k8s.io/v1/servicecidrs');
    const isForbidden = forbidden !== undefined && isOf(request, forbidden);
    if (!isForbidden && (!isCidrs || services === undefined)) return false;
    response.writeHead(isForbidden ? 403 : 200, { 'content-type': 'application/json' });
    const denied = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Forbidden', code: 403 };
    response.end(JSON.stringify(isForbidden ? denied : { items: [{ spec: { cidrs: [services] } }] }));
    return true;
  });
  servers.push(server);
  return server.listen();
}

beforeAll(async () => {
  const east = await cluster(1, { pods: '10.244.0.0/24', services: '10.96.0.0/16', node: '192.168.0.1' });
  const urls = {
    ...{ east, 'east-again': east },
    west: await cluster(2, { pods: '10.244.0.0/23', services: '10.96.0.0/16', node: '192.168.0.1' }),
    north: await cluster(3, { pods: '10.245.0.0/24', services: '10.97.0.0/16', node: '192.168.0.3' }),
    // The discard port: nothing listens.
    gone: 'http://127.0.0.1:9',
    closed: await cluster(4, { pods: '10.246.0.0/24', node: '192.168.0.4', forbidden: '/api/v1/nodes' }),
  };
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOfAll(new Map(Object.entries(urls)))), { mode: 0o600 });
});

afterAll(async () => {
  for (const server of servers) await server.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Found {
  readonly about: string;
  readonly check: string;
  readonly result: string;
  readonly detail: string;
}

/** The lines of `sluice doctor` about all of these clusters. */
async function compared(contexts: string): Promise<{ readonly status: number; readonly lines: readonly string[] }> {
  const args = ['doctor', '--kubeconfig', kubeconfig, '--context', contexts, '-o', 'json'];
  const [status, stdout] = await new Promise<[number, string]>((resolve) => {
    execFile(program, args, (error, stdout) => resolve([error === null ? 0 : Number(error.code), stdout]));
  });
  const checks = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
  const ofClusters = checks.filter(({ about }) => about === 'clusters');
  return { status, lines: ofClusters.map(({ result, check, detail }) => `${result} ${check}: ${detail}`) };
}

test('names ranges and addresses of two clusters that overlap, and does not fail', async () => {
  expect(await compared('east,west,north')).toEqual({
    status: 0,
    lines: [
      'ok identity: distinct in 3 clusters',
      'warning Pod CIDRs: east 10.244.0.0/24 (1 Node) overlaps west 10.244.0.0/23 (1 Node)',
      'note Service CIDRs: east 10.96.0.0/16 overlaps west 10.96.0.0/16',
      'warning Node addresses: 1 address of Nodes in more than one cluster: 192.168.0.1 (east/node-1 and west/node-1)',
      'warning Pod addresses: 1 address of Pods in more than one cluster: ' +
        '10.244.0.5 (east/default/web and west/default/web)',
    ],
  });
});

test('says that the addresses of two clusters are distinct', async () => {
  expect((await compared('east,north')).lines).toEqual([
    'ok identity: distinct in 2 clusters',
    ...['Pod CIDRs', 'Service CIDRs', 'Node addresses', 'Pod addresses'].map(
      (check) => `ok ${check}: distinct in 2 clusters`,
    ),
  ]);
});

test('two names for one cluster do not overlap', async () => {
  expect((await compared('east,east-again')).lines).toEqual([
    expect.stringMatching(/^warning identity: east and east-again are the same cluster: kube-system has the uid /),
  ]);
});

test('reports what it may not read, or what is not served, as not checked', async () => {
  expect((await compared('north,closed')).lines).toEqual([
    'ok identity: distinct in 2 clusters',
    'note Pod CIDRs: not checked: closed: missing: list nodes',
    'note Service CIDRs: not checked: closed: not served by the API server',
    'note Node addresses: not checked: closed: missing: list nodes',
    'ok Pod addresses: distinct in 2 clusters',
  ]);
});

test('a cluster that does not answer is not compared, and does not stop the others', async () => {
  const { status, lines } = await compared('east,gone,north');
  expect(status).toBe(1);
  expect(lines).toContain('ok Pod CIDRs: distinct in 2 clusters');
  expect(lines.at(-1)).toMatch(/^note addresses: not checked: gone: .*127\.0\.0\.1:9/);
});

test('one cluster is compared with nothing', async () => {
  expect((await compared('east')).lines).toEqual([]);
});
