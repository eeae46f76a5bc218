import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import type { ClusterAccess } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ClusterSet } from './cluster-set.ts';
import type { ClusterCandidate, ClusterSource, SourceReading } from './cluster-source.ts';
import type { ConnectedCluster } from './connect.ts';

let clock: VirtualClock;
let reading: SourceReading | Error;
let servers: Map<string, FakeApiServer | Error>;
let serving: Map<string, string>;
let events: string[];
let failing: boolean;
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
  [servers, serving, events, failing] = [new Map(), new Map(), [], false];
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
    serve: async ({ name, identity, reader }, signal) => {
      events.push(`${name} served`);
      if (failing) throw new Error('the bus is closed');
      serving.set(name, identity);
      while (!signal.aborted) {
        // What a reflector does: it asks anew from time to time.
        await reader.list('services', { limit: 1, continueToken: '' }, signal).catch(() => {});
        await new Promise<void>((resolve) => {
          clock.schedule(1_000, resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      serving.delete(name);
      events.push(`${name} ended: ${signal.reason}`);
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

test('a source that does not answer holds up no other, and keeps the set from being settled', async () => {
  servers.set('a', server(1));
  let answer: (reading: SourceReading) => void = () => {};
  const silent: ClusterSource = { about: 'silent', read: () => new Promise((resolve) => (answer = resolve)) };
  const quick: ClusterSource = { about: 'quick', read: async () => ({ candidates: [named('a')], problems: [] }) };
  const served: string[] = [];
  const ending = new AbortController();
  const two = new ClusterSet({
    ...{ sources: [silent, quick], open, clock, random: seededRandom(1), logger: silentLogger },
    serve: ({ name }, signal) => {
      served.push(name);
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  const done = two.run(ending.signal);
  await pass();
  expect(served).toEqual(['a']);
  expect(two.settled).toBe(false);
  answer({ candidates: [], problems: [] });
  await pass();
  expect(two.settled).toBe(true);
  ending.abort();
  answer({ candidates: [], problems: [] });
  await pass();
  await done;
});

describe('clusters come and go', () => {
  test('one that is named is served; one that is named no more is drained, closed and removed', async () => {
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
    expect(events.slice(-3)).toEqual(['a ended: removed', 'a closed', 'a removed']);
    expect(phases()).toEqual({ b: 'serving' });
  });

  test('at the end all are handed over, and none is removed', async () => {
    servers.set('a', server(1));
    names(named('a'));
    await pass();
    stop.abort();
    await pass();
    expect(events).toEqual(['a served', 'a ended: handover', 'a closed']);
  });

  test('that the sources cannot be read, or a file is spoilt, removes nothing', async () => {
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

describe('one that cannot be used', () => {
  test('holds up no other, and is served without a restart once it can be', async () => {
    servers.set('good', server(1));
    names(named('bad'), named('good'));
    await pass();
    expect(phases()).toEqual({ bad: 'unavailable', good: 'serving' });
    expect(set.states[0]?.reason).toBe('nothing at bad');
    expect(set).toMatchObject({ settled: true, complete: false });
    servers.set('bad', server(2));
    await pass(40_000);
    expect(phases()).toEqual({ bad: 'serving', good: 'serving' });
    expect(set.complete).toBe(true);
  });

  test('of two with the same name the later is refused', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names({ ...named('a', 'x'), from: 'first.yaml' }, { ...named('a', 'y'), from: 'second.yaml' });
    await pass();
    expect(set.states.map(({ from, phase }) => [from, phase])).toEqual([
      ['first.yaml', 'serving'],
      ['second.yaml', 'refused'],
    ]);
  });

  test('a second name for the same cluster is refused, and takes over when the first goes', async () => {
    const one = server(1);
    servers.set('x', one).set('y', one);
    names(named('a', 'x'));
    await pass();
    names(named('a', 'x'), named('b', 'y'));
    await pass();
    expect(phases()).toEqual({ a: 'serving', b: 'refused' });
    expect(set.states[1]?.reason).toContain('same cluster as a');
    names(named('b', 'y'));
    await pass(60_000);
    expect(phases()).toEqual({ b: 'serving' });
  });
});

describe('a changed kubeconfig', () => {
  test('is used once it works; the same cluster is handed over and not removed', async () => {
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
    expect(events).toContain('a ended: handover');
    expect(events).not.toContain('a removed');
    expect(set.states[0]).toMatchObject({ phase: 'serving', server: 'y', reason: '' });
  });

  test('that names another cluster makes the name that cluster’s', async () => {
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

test('a cluster that was made anew under its address is a new one', async () => {
  servers.set('a', server(1));
  names(named('a'));
  await pass();
  const before = serving.get('a');
  servers.set('a', server(2));
  await pass(20_000);
  expect(events).toEqual(['a served', 'a ended: removed', 'a closed', 'a removed', 'a served']);
  expect(serving.get('a')).not.toBe(before);
});

describe('whoever has a name keeps it', () => {
  const elsewhere = (address: string, from: string): ClusterCandidate => ({ ...named('a', address), from });

  test('though one with the same name comes to stand before it', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names(elsewhere('x', 'a.yml'));
    await pass();
    names(elsewhere('y', 'a.yaml'), elsewhere('x', 'a.yml'));
    await pass(60_000);
    expect(set.states.map(({ from, phase, server: at }) => [from, phase, at])).toEqual([
      ['a.yml', 'serving', 'x'],
      ['a.yaml', 'refused', ''],
    ]);
    names(elsewhere('y', 'a.yaml'));
    await pass(60_000);
    expect(set.states).toMatchObject([{ phase: 'serving', server: 'y' }]);
  });

  test('though its own file is spoilt', async () => {
    servers.set('x', server(1)).set('y', server(2));
    names(elsewhere('x', 'a.yml, context one'));
    await pass();
    const problems = [{ name: 'a', from: 'a.yml', reason: 'it is empty' }];
    reading = { candidates: [elsewhere('y', 'a.yaml')], problems };
    await pass(60_000);
    expect(events).toEqual(['a served']);
  });
});

test('of two names for one cluster that are reached at once one is served', async () => {
  const one = server(1);
  servers.set('x', one).set('y', one);
  names(named('a', 'x'), named('b', 'y'));
  await pass();
  expect(phases()).toEqual({ a: 'serving', b: 'refused' });
  expect(events.filter((event) => event.endsWith('served'))).toEqual(['a served']);
});

test('that serving fails is told, and it is tried again with pauses', async () => {
  servers.set('a', server(1));
  failing = true;
  names(named('a'));
  await pass(30_000);
  expect(set.states).toMatchObject([{ phase: 'unavailable', reason: 'serving the cluster failed: the bus is closed' }]);
  expect(events.length).toBeLessThan(40);
  failing = false;
  await pass(40_000);
  expect(phases()).toEqual({ a: 'serving' });
});
