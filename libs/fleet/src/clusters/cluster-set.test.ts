import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import type { ClusterAccess } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryDocument } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoredIdentities } from '../identity/identity-registry.ts';
import type { ConnectedCluster } from './cluster.ts';
import { ClusterSet } from './cluster-set.ts';
import type { ClusterCandidate, ClusterSource, SourceReading } from './cluster-source.ts';

let clock: VirtualClock;
let reading: SourceReading | Error;
let servers: Map<string, FakeApiServer | Error>;
let serving: Map<string, string>;
let events: string[];
let failing: boolean;
/** Why the guard refuses a cluster; empty if it does not. */
let refusal: string;
/** Which clusters were guarded and released, in order. */
let guarded: string[];
/** How long connecting takes, in milliseconds. */
let openMs: number;
/** Connections being opened. */
let opening: number;
let mostOpening: number;
let set: ClusterSet;
let stop: AbortController;
let running: Promise<void>;

const named = (name: string, address = name, version = ''): ClusterCandidate => ({
  ...{ name, from: `${name}.yaml`, fingerprint: `${address} ${version}` },
  load: async () => ({ context: name, server: address }) as ClusterAccess,
});

const names = (...candidates: readonly ClusterCandidate[]): void => {
  reading = { candidates, problems: [] };
};

const server = (seed: number) => new FakeApiServer({ clock, random: seededRandom(seed) });

async function open({ server: address }: ClusterAccess): Promise<ConnectedCluster> {
  opening += 1;
  mostOpening = Math.max(mostOpening, opening);
  if (openMs > 0) await new Promise<void>((resolve) => clock.schedule(openMs, resolve));
  opening -= 1;
  const found = servers.get(address) ?? new Error(`nothing at ${address}`);
  if (found instanceof Error) throw found;
  const behind = () => servers.get(address) as FakeApiServer;
  const client = () => new FakeClient(behind(), { clock });
  return {
    ...{ name: address, identity: found.identity, server: address, version: 'v1', record: () => {} },
    reader: {
      watchList: true,
      identity: async () => behind().identity,
      list: (...args) => client().list(...args),
      watch: (...args) => client().watch(...args),
    },
    writer: client(),
    close: async () => void events.push(`${address} closed`),
    connection: undefined as never,
  };
}

