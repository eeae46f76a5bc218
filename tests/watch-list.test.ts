import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryBus } from '@sluice/bus';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { ClusterSet, connect, connectReading, connectTo, kubeconfigSource } from '@sluice/fleet/clusters';
import { resolve } from '@sluice/fleet/configuration/testing';
import { watchedResources } from '@sluice/kubernetes';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne, startRole, startShadow } from '@sluice/sluice';
import { MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** With any middleware between reflector and server, the initial state is read by WatchList (KEP-3157). */
const ports = { clock, random: seededRandom(1), logger: silentLogger };
const settings = defaultSettings;
const environment = {};
let api: ApiServerHttp;
let proxy: Server;
let directory: string;
let kubeconfig: string;
let paths: string[];
let stop: (() => Promise<unknown>) | undefined;

beforeEach(async () => {
  api = new ApiServerHttp({ server: new FakeApiServer({ clock, random: seededRandom(2) }), clock });
  const upstream = new URL(await api.listen());
  paths = [];
  proxy = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming;
    paths.push(url);
    const outgoing = request(new URL(url, upstream), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const { port } = proxy.address() as AddressInfo;
  directory = await mkdtemp(join(tmpdir(), 'sluice-watch-list-'));
  kubeconfig = join(directory, 'config');
  await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(`http://127.0.0.1:${port}`)));
});

afterEach(async () => {
  await stop?.();
  stop = undefined;
  proxy.closeAllConnections();
  proxy.close();
  await api.close();
  await rm(directory, { recursive: true });
});

/** Waits until each resource is watched, and fails if one was listed in pages. */
async function expectWatchLists(): Promise<void> {
  const watched = () => {
    const watchLists = paths.filter((path) => path.includes('sendInitialEvents=true'));
    return watchedResources.filter((resource) => watchLists.some((path) => path.includes(`/${resource}?`)));
  };
  // A reflector requests pages of 500 objects; preflight checks request fewer.
  const pages = () => paths.filter((path) => path.includes('limit=500') && !path.includes('labelSelector'));
  await expect.poll(() => [watched(), pages()]).toEqual([watchedResources, []]);
}

test('sluice run with one cluster', async () => {
  const cluster = await connect({ kubeconfig, ...ports }, environment);
  const fleet = startAllInOne({ clusters: [cluster], settings, ...ports });
  stop = async () => {
    await fleet.stop(0);
    await cluster.close();
  };
  await fleet.synced;
  await expectWatchLists();
});

test('sluice run with several clusters', async () => {
  const fleet = startAllInOne({ clusters: [], settings, ...ports });
  const clusters = new ClusterSet({
    ...ports,
    sources: [kubeconfigSource({ path: kubeconfig, name: 'one' })],
    open: (access, signal) => connectTo(access, { ...ports, signal }),
    serve: (cluster, signal) => fleet.serve(cluster, signal),
  });
  const ending = new AbortController();
  const running = clusters.run(ending.signal);
  stop = async () => {
    ending.abort();
    await Promise.all([running, fleet.stop(0)]);
  };
  await expectWatchLists();
});

test('the watcher of a fleet', async () => {
  const watcher = startRole({
    ...ports,
    role: 'watcher',
    member: 'watcher-0',
    infrastructure: {
      ...{ bus: new MemoryBus({ partitions: 2 }), store: new MemoryStore() },
      ...{ leases: new MemoryLeases(clock), deadLetters: new MemoryDeadLetters() },
    },
    environment,
    configuration: resolve({
      flags: { '--metrics-bind-address': '0' },
      file: `clusters: [{ name: one, kubeconfig: ${kubeconfig} }]`,
    }).configuration,
  });
  stop = () => watcher.stop(0);
  await expectWatchLists();
});

test('shadow mode', async () => {
  const cluster = await connectReading({ kubeconfig, ...ports }, environment);
  const shadow = startShadow({
    ...ports,
    settings,
    gracePeriodMs: 10_000,
    metrics: new Metrics({ clusters: new Map(), process: false }),
    clusters: [{ ...cluster, existing: () => Promise.reject(new Error('not used')) }],
  });
  stop = async () => {
    await shadow.stop();
    await cluster.close();
  };
  await expectWatchLists();
});
