import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, FaultPlan, kubeconfigOf, populate } from '@sluice/fake-apiserver';
import { connect } from '@sluice/fleet/clusters';
import { type Resource, watchedResources } from '@sluice/kubernetes';
import type { Controller } from '@sluice/model';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne } from '@sluice/sluice';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** Each controller reads only what it needs: the server forbids the rest, and is not asked for it. */

class RequestedResources extends FaultPlan {
  readonly seen = new Set<string>();

  override take(request: Parameters<FaultPlan['take']>[0]) {
    this.seen.add(request.resource);
    return super.take(request);
  }
}

const ports = { clock, random: seededRandom(1), logger: silentLogger };
let directory: string;
let kubeconfig: string;
let server: FakeApiServer;
let api: ApiServerHttp;
let requested: RequestedResources;
let stop: (() => Promise<unknown>) | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-enabled-'));
  server = new FakeApiServer({ clock, random: seededRandom(2) });
  populate(server, { services: 2, podsPerService: 3, now: clock.now() });
  requested = new RequestedResources();
  api = new ApiServerHttp({ server, clock, faults: requested });
  kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await api.listen(), 'west')), { mode: 0o600 });
});

afterEach(async () => {
  await stop?.();
  stop = undefined;
  await api.close();
  rmSync(directory, { recursive: true, force: true });
});

async function run(controller: Controller, ...forbidden: readonly Resource[]): Promise<void> {
  for (const resource of forbidden) requested.add({ resource, error: 'forbidden' });
  const controllers = new Set([controller]);
  const cluster = await connect({ kubeconfig, controllers, ...ports }, {});
  const fleet = startAllInOne({ clusters: [cluster], settings: { ...defaultSettings, controllers }, ...ports });
  stop = async () => {
    await fleet.stop(0);
    await cluster.close();
  };
  await fleet.synced;
}

const notRequested = () => watchedResources.filter((resource) => !requested.seen.has(resource));

test('the EndpointSlice controller reads no Endpoints', async () => {
  await run('endpointslice', 'endpoints');
  await expect.poll(() => server.list('endpointslices').items.length).toBe(2);
  expect(notRequested()).toEqual(['endpoints']);
});

test('the Endpoints controller reads neither EndpointSlices nor Nodes', async () => {
  await run('endpoints', 'endpointslices', 'nodes');
  await expect.poll(() => server.list('endpoints').items.length).toBe(2);
  expect(notRequested()).toEqual(['nodes', 'endpointslices']);
});

test('the EndpointSliceMirroring controller reads no Nodes, and Pods only of kube-controller-manager', async () => {
  server.create('services', { metadata: { name: 'custom', namespace: 'default' }, spec: { ports: [{ port: 80 }] } });
  server.create('endpoints', {
    metadata: { name: 'custom', namespace: 'default' },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }],
  });
  await run('endpointslicemirroring', 'nodes');
  await expect.poll(() => server.list('endpointslices').items.length).toBe(1);
  expect(notRequested()).toEqual(['nodes']);
});
