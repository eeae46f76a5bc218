import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import type { RawObject, Resource } from '@sluice/kubernetes';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { type AllInOne, startAllInOne } from '@sluice/sluice';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Longer than every backoff. */
const convergenceMs = 120_000;

/** Objects that no real API server stores, but a broken or a future one might send. */
let clock: VirtualClock;
let server: FakeApiServer;
let fleet: AllInOne;
let skipped: Resource[];
let logger: RecordingLogger;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  skipped = [];
  logger = recordingLogger();
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', { metadata: { name: 'n1' } });
  server.create('services', service('web'));
  server.put('pods', pod('web-1', '10.1.0.1'));
});

afterEach(() => fleet.stop(0));

describe('a malformed object on the watch', () => {
  it.each<[Resource, RawObject]>([
    ['pods', { ...pod('web-bad', '10.1.0.9'), status: { podIPs: 'none' } }],
    ['pods', { ...pod('web-bad', '10.1.0.9'), spec: { nodeName: 7, containers: 'none' } }],
    ['nodes', { metadata: { name: 'web-bad' }, status: { conditions: 'Ready' } }],
    ['services', { ...service('web-bad'), spec: { selector: 'app=web', ports: 80 } }],
    ['endpointslices', { metadata: { name: 'web-bad', namespace: 'shop' }, addressType: 4, endpoints: {} }],
    ['endpoints', { metadata: { name: 'web-bad', namespace: 'shop' }, subsets: 'none' }],
    ['endpointslices', { metadata: { name: 'web-bad', namespace: 'shop' }, addressType: 'IPv4', future: nested(200) }],
  ])('of %s is skipped, counted and logged, and others are processed', async (resource, malformed) => {
    await start();
    server.put(resource, malformed);
    server.put('pods', pod('web-2', '10.1.0.2'));
    await advance(clock, convergenceMs);
    expect(skipped).toEqual([resource]);
    expect(logger.messages('warn')).toHaveLength(1);
    expect(JSON.stringify(logger.fields('warn'))).toContain('web-bad');
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.2']);
  });

  it.each<[string, string]>([
    ['an empty namespace', ''],
    ['a namespace with line breaks', 'shop\r\nX: y'],
    ['a namespace of 100,000 characters', 'a'.repeat(100_000)],
  ])('of every kind with %s restarts no watcher, and no message is dead-lettered', async (_, namespace) => {
    await start();
    const before = logger.lines.length;
    for (const resource of ['pods', 'services', 'endpoints', 'endpointslices'] as const) {
      const { metadata, ...rest } = resource === 'services' ? service('web-bad') : pod('web-bad', '10.1.0.9');
      server.put(resource, { metadata: { ...(metadata as object), namespace: namespace || nowhere }, ...rest });
    }
    await advance(clock, convergenceMs);
    server.put('pods', pod('web-2', '10.1.0.2'));
    await advance(clock, convergenceMs);
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.2']);
    const logged = logger.lines.slice(before).filter(({ level }) => level !== 'debug');
    expect(logged.map(({ message }) => message)).toEqual(Array(4).fill('skipping malformed object'));
  });

  it('keeps the last valid state until the object is valid again', async () => {
    server.put('pods', pod('web-2', '10.1.0.2'));
    await start();
    server.put('pods', { ...pod('web-2', ''), status: { podIPs: 'none' } });
    await advance(clock, convergenceMs);
    expect(skipped).toEqual(['pods']);
    server.put('pods', pod('web-2', '10.1.0.3'));
    await advance(clock, convergenceMs);
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.3']);
  });

  it('in the initial list is skipped as well', async () => {
    server.put('pods', { ...pod('web-bad', '10.1.0.9'), status: { podIPs: 'none' } });
    await start();
    expect(skipped).toEqual(['pods']);
    expect(addresses()).toEqual(['10.1.0.1']);
  });
});

