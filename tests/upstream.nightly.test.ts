import {
  type ApiClient,
  applyNode,
  applyPod,
  applySampleObjects,
  type Comparison,
  customEndpoints,
  endpointsObject,
  hasOtherPortOrder,
  namespace,
  Pair,
  pod,
  podStatus,
  type Reference,
  type Resource,
  rewritesAbsentPorts,
  serviceObject,
  services,
  since,
  sliceObject,
} from '@sluice/conformance';
import { kubernetesUnderTest } from '@sluice/local';
import {
  describeDifference,
  type JsonObject,
  labelOf,
  listAt,
  objectAt,
  serviceNameLabel,
  textAt,
  triggerTimeAnnotation,
} from '@sluice/shadow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * The same objects on two real API servers, with kube-controller-manager on one and Sluice on the other: after any
 * action of a user, both converge to the same Endpoints and EndpointSlices.
 */
let pair: Pair;

beforeAll(async () => {
  pair = await Pair.start();
  await pair.startUpstream();
  await pair.startSluice();
});

afterAll(() => pair?.stop());

const of = (resource: Resource, name: string): Reference => ({ resource, namespace, name });
const patch = (resource: Resource, name: string, change: JsonObject, subresource?: 'status') =>
  pair.apply((client) => client.patch(of(resource, name), change, subresource));
const remove = (resource: Resource, name: string, graceSeconds = 0) =>
  pair.apply((client) => client.delete(of(resource, name), graceSeconds));

/** Waits until both sides agree, and fails with the differences otherwise. */
async function agree(): Promise<Comparison> {
  // The distribution of endpoints over several slices is random after deletions (M3).
  const rest = await pair.converge({ isExplained: ({ kind }) => kind === 'sizes' });
  expect(rest.differences.map(describeDifference).join('\n')).toBe('');
  return rest;
}

const slicesOf = (slices: readonly JsonObject[], service: string) =>
  slices.filter((slice) => labelOf(slice, serviceNameLabel) === service);

/** Applies an action to the first slice of a Service, on both sides. */
async function toFirstSlice(service: string, action: (client: ApiClient, slice: Reference) => Promise<unknown>) {
  await pair.apply(async (client) => {
    const [slice] = slicesOf(await client.list('endpointslices'), service);
    if (slice === undefined) throw new Error(`${service} has no slice`);
    await action(client, of('endpointslices', textAt(slice.metadata, 'name')));
  });
}

const ready = (isReady: boolean, ip: string, changed = since) =>
  podStatus({ phase: 'Running', ips: [ip], ready: isReady, since: changed });

