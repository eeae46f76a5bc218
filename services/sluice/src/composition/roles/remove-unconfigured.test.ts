import type { ClusterState } from '@sluice/fleet/clusters';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import { type KnownCluster, MemoryClusterDirectory, MemoryLeases, unidentified } from '@sluice/store';
import { expect, test } from 'vitest';
import { removeUnconfigured, unconfiguredClusters } from './remove-unconfigured.ts';

const west: KnownCluster = { identity: 'uid-west', name: 'west', version: '', server: '', source: 'a directory' };
const state = (given: Partial<ClusterState>): ClusterState => ({
  ...{ name: 'east', from: 'a directory', phase: 'serving', reason: '', identity: 'uid-east', server: '', version: '' },
  ...given,
});
const readable = new Set(['a directory']);
const nobody = new Set<string>();

test('a stored cluster that its source does not list and nobody watches is not configured', () => {
  expect(unconfiguredClusters([west], [state({})], readable, nobody)).toEqual([west]);
});

test('nor is one whose name another cluster is served under', () => {
  const renamed = state({ name: 'west', identity: 'uid-new' });
  expect(unconfiguredClusters([west], [renamed], readable, nobody)).toEqual([west]);
});

test.each([
  ['it is watched', {}, [state({})], readable, new Set(['uid-west'])],
  ['it is configured under another name', {}, [state({ name: 'w', identity: 'uid-west' })], readable, nobody],
  [
    'its name is configured and cannot be reached',
    {},
    [state({ name: 'west', phase: 'unavailable', identity: '' })],
    readable,
    nobody,
  ],
  ['its name is in conflict', {}, [state({ name: 'west', phase: 'conflict', identity: 'uid-new' })], readable, nobody],
  ['its source is not read by this process, or has a problem', {}, [state({})], new Set(['a file']), nobody],
  ['its source is unknown', { source: undefined }, [state({})], readable, nobody],
])('a stored cluster is taken for configured if %s', (_, given, states, sources, watched) => {
  const stored = { ...west, ...given } as KnownCluster;
  expect(unconfiguredClusters([stored], states, sources, watched)).toEqual([]);
});

test('a stored cluster is taken for configured if a process that reads another source cannot connect to it', () => {
  const waiting = { ...west, identity: unidentified('west'), source: 'a file' };
  expect(unconfiguredClusters([west, waiting], [state({})], readable, nobody)).toEqual([]);
});

test('what a crashed process left of a cluster that it waited for does not keep the cluster', () => {
  const left = { ...west, identity: unidentified('west') };
  expect(unconfiguredClusters([west, left], [state({})], readable, nobody)).toEqual([west, left]);
  const waiting = state({ name: 'west', phase: 'unavailable', identity: '' });
  expect(unconfiguredClusters([west, left], [waiting], readable, nobody)).toEqual([]);
});

test('a cluster is removed once nobody has watched it for thirty seconds without a break', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  const leases = new MemoryLeases(clock);
  await directory.put(west);
  const removed: string[] = [];
  const remove = async (identity: string) => {
    removed.push(identity);
    await directory.remove(identity);
    return undefined;
  };
  const stop = new AbortController();
  const ports = { directory, leases, states: () => [state({})], readableSources: () => readable, clock };
  const running = removeUnconfigured({ ...ports, remove, logger: silentLogger }, stop.signal);
  await advance(clock, 25_000);
  const watch = { group: 'watcher', member: 'b', ttlMs: 6_000, release: [], acquire: ['uid-west'] };
  await leases.heartbeat(watch);
  await advance(clock, 30_000);
  expect(removed).toEqual([]);
  await advance(clock, 15_000);
  expect(removed).toEqual(['uid-west']);
  stop.abort();
  await running;
});

test('a removal that somebody who watches the cluster prevents is not reported, and tried again', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  await directory.put(west);
  const answers = ['another', 'another', undefined];
  const logger = recordingLogger();
  const remove = async (identity: string) => {
    const watchedBy = answers.shift();
    if (watchedBy === undefined) await directory.remove(identity);
    return watchedBy;
  };
  const stop = new AbortController();
  const ports = { directory, leases: new MemoryLeases(clock), states: () => [state({})], clock, logger };
  const running = removeUnconfigured({ ...ports, readableSources: () => readable, remove }, stop.signal);
  await advance(clock, 39_000);
  expect([answers.length, logger.fields('warn')]).toEqual([1, []]);
  await advance(clock, 6_000);
  expect([answers.length, logger.fields('warn')]).toEqual([0, [{ cluster: 'west', identity: 'uid-west' }]]);
  stop.abort();
  await running;
});