describe('a Service that cannot be decoded', () => {
  let valid: RawObject;
  const endpoints = () => server.list('endpoints').items.map(({ metadata }) => (metadata as { name: string }).name);

  const isNamedWeb = ({ metadata }: RawObject) => (metadata as { name: string }).name === 'web';

  /**
   * Lets a first watcher write the endpoints of the Service, then breaks the Service before the next watcher starts.
   */
  async function restartWithMalformedService(): Promise<void> {
    await start();
    await fleet.stop(0);
    valid = (server.list('services').items as readonly RawObject[]).find(isNamedWeb) ?? {};
    server.put('services', { ...valid, spec: { selector: 'app=web', ports: 80 } });
    skipped = [];
    logger.lines.length = 0;
    await start();
    expect(skipped).toEqual(['services']);
  }

  it('keeps its Endpoints and slices when a watcher starts', async () => {
    await restartWithMalformedService();
    expect(addresses()).toEqual(['10.1.0.1']);
    expect(endpoints()).toEqual(['web']);
    expect(logger.messages('warn').at(-1)).toContain('withholding changes of a service that cannot be decoded');
    server.put('pods', pod('web-2', '10.1.0.2'));
    server.cutWatches('end');
    await advance(clock, convergenceMs);
    expect(addresses()).toEqual(['10.1.0.1']);
    expect(endpoints()).toEqual(['web']);
  });

  it('is served again once it is valid', async () => {
    await restartWithMalformedService();
    server.put('pods', pod('web-2', '10.1.0.2'));
    server.put('services', valid);
    await advance(clock, convergenceMs);
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.2']);
  });

  it('loses its Endpoints and slices once it is deleted', async () => {
    await restartWithMalformedService();
    server.delete('services', 'shop', 'web');
    await advance(clock, convergenceMs);
    expect(addresses()).toEqual([]);
    expect(endpoints()).toEqual([]);
  });

  it('does not stop other Services', async () => {
    server.create('services', { ...service('other'), spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
    await restartWithMalformedService();
    server.delete('pods', 'shop', 'web-1');
    await advance(clock, convergenceMs);
    expect(endpoints()).toEqual(['other', 'web']);
    const slices = server.list('endpointslices').items as unknown as readonly Slice[];
    const ready = slices.map(({ endpoints }) => endpoints?.[0]?.conditions.ready);
    expect(ready.sort()).toEqual([false, true]);
  });

  it('mirrors Endpoints that cannot be decoded as they were', async () => {
    server.create('services', { ...service('own'), spec: { ports: [{ port: 80 }] } });
    const subsets = [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }];
    server.create('endpoints', { metadata: { name: 'own', namespace: 'shop' }, subsets });
    const slicesOfOwn = () =>
      (server.list('endpointslices').items as unknown as readonly Slice[]).filter(
        ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'own',
      ).length;
    await start();
    expect(slicesOfOwn()).toBe(1);
    await fleet.stop(0);
    server.put('endpoints', { metadata: { name: 'own', namespace: 'shop' }, subsets: 'none' });
    await start();
    expect(slicesOfOwn()).toBe(1);
  });
});

describe('extreme objects', () => {
  const long = (length: number, end = '') => `${'x'.repeat(length - end.length)}${end}`;

  it('names and labels of maximum length, and very many labels', async () => {
    const [prefix, name, value] = [`${long(61)}.${long(61)}.${long(61)}.${long(61)}.com`, long(63), long(63)];
    const labels = { app: 'web', [`${prefix}/${name}`]: value };
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`label-${i}`, `${i}`]));
    server.delete('services', 'shop', 'web');
    const spec = { selector: labels, ports: [{ port: 80 }] };
    for (const name of ['web', long(63)]) server.create('services', { ...service(name), spec });
    const longest = pod(long(253, '.pod'), '10.1.0.253');
    const metadata = {
      ...(longest.metadata as object),
      labels: { ...labels, ...many },
      annotations: { note: 'ü–😀'.repeat(9_000) },
    };
    server.put('pods', { ...longest, metadata });
    await start();
    expect([skipped, logger.messages('warn')]).toEqual([[], []]);
    expect(addresses()).toEqual(['10.1.0.253']);
    const slices = server.list('endpointslices').items as unknown as readonly Slice[];
    expect(slices.map((slice) => slice.metadata.labels?.['kubernetes.io/service-name']).sort()).toEqual([
      'web',
      long(63),
    ]);
  });

  it.each<[Resource, RawObject]>([
    ['pods', { metadata: { name: 'web-bare', namespace: 'shop', labels: { app: 'web' } } }],
    ['pods', { metadata: { name: 'web-bare', namespace: 'shop', labels: null }, spec: null, status: null }],
    ['services', { metadata: { name: 'web-bare', namespace: 'shop' } }],
    ['nodes', { metadata: { name: 'web-bare' }, spec: {} }],
    ['endpoints', { metadata: { name: 'web-bare', namespace: 'shop' }, subsets: null }],
    [
      'endpointslices',
      { metadata: { name: 'web-bare', namespace: 'shop' }, addressType: 'IPv4', endpoints: null, ports: null },
    ],
  ])('%s with only the required fields', async (resource, bare) => {
    await start();
    server.put(resource, bare);
    server.put('pods', pod('web-2', '10.1.0.2'));
    await advance(clock, convergenceMs);
    expect([skipped, logger.messages('warn')]).toEqual([[], []]);
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.2']);
  });
});

/** A namespace whose name watches leave empty: the fake server keeps no object without one. */
const nowhere = 'nowhere';

class NamespaceRemovingClient extends FakeClient {
  override async *watch(...args: Parameters<FakeClient['watch']>): ReturnType<FakeClient['watch']> {
    for await (const events of super.watch(...args)) {
      const text = JSON.stringify(events).replaceAll(`"namespace":"${nowhere}"`, '"namespace":""');
      yield JSON.parse(text) as typeof events;
    }
  }
}

async function start(): Promise<void> {
  const cluster = new NamespaceRemovingClient(server, { clock });
  fleet = startAllInOne({
    clusters: [{ name: 'sim', identity: server.identity, reader: cluster, writer: cluster, record: () => {} }],
    settings: defaultSettings,
    clock,
    random: seededRandom(2),
    logger,
    onMalformed: (_, resource) => skipped.push(resource),
  });
  await advance(clock, convergenceMs);
  await fleet.synced;
}

interface Slice {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?:
    | readonly { readonly addresses: readonly string[]; readonly conditions: { readonly ready: boolean } }[]
    | null;
}

function addresses(): readonly string[] {
  const slices = server.list('endpointslices').items as unknown as readonly Slice[];
  const ofWeb = slices.filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web');
  return ofWeb.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses)).sort();
}

function service(name: string): RawObject {
  return { metadata: { name, namespace: 'shop' }, spec: { selector: { app: name }, ports: [{ port: 80 }] } };
}

function pod(name: string, ip: string): RawObject {
  return {
    metadata: { name, namespace: 'shop', labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'x' }] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}
