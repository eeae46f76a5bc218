import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConsole, History } from '@sluice/console';
import { ClusterLog, endpoint, served } from '@sluice/logical-services/testing';
import { encodeMessage } from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { Command } from 'commander';
import { load } from 'js-yaml';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addInspectCommands } from './inspect.ts';
import { addServicesCommand } from './services.ts';

const names = ['east', 'west'];
let server: Server;
let close: () => Promise<void>;
let url: string;
let written: string;

beforeEach(async () => {
  written = '';
  const clock = new VirtualClock(0);
  const history = new History({ clock });
  for (const [i, cluster] of names.entries()) {
    const log = new ClusterLog(cluster);
    log.snapshot('web', served([endpoint('a')]));
    log.snapshot('cart', served([endpoint('b', cluster === 'east')]));
    for (const { key, message } of log.records)
      history.add('changes', i, { id: '', key, headers: {}, payload: encodeMessage(message) });
  }
  const clusters = names.map((name) => ({ identity: name, name, version: '', server: '', state: 'watched' }));
  const options = { clock, logger: silentLogger, version: '', access: { hosts: [] } };
  const console = await createConsole({ history, sources: { clusters: () => clusters }, ...options });
  close = () => console.close();
  server = createServer((request, response) => console.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function run(...args: readonly string[]): Promise<string> {
  const program = new Command('sluice').exitOverride();
  addInspectCommands(program);
  addServicesCommand(program);
  await program.parseAsync([...args, '--console', url], { from: 'user' });
  return written;
}

/** Words of each line. */
const rows = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

test('lists the Services of each cluster', async () => {
  const [head, ...services] = rows(await run('services'));
  expect(head?.slice(0, 5)).toEqual(['CLUSTER', 'NAMESPACE', 'SERVICE', 'STATUS', 'READY']);
  expect(services.map((row) => row.slice(0, 5))).toEqual([
    ['east', 'shop', 'cart', 'ok', '1/1'],
    ['east', 'shop', 'web', 'ok', '1/1'],
    ['west', 'shop', 'cart', 'empty', '0/1'],
    ['west', 'shop', 'web', 'ok', '1/1'],
  ]);
});

test('lists only Services with problems', async () => {
  const reason = 'No Pod matches: the Service has selector app=web';
  expect(rows(await run('services', '--problems')).slice(1)).toEqual([
    ['west', 'shop', 'cart', 'empty', '0/1', '1', reason],
  ]);
});

test('selects by label, sorts, and lists as kubectl does', async () => {
  expect(rows(await run('services', '-l', 'app=none'))).toEqual([['No such Service.']]);
  written = '';
  const [head, first] = rows(await run('services', '-A', '-o', 'wide', '--sort-by', 'ready', '-l', '!team'));
  expect(head).toEqual([
    ...['CLUSTER', 'NAMESPACE', 'SERVICE', 'STATUS', 'READY', 'SLICES', 'PODS', 'LAST WRITE', 'LATENCY', 'REASON'],
  ]);
  expect(first?.slice(0, 5)).toEqual(['west', 'shop', 'cart', 'empty', '0/1']);
  written = '';
  expect(await run('services', '-o', 'name', '-n', 'shop')).toBe('shop/cart\nshop/web\n');
  written = '';
  expect(load(await run('services', '-o', 'yaml', '-n', 'shop'))).toMatchObject({
    total: 4,
    items: [{ name: 'cart' }, {}, {}, {}],
  });
});

test('joins the Services of all clusters', async () => {
  expect(rows(await run('services', '--all-clusters')).slice(1)).toEqual([
    ['shop', 'cart', '1/2', '1/2', 'ServedByOneCluster +1', 'only east has ready endpoints (1)'],
    ['shop', 'web', '2/2', '2/2', 'ok'],
  ]);
});

test('shows what the loss of a cluster would mean', async () => {
  expect(rows(await run('services', '--all-clusters', '--without', 'east', '--problems')).slice(1)).toMatchObject([
    ['shop', 'cart', '0/1', '0/2', 'NotServed', 'no ready endpoint in west'],
    ['shop', 'web', '1/1', '1/2', 'ServedByOneCluster', 'only west has ready endpoints (1)'],
  ]);
});

test.each([
  [['services', '--without', 'east'], '--without needs --all-clusters'],
  [['services', '-A', '-n', 'shop'], /-n selects one namespace and -A all/],
  [['services', '--all-clusters', '-l', 'a=b'], /--selector and --all-clusters exclude each other/],
  [['services', '-l', 'a=b=c'], /is no label selector/],
  [['services', '--all-clusters', '--cluster', 'east'], /--cluster selects one cluster/],
  [['explain', 'shop/web', '--all-clusters', '--at', '12:00'], /--at and --all-clusters exclude each other/],
  [['history', 'shop/web', '--all-clusters', '-f'], /--follow and --all-clusters exclude each other/],
  [['explain', 'shop/none', '--all-clusters'], /no cluster has a Service shop\/none/],
])('rejects %j', async (args, reason) => {
  await expect(run(...args)).rejects.toThrow(reason);
});

test('explains a Service in all clusters', async () => {
  const text = await run('explain', 'shop/cart', '--all-clusters');
  expect(text).toContain('Service shop/cart in all clusters: 1 of 2 endpoints ready, in 1 of 2 clusters\n');
  expect(text).toContain('NoReadyEndpointsInCluster: no ready endpoint in west\n');
  expect(
    JSON.parse((await run('explain', 'shop/cart', '--all-clusters', '-o', 'json')).slice(text.length)),
  ).toMatchObject({
    ...{ name: 'cart', clusters: [{ clusterName: 'east' }, { clusterName: 'west' }] },
  });
});

test('a Service without a namespace is in that of the current context', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-namespace-'));
  const file = join(directory, 'config');
  writeFileSync(
    file,
    "{current-context: a, clusters: [{name: a, cluster: {server: 'https://a'}}], contexts: [{name: a, context: {cluster: a, namespace: shop}}]}",
  );
  vi.stubEnv('KUBECONFIG', file);
  expect(await run('explain', 'cart', '--all-clusters')).toContain('Service shop/cart in all clusters');
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test('shows the histories of all clusters on one time axis', async () => {
  const text = await run('history', 'shop/cart', '--all-clusters');
  const clusters = text
    .split('\n')
    .flatMap((line) => /^[\d-]+ [\d:.]+ {2}(east|west) {2}observed/.exec(line)?.[1] ?? []);
  expect(clusters).toEqual(['east', 'west']);
});