beforeEach(() => {
  clock = new VirtualClock(1_000);
  [servers, serving, events, failing, refusal] = [new Map(), new Map(), [], false, ''];
  guarded = [];
  [openMs, opening, mostOpening] = [0, 0, 0];
  reading = { candidates: [], problems: [] };
  stop = new AbortController();
  const source: ClusterSource = {
    about: 'test',
    read: async () => {
      if (reading instanceof Error) throw reading;
      return reading;
    },
  };
  set = new ClusterSet({
    ...{ sources: [source], open, clock, random: seededRandom(1), logger: silentLogger },
    guard: async (cluster) => {
      if (refusal !== '') throw new Error(refusal);
      guarded.push(`${cluster.name} guarded`);
      return {
        ...cluster,
        close: async () => {
          guarded.push(`${cluster.name} released`);
          await cluster.close();
        },
      };
    },
    serve: async ({ name, identity, reader }, signal) => {
      events.push(`${name} served`);
      if (failing) throw new Error('the bus is closed');
      serving.set(name, identity);
      while (!signal.aborted) {
        // Like a reflector, it lists again from time to time.
        await reader.list('services', { limit: 1, continueToken: '' }, signal).catch(() => {});
        await new Promise<void>((resolve) => {
          clock.schedule(1_000, resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      serving.delete(name);
      events.push(`${name} stopped: ${signal.reason}`);
    },
    onRemoved: async ({ name }) => void events.push(`${name} removed`),
  });
  running = set.run(stop.signal);
});

afterEach(async () => {
  stop.abort();
  await advance(clock, 60_000);
  await running;
});

const phases = () => Object.fromEntries(set.states.map(({ name, phase }) => [name, phase]));
const pass = (ms = 6_000) => advance(clock, ms);

test('connects to a limited number of clusters at once, so that a thousand do not time out together', async () => {
  openMs = 100;
  const many = Array.from({ length: 200 }, (_, i) => named(`c${i}`));
  for (const [i, { name }] of many.entries()) servers.set(name, server(i));
  names(...many);
  await pass();
  expect(serving.size).toBe(200);
  expect(mostOpening).toBe(64);
});

test('clusters that do not respond hold up the others for two seconds at most', async () => {
  openMs = 30_000;
  names(...Array.from({ length: 65 }, (_, i) => named(`c${i}`)));
  await pass(5_000);
  expect(opening).toBe(64);
  await pass(2_000);
  expect(opening).toBe(65);
});

test('an unresponsive source delays no other, and the set is not initialized until it responds', async () => {
  servers.set('a', server(1));
  let answer: (reading: SourceReading) => void = () => {};
  const silent: ClusterSource = { about: 'silent', read: () => new Promise((resolve) => (answer = resolve)) };
  const quick: ClusterSource = { about: 'quick', read: async () => ({ candidates: [named('a')], problems: [] }) };
  const served: string[] = [];
  const stopSignal = new AbortController();
  const two = new ClusterSet({
    ...{ sources: [silent, quick], open, clock, random: seededRandom(1), logger: silentLogger },
    serve: ({ name }, signal) => {
      served.push(name);
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  const done = two.run(stopSignal.signal);
  await pass();
  expect(served).toEqual(['a']);
  expect(two.initialized).toBe(false);
  answer({ candidates: [], problems: [] });
  await pass();
  expect(two.initialized).toBe(true);
  stopSignal.abort();
  answer({ candidates: [], problems: [] });
  await pass();
  await done;
});

describe('the guard of writes', () => {
  test('guards a cluster while it is served, and not the connections that try a changed kubeconfig', async () => {
    servers.set('a', server(1)).set('moved', new Error('connection refused'));
    names(named('a'));
    await pass();
    expect(guarded).toEqual(['a guarded']);
    const before = events.length;
    names(named('a', 'moved'));
    await pass();
    servers.set('moved', servers.get('a') as FakeApiServer);
    await pass(40_000);
    // The trial, the previous connection, then the new one.
    expect(events.slice(before)).toEqual(['moved closed', 'a stopped: handover', 'a closed', 'a served']);
    expect(guarded).toEqual(['a guarded', 'a released', 'a guarded']);
  });

  test('a second name for a cluster and a cluster in conflict never get as far as the guard', async () => {
    servers.set('a', server(1)).set('b', servers.get('a') ?? server(1));
    names(named('a'), named('b'));
    await pass(60_000);
    expect(phases()).toEqual({ a: 'serving', b: 'rejected' });
    expect(guarded).toEqual(['a guarded']);
  });

  test('a refused cluster is unavailable with the reason, closed, and tried again', async () => {
    servers.set('a', server(1));
    refusal = 'claimed by another fleet';
    names(named('a'));
    await pass();
    expect(set.states).toMatchObject([{ phase: 'unavailable', reason: 'claimed by another fleet' }]);
    expect(events).toContain('a closed');
    refusal = '';
    await pass(60_000);
    expect(phases()).toEqual({ a: 'serving' });
  });
});

describe('added and removed clusters', () => {
  test('a listed cluster is served; one that is removed from its source is stopped, closed and removed', async () => {
    servers.set('a', server(1)).set('b', server(2));
    names(named('a'));
    await pass();
    expect([...serving.keys()]).toEqual(['a']);
    names(named('a'), named('b'));
    await pass();
    expect([...serving.keys()]).toEqual(['a', 'b']);
    names(named('b'));
    await pass();
    expect([...serving.keys()]).toEqual(['b']);
    expect(events.slice(-3)).toEqual(['a stopped: removed', 'a closed', 'a removed']);
    expect(phases()).toEqual({ b: 'serving' });
  });

  test('shutdown hands over all clusters and removes none', async () => {
    servers.set('a', server(1));
    names(named('a'));
    await pass();
    stop.abort();
    await pass();
    expect(events).toEqual(['a served', 'a stopped: handover', 'a closed']);
  });

  test('an unreadable source or an invalid file removes nothing', async () => {
    servers.set('a', server(1));
    names(named('a'));
    await pass();
    reading = new Error('away');
    await pass(60_000);
    reading = { candidates: [], problems: [{ name: 'a', from: 'a.yaml', reason: 'it is empty' }] };
    await pass(60_000);
    expect([...serving.keys()]).toEqual(['a']);
    expect(events).toEqual(['a served']);
  });
});

describe('an unusable cluster', () => {
  test('delays no other, and is served without a restart once it works', async () => {
    servers.set('good', server(1));
    names(named('bad'), named('good'));
    await pass();
    expect(phases()).toEqual({ bad: 'unavailable', good: 'serving' });
    expect(set.states[0]?.reason).toBe('nothing at bad');
    expect(set).toMatchObject({ initialized: true, allConnected: false });
    servers.set('bad', server(2));
    await pass(40_000);
    expect(phases()).toEqual({ bad: 'serving', good: 'serving' });
    expect(set.allConnected).toBe(true);
  });

  test('of two with the same name, the later is rejected', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names({ ...named('a', 'x'), from: 'first.yaml' }, { ...named('a', 'y'), from: 'second.yaml' });
    await pass();
    expect(set.states.map(({ from, phase }) => [from, phase])).toEqual([
      ['first.yaml', 'serving'],
      ['second.yaml', 'rejected'],
    ]);
  });

  test('a second name for the same cluster is rejected, and takes over when the first is removed', async () => {
    const one = server(1);
    servers.set('x', one).set('y', one);
    names(named('a', 'x'));
    await pass();
    names(named('a', 'x'), named('b', 'y'));
    await pass();
    expect(phases()).toEqual({ a: 'serving', b: 'rejected' });
    expect(set.states[1]?.reason).toContain('same cluster as a');
    names(named('b', 'y'));
    await pass(60_000);
    expect(phases()).toEqual({ b: 'serving' });
  });
});

describe('a changed kubeconfig', () => {
  test('is used once it works; the same cluster is handed over, not removed', async () => {
    const one = server(1);
    servers.set('x', one);
    names(named('a', 'x'));
    await pass();
    names(named('a', 'y'));
    await pass(20_000);
    expect(phases()).toEqual({ a: 'serving' });
    expect(set.states[0]?.reason).toContain('keeping the previous one: nothing at y');
    expect(events).toEqual(['a served']);
    servers.set('y', one);
    await pass(60_000);
    expect(events).toContain('a stopped: handover');
    expect(events).not.toContain('a removed');
    expect(set.states[0]).toMatchObject({ phase: 'serving', server: 'y', reason: '' });
  });

  test('that points to another cluster replaces the cluster', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names(named('a', 'x'));
    await pass();
    const before = serving.get('a');
    names(named('a', 'y'));
    await pass(20_000);
    expect(events).toContain('a removed');
    expect(serving.get('a')).not.toBe(before);
  });
});

test('a cluster recreated at the same address is a new cluster', async () => {
  servers.set('a', server(1));
  names(named('a'));
  await pass();
  const before = serving.get('a');
  servers.set('a', server(2));
  await pass(20_000);
  expect(events).toEqual(['a served', 'a stopped: removed', 'a closed', 'a removed', 'a served']);
  expect(serving.get('a')).not.toBe(before);
});

describe('the holder of a name keeps it', () => {
  const elsewhere = (address: string, from: string): ClusterCandidate => ({ ...named('a', address), from });

  test('if another with the same name is listed before it', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names(elsewhere('x', 'a.yml'));
    await pass();
    names(elsewhere('y', 'a.yaml'), elsewhere('x', 'a.yml'));
    await pass(60_000);
    expect(set.states.map(({ from, phase, server: at }) => [from, phase, at])).toEqual([
      ['a.yml', 'serving', 'x'],
      ['a.yaml', 'rejected', ''],
    ]);
    names(elsewhere('y', 'a.yaml'));
    await pass(60_000);
    expect(set.states).toMatchObject([{ phase: 'serving', server: 'y' }]);
  });

  test('if its own file is invalid', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names(elsewhere('x', 'a.yml, context one'));
    await pass();
    const problems = [{ name: 'a', from: 'a.yml', reason: 'it is empty' }];
    reading = { candidates: [elsewhere('y', 'a.yaml')], problems };
    await pass(60_000);
    expect(events).toEqual(['a served']);
  });
});

test('of two names for one cluster that connect concurrently, one is served', async () => {
  const one = server(1);
  servers.set('x', one).set('y', one);
  names(named('a', 'x'), named('b', 'y'));
  await pass();
  expect(phases()).toEqual({ a: 'serving', b: 'rejected' });
  expect(events.filter((event) => event.endsWith('served'))).toEqual(['a served']);
});

test('a failed cluster worker is reported and restarted with backoff', async () => {
  servers.set('a', server(1));
  failing = true;
  names(named('a'));
  await pass(30_000);
  expect(set.states).toMatchObject([{ phase: 'unavailable', reason: 'cluster worker failed: the bus is closed' }]);
  expect(events.length).toBeLessThan(40);
  failing = false;
  await pass(40_000);
  expect(phases()).toEqual({ a: 'serving' });
});

describe('with pinned identities', () => {
  /** Two processes of a fleet with one store; each has its own view of the sources and the network. */
  const stored = () => new StoredIdentities(pins);
  let pins: MemoryDocument;
  let others: AbortController;

  beforeEach(() => {
    pins = new MemoryDocument();
    others = new AbortController();
  });
  afterEach(() => others.abort());

  function process(...candidates: readonly ClusterCandidate[]) {
    const served: string[] = [];
    const source: ClusterSource = { about: 'test', read: async () => ({ candidates, problems: [] }) };
    const one = new ClusterSet({
      ...{ sources: [source], open, clock, random: seededRandom(2), logger: silentLogger, identities: stored() },
      serve: async ({ name }, signal) => {
        served.push(name);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        served.splice(served.indexOf(name), 1);
      },
    });
    const running = one.run(others.signal);
    const states = () => Object.fromEntries(one.states.map(({ name, phase }) => [name, phase]));
    return { served, states, set: one, running };
  }

  test('a clone of a cluster is served by no process under no name, until an operator accepts one of them', async () => {
    const uid = server(1);
    servers.set('prod', uid).set('staging', server(1));
    // One process reaches prod first; the other cannot reach prod and finds staging.
    const first = process(named('prod'));
    await pass();
    expect(first.served).toEqual(['prod']);
    const second = process(named('staging'));
    await pass();
    expect(second.served).toEqual([]);
    expect(second.states()).toEqual({ staging: 'conflict' });
    await pass(10_000);
    expect(first.served).toEqual([]);
    expect(first.states()).toEqual({ prod: 'conflict' });
    expect(first.set.states[0]?.reason).toContain('sluice clusters accept');
    await stored().accept('prod', { identity: uid.identity, server: 'prod', authorities: [] });
    await pass(60_000);
    expect([first.served, second.served]).toEqual([['prod'], []]);
  });

  test('an address that answers with another identity is served again only once it is accepted', async () => {
    servers.set('a', server(1));
    const one = process(named('a'));
    await pass();
    others.abort();
    others = new AbortController();
    const recreated = server(2);
    servers.set('a', recreated);
    const next = process(named('a'));
    await pass(60_000);
    expect([one.served, next.states()]).toEqual([[], { a: 'conflict' }]);
    await stored().accept('a', { identity: recreated.identity, server: 'a', authorities: [] });
    await pass(60_000);
    expect(next.served).toEqual(['a']);
  });

  test('nothing is served while the pins cannot be read; what is served stays', async () => {
    servers.set('a', server(1)).set('b', server(2));
    const one = process(named('a'));
    await pass();
    const read = pins.read.bind(pins);
    pins.read = () => Promise.reject(new Error('store away'));
    const two = process(named('b'));
    await pass(60_000);
    expect([one.served, two.states()]).toEqual([['a'], { b: 'unavailable' }]);
    pins.read = read;
    await pass(60_000);
    expect(two.served).toEqual(['b']);
  });

  test('a store that does not answer delays no shutdown', async () => {
    servers.set('a', server(1));
    pins.read = () => new Promise(() => {});
    const one = process(named('a'));
    await pass();
    expect(one.states()).toEqual({ a: 'connecting' });
    events = [];
    others.abort();
    await one.running;
    expect(events).toEqual(['a closed']);
  });
});
