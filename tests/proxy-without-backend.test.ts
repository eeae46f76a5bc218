import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bus, ForwardingBus, MemoryBus } from '@sluice/bus';
import { ApiServerHttp, FakeApiServer, FakeClient, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { resolve } from '@sluice/fleet/configuration/testing';
import { chainWriter, errorFromResponse, type Middleware } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { advance } from '@sluice/platform/testing';
import { startRole } from '@sluice/sluice';
import { MemoryClusterDirectory, MemoryDeadLetters, MemoryLeases, MemoryStore } from '@sluice/store';
import { expect, test } from 'vitest';
import { differencesFromExpected } from './harness/converged.ts';
import { endpointDifferences } from './harness/expected-endpoints.ts';
import { partitions, startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';

/**
 * A proxy or load balancer that has no backend answers for the API server, without a Status. What it answers says nothing
 * about any object.
 */
class SharedBus extends ForwardingBus {
  override async close(): Promise<void> {}
}

const since = '2026-01-01T00:00:00Z';

test.each([
  [404, false],
  [404, true],
  [409, false],
  [410, false],
  [422, false],
  [403, false],
])('a proxy that answers %i for two seconds leaves nothing wrong (restart: %s)', async (status, restarts) => {
  const clock = new VirtualClock(Date.parse(since));
  const server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 60_000 });
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', nodeObject('n1', 'a'));
  const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
  server.create('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { app: 'web' }, ports },
  });
  const put = (n: number, ready = true) => {
    const ips = [`10.1.0.${n}`];
    server.put('pods', podObject({ name: `web-${n}`, labels: { app: 'web' }, ips, ready, node: 'n1', since }));
  };
  for (const n of [1, 2, 3]) put(n);
  let hasBackend = true;
  let answered = 0;
  const proxy: Middleware = (request, next) => {
    if (hasBackend) return next(request);
    answered++;
    throw errorFromResponse({ status, now: clock.now() }, undefined);
  };
  const writable = { writer: chainWriter(new FakeClient(server, { clock }), proxy) };
  const [store, bus]: [MemoryStore, Bus] = [new MemoryStore(), new MemoryBus({ partitions })];
  let fencingToken = 0;
  const start = () => {
    const kept = { store, wrapBus: () => new SharedBus(bus), storesPublishedState: true };
    return startFleet({ server, clock, seed: 3, ...kept, fencingToken: ++fencingToken, writable });
  };
  const fleet = start();
  await advance(clock, 60_000);
  expect(differencesFromExpected(server)).toEqual([]);
  hasBackend = false;
  put(1, false);
  await advance(clock, 2_000);
  hasBackend = true;
  put(2, false);
  await advance(clock, 60_000);
  expect(answered).toBeGreaterThan(0);
  expect(differencesFromExpected(server)).toEqual([]);
  if (restarts) {
    await fleet.stop();
    const second = start();
    put(3, false);
    await advance(clock, 60_000);
    expect(differencesFromExpected(server)).toEqual([]);
    await second.stop();
  } else await fleet.stop();
});

/** Open watches stay open, as behind a balancer that has lost its backend for new requests only. */
function startProxy(target: URL, isDown: () => boolean): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    if (isDown()) {
      incoming.resume();
      outgoing.writeHead(404, { 'content-type': 'text/html' }).end('default backend - 404');
      return;
    }
    const { method, headers, url: path } = incoming;
    const options = { host: target.hostname, port: target.port, method, headers, path };
    const forwarded = send(options, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  return new Promise((listening) => proxy.listen(0, '127.0.0.1', () => listening(proxy)));
}

test('a worker behind a load balancer that loses its backend for some requests is right afterwards', async () => {
  const clock = systemClock;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-proxy-'));
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const population = populate(server, { services: 6, podsPerService: 3, now: clock.now() });
  const http = new ApiServerHttp({ server, clock });
  let isDown = false;
  let answered = 0;
  const proxy = await startProxy(new URL(await http.listen()), () => {
    if (isDown) answered++;
    return isDown;
  });
  const kubeconfig = join(directory, 'kubeconfig');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url, 'west')), { mode: 0o600 });
  const infrastructure = {
    bus: new MemoryBus({ partitions: 4 }),
    store: new MemoryStore(),
    leases: new MemoryLeases(clock),
    deadLetters: new MemoryDeadLetters(),
    directory: new MemoryClusterDirectory(),
  };
  const flags = { '--kubeconfig': kubeconfig, '--cluster-name': 'west', '--metrics-bind-address': '127.0.0.1:0' };
  const { configuration } = resolve({ flags });
  const ports = { environment: {}, clock, random: seededRandom(2), logger: silentLogger };
  const worker = startRole({ role: 'worker', member: 'a', infrastructure, configuration, ...ports });
  try {
    await expect.poll(() => endpointDifferences(server)).toEqual([]);
    isDown = true;
    for (let service = 0; service < 6; service++) server.put('pods', population.podObject(service, 0, false));
    await expect.poll(() => answered).toBeGreaterThan(12);
    isDown = false;
    for (let service = 0; service < 6; service++) server.put('pods', population.podObject(service, 1, false));
    await expect.poll(() => endpointDifferences(server)).toEqual([]);
  } finally {
    await worker.stop(1_000);
    proxy.closeAllConnections();
    proxy.close();
    await http.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
