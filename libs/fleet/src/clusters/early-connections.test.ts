import type { ClusterAccess } from '@sluice/kubernetes';
import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import type { ConnectedCluster } from './cluster.ts';
import type { ClusterSource } from './cluster-source.ts';
import { EarlyConnections } from './early-connections.ts';

const { signal } = new AbortController();
let clock: VirtualClock;
let events: string[];
let reads: number;
let early: EarlyConnections;
let sources: readonly ClusterSource[];

beforeEach(() => {
  clock = new VirtualClock(1_000);
  [events, reads] = [[], 0];
  const source: ClusterSource = {
    about: 'test',
    read: async () => {
      reads++;
      const candidate = (name: string) => ({
        ...{ name, from: 'test', fingerprint: name },
        load: async () => ({ context: name }) as ClusterAccess,
      });
      return { candidates: [candidate('west'), candidate('down')], problems: [] };
    },
  };
  early = new EarlyConnections({ sources: [source], open, clock });
  ({ sources } = early);
});

async function open({ context }: ClusterAccess, stopped: AbortSignal): Promise<ConnectedCluster> {
  events.push(`open ${context}`);
  stopped.addEventListener('abort', () => events.push(`abort ${context}`), { once: true });
  if (context === 'down') throw new Error('connection refused');
  return { name: context, close: async () => void events.push(`close ${context}`) } as unknown as ConnectedCluster;
}

/** As a `ClusterSet` opens a cluster. */
async function openCluster(name: string, given: AbortSignal = signal): Promise<ConnectedCluster> {
  const reading = await sources[0]?.read(signal);
  const access = await reading?.candidates.find((candidate) => candidate.name === name)?.load();
  if (access === undefined) throw new Error(`no ${name}`);
  return early.open(access, given, name);
}

test('gives away the connection that was opened early, once', async () => {
  early.start();
  await advance(clock, 1);
  expect(events).toEqual(['open west', 'open down']);
  expect((await openCluster('west')).name).toBe('west');
  expect([reads, events.length]).toEqual([1, 2]);
  await openCluster('west');
  expect([reads, events.at(-1)]).toEqual([2, 'open west']);
});

test('reports why an early connection failed, and connects again at the next attempt', async () => {
  early.start();
  await advance(clock, 1);
  await expect(openCluster('down')).rejects.toThrow('connection refused');
  await expect(openCluster('down')).rejects.toThrow('connection refused');
  expect(events.filter((event) => event === 'open down')).toHaveLength(2);
});

test('without an early start, reads and connects when it is asked to', async () => {
  await advance(clock, 1);
  expect([reads, events]).toEqual([0, []]);
  await openCluster('west');
  expect([reads, events]).toEqual([1, ['open west']]);
});

test('closes a connection that nobody uses: at the end, or after a while', async () => {
  early.start();
  await advance(clock, 1);
  await early.close();
  expect(events.slice(2)).toEqual(['abort west', 'abort down', 'close west']);
  events = [];
  early = new EarlyConnections({ sources, open, clock });
  early.start();
  await advance(clock, 31_000);
  expect(events).toContain('close west');
  ({ sources } = early);
  events = [];
  await openCluster('west');
  expect(events).toEqual(['open west']);
});

test('stops connecting with the cluster that uses the connection', async () => {
  early = new EarlyConnections({
    sources: [...sources],
    open: async (_, stopped) =>
      new Promise((_, reject) => stopped.addEventListener('abort', () => reject(new Error('stopped')))),
    clock,
  });
  ({ sources } = early);
  early.start();
  await advance(clock, 1);
  const stop = new AbortController();
  const opening = openCluster('west', stop.signal);
  const failed = expect(opening).rejects.toThrow('stopped');
  await advance(clock, 1);
  stop.abort();
  await failed;
});