describe('Sluice and the upstream controllers write the same', () => {
  it('for Services of each kind and Pods in each state', async () => {
    await applySampleObjects(pair);
    const { sluice } = await agree();
    for (const name of Object.keys(services)) {
      const count = slicesOf(sluice.endpointslices, name).length;
      if (name === 'external' || name === 'custom-not-mirrored') expect([name, count]).toEqual([name, 0]);
      else expect([name, count > 0]).toEqual([name, true]);
    }
  });

  it('when readiness flips, with the trigger time in the annotation', async () => {
    await patch('pods', 'web-1', ready(false, '10.1.0.1', '2026-02-01T10:00:00Z'), 'status');
    await patch('pods', 'web-3', ready(true, '10.1.0.3', '2026-02-01T10:00:00Z'), 'status');
    const rest = await agree();
    for (const state of [rest.upstream, rest.sluice]) {
      const [slice] = slicesOf(state.endpointslices, 'web');
      expect(textAt(objectAt(slice?.metadata, 'annotations'), triggerTimeAnnotation)).toBe('2026-02-01T10:00:00Z');
    }
  });

  it('when labels move Pods in, out and between Services', async () => {
    await patch('pods', 'web-2', { metadata: { labels: { app: 'nobody' } } });
    await patch('pods', 'headless-2', { metadata: { labels: { app: null } } });
    await agree();
    await patch('pods', 'web-2', { metadata: { labels: { app: 'web' } } });
    await agree();
  });

  it('when Pods terminate, finish and are deleted', async () => {
    await remove('pods', 'auto-0', 300);
    await remove('pods', 'not-ready-too-1', 300);
    await patch('pods', 'auto-1', { status: { phase: 'Failed', conditions: [] } }, 'status');
    await remove('pods', 'ports-2');
    await remove('pods', 'leaves-1');
    const { sluice } = await agree();
    const [slice] = slicesOf(sluice.endpointslices, 'auto');
    expect(listAt(slice, 'endpoints').filter((e) => objectAt(e, 'conditions').terminating === true)).toHaveLength(1);
  });

  it('when a Pod is recreated under its name', async () => {
    await applyPod(pair, pod('leaves-1', 'leaves', '10.1.10.2'));
    await agree();
  });

  it('when Services change their ports, labels, families, distribution and selector', async () => {
    await patch('services', 'web', { metadata: { labels: { team: null, tier: 'front' } } });
    await patch('services', 'headless', { spec: { ports: [{ name: 'http', port: 80, targetPort: 9000 }] } });
    await patch('services', 'dual', {
      spec: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'], clusterIPs: null },
    });
    await patch('services', 'close', { spec: { trafficDistribution: null } });
    await patch('services', 'auto', { metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } } });
    await patch('services', 'not-ready-too', { spec: { publishNotReadyAddresses: false } });
    await patch('services', 'nobody', { spec: { selector: { app: 'web' } } });
    await agree();
  });

  it('when a selector is removed and added', async () => {
    await patch('services', 'web', { spec: { selector: null } });
    await agree();
    await patch('services', 'web', { spec: { selector: { app: 'web' } } });
    await agree();
  });

  it('when a Service becomes an ExternalName', async () => {
    const external = { type: 'ExternalName', externalName: 'example.org', clusterIP: null, clusterIPs: null };
    await patch('services', 'node-port', { spec: { ...external, ipFamilies: null, ipFamilyPolicy: null } });
    await agree();
  });

  it('when a Service is deleted and recreated under its name', async () => {
    await remove('services', 'leaves');
    await remove('services', 'custom');
    const { sluice } = await agree();
    expect(sluice.endpoints.map(({ metadata }) => textAt(metadata, 'name'))).not.toContain('leaves');
    for (const name of ['leaves', 'custom']) {
      const object = serviceObject({ namespace, name, ...(services[name] ?? { spec: {} }) });
      await pair.apply((client) => client.create('services', object));
    }
    await agree();
    // The user-managed Endpoints were deleted with the Service (D5).
    const [custom] = customEndpoints;
    if (custom !== undefined) await pair.apply((client) => client.create('endpoints', endpointsObject(custom)));
    await agree();
  });

  it('when slices are edited and deleted manually', async () => {
    await toFirstSlice('web', (client, slice) => client.patch(slice, { endpoints: [] }));
    await toFirstSlice('headless', (client, slice) => client.delete(slice));
    await toFirstSlice('ports', (client, slice) => client.patch(slice, { metadata: { labels: { mine: 'yes' } } }));
    await toFirstSlice('six', (client, slice) => client.patch(slice, { ports: [{ name: 'wrong', port: 1 }] }));
    await toFirstSlice('dual', (client, slice) => client.patch(slice, { metadata: { ownerReferences: null } }));
    await toFirstSlice('custom', (client, slice) =>
      client.patch(slice, { endpoints: [{ addresses: ['192.0.2.77'] }] }),
    );
    await toFirstSlice('custom-two-families', (client, slice) => client.delete(slice));
    await agree();
  });

  it('when a user creates slices for a Service', async () => {
    const object = sliceObject({
      namespace,
      name: 'by-hand',
      labels: { [serviceNameLabel]: 'web' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.50'] }],
      ports: [{ name: 'http', port: 8080 }],
    });
    await pair.apply((client) => client.create('endpointslices', object));
    const rest = await agree();
    expect(rest.sluice.endpointslices.map(({ metadata }) => textAt(metadata, 'name'))).toContain('by-hand');
  });

  it('when Endpoints are edited and deleted manually', async () => {
    await patch('endpoints', 'web', { subsets: [{ addresses: [{ ip: '192.0.2.66' }], ports: [{ port: 1 }] }] });
    await patch('endpoints', 'ports', { metadata: { labels: null, annotations: { note: 'by a user' } } });
    await remove('endpoints', 'headless');
    await agree();
  });

  it('when custom Endpoints change and are deleted', async () => {
    const subsets = [{ addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.4' }], ports: [{ name: 'http', port: 8081 }] }];
    await patch('endpoints', 'custom', { subsets, metadata: { labels: { kept: null }, annotations: { note: 'new' } } });
    await patch('endpoints', 'custom-not-mirrored', {
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } },
    });
    await remove('endpoints', 'custom-two-families');
    await agree();
  });

  it('when a Node is created late, without a change of the Service', async () => {
    await applyNode(pair, 'late', 'b');
    const { sluice } = await agree();
    expect(slicesOf(sluice.endpointslices, 'late-node').flatMap((slice) => listAt(slice, 'endpoints'))).toHaveLength(2);
  });

  it('when a zone changes and a Node is deleted', async () => {
    await pair.apply((client) =>
      client.patch(
        { resource: 'nodes', name: 'c-1' },
        { metadata: { labels: { 'topology.kubernetes.io/zone': 'd' } } },
      ),
    );
    await agree();
    await pair.apply((client) => client.delete({ resource: 'nodes', name: 'b-1' }));
    await agree();
  });
});

describe('a Service with many Pods', () => {
  const many = 250;

  it('has as many slices of the same sizes as upstream', async () => {
    const names = Array.from({ length: many }, (_, i) => `many-${i}`);
    for (const [i, name] of names.entries()) {
      await applyPod(pair, pod(name, 'many', `10.2.${Math.floor(i / 200)}.${(i % 200) + 1}`));
    }
    const spec = { selector: { app: 'many' }, ports: [{ name: 'http', port: 80 }] };
    await pair.apply((client) => client.create('services', serviceObject({ namespace, name: 'many', spec })));
    const { sluice } = await agree();
    const sizes = slicesOf(sluice.endpointslices, 'many').map((slice) => listAt(slice, 'endpoints').length);
    expect(sizes.sort()).toEqual([100, 100, 50]);
  });

  it('keeps its slices when Pods flip', async () => {
    for (let i = 0; i < many; i += 10) {
      const ip = `10.2.${Math.floor(i / 200)}.${(i % 200) + 1}`;
      await patch('pods', `many-${i}`, ready(false, ip), 'status');
    }
    await agree();
  });

  it('is truncated beyond 1000 addresses in Endpoints only', async () => {
    const numbers = Array.from({ length: 850 }, (_, i) => i);
    for (let i = 0; i < numbers.length; i += 10) {
      const batch = numbers.slice(i, i + 10);
      await Promise.all(
        batch.map((n) => applyPod(pair, pod(`more-${n}`, 'many', `10.3.${Math.floor(n / 200)}.${(n % 200) + 1}`))),
      );
    }
    const { sluice } = await agree();
    const [endpoints] = sluice.endpoints.filter(({ metadata }) => textAt(metadata, 'name') === 'many');
    expect(textAt(objectAt(endpoints?.metadata, 'annotations'), 'endpoints.kubernetes.io/over-capacity')).toBe(
      'truncated',
    );
    const sizes = slicesOf(sluice.endpointslices, 'many').map((slice) => listAt(slice, 'endpoints').length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1100);
  });
});

describe('take-over of a converged cluster', () => {
  const canaries = ['leaves', 'custom-not-mirrored'];

  /** Waits until all three controllers have handled changes made after their start, so they have synced everything. */
  async function following(side: 'upstream' | 'sluice', mark: string): Promise<void> {
    const client = pair.clients[side];
    for (const name of canaries) {
      await client.patch(of('services', name), { metadata: { labels: { mark } } });
      if (name !== 'leaves') await client.patch(of('endpoints', name), { metadata: { labels: { mark } } });
    }
    const marks = async () => {
      const [endpoints, slices] = [await client.list('endpoints'), await client.list('endpointslices')];
      const ofLeaves = endpoints.filter(({ metadata }) => textAt(metadata, 'name') === 'leaves');
      const objects = [...ofLeaves, ...canaries.flatMap((name) => slicesOf(slices, name))];
      return objects.map((object) => labelOf(object, 'mark'));
    };
    await expect.poll(marks).toEqual([mark, mark, mark]);
  }

  /** The name and version of each object; `excluded` are beginnings of such a line. */
  async function versionsBesides(excluded: readonly string[], side: 'upstream' | 'sluice'): Promise<string[]> {
    const client = pair.clients[side];
    const [endpoints, slices] = [await client.list('endpoints'), await client.list('endpointslices')];
    return [...endpoints, ...slices]
      .map(({ metadata }) => `${textAt(metadata, 'name')} ${textAt(metadata, 'resourceVersion')}`)
      .filter((entry) => !excluded.some((start) => entry.startsWith(start)))
      .sort();
  }

  it('Sluice adopts the objects of kube-controller-manager without a write', async () => {
    // At startup, either side would delete Endpoints without a Service (D4) and update truncated ones (D21).
    await remove('endpoints', 'of-no-service');
    await patch('services', 'many', { spec: { selector: { app: 'web' } } });
    await agree();
    await pair.stopUpstream();
    expect(await pair.stopSluice()).toBe(0);
    const before = await versionsBesides(canaries, 'upstream');
    const sluice = await pair.startSluice({}, 'upstream');
    await following('upstream', 'one');
    expect(await versionsBesides(canaries, 'upstream')).toEqual(before);
    const written = sluice.events('plan').filter((plan) => listAt(plan, 'writes').length > 0);
    expect(written.map((plan) => textAt(plan, 'service')).filter((name) => !canaries.includes(name))).toEqual([]);
    expect(await pair.stopSluice()).toBe(0);
  });

  it('kube-controller-manager adopts the objects of Sluice without a write', async () => {
    const version = kubernetesUnderTest();
    const rewritten = [
      ...(rewritesAbsentPorts(version) ? ['headless-no-ports'] : []),
      // With the blank, the Endpoints only, and not the slices of the Service.
      ...(hasOtherPortOrder(version) ? ['ports '] : []),
    ];
    const before = await versionsBesides([...canaries, ...rewritten], 'sluice');
    await pair.startUpstream({}, 'sluice');
    await following('sluice', 'two');
    await pair.stopUpstream();
    expect(await versionsBesides([...canaries, ...rewritten], 'sluice')).toEqual(before);
  });
});
