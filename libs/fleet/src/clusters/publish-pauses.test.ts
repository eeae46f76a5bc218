import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory } from '@sluice/store';
import { expect, test } from 'vitest';
import type { ClusterState } from './cluster.ts';
import { publishPauses } from './publish-pauses.ts';

const base = { name: 'west', from: 'file', reason: '', identity: 'uid', server: '', version: '' };
const serving: ClusterState = { ...base, phase: 'serving' };
const paused: ClusterState = { ...base, phase: 'paused', reason: 'it is active' };
const unavailable: ClusterState = { ...base, phase: 'unavailable', reason: 'refused' };

test('publishes each pause and its end once, again after a failure, and leaves the rest as it is', async () => {
  const clock = new VirtualClock(0);
  const calls: (readonly [string, string | undefined])[] = [];
  let fails = false;
  const directory = {
    setPaused: async (identity: string, reason: string | undefined) => {
      if (fails) throw new Error('no store');
      calls.push([identity, reason]);
      return true;
    },
  };
  let states = [serving];
  const stop = new AbortController();
  const running = publishPauses({ directory, states: () => states, clock, logger: silentLogger }, stop.signal);
  await advance(clock, 5_000);
  expect(calls).toEqual([['uid', undefined]]);
  states = [paused];
  fails = true;
  await advance(clock, 5_000);
  fails = false;
  await advance(clock, 5_000);
  states = [unavailable];
  await advance(clock, 5_000);
  states = [serving];
  await advance(clock, 5_000);
  expect(calls.slice(1)).toEqual([
    ['uid', 'it is active'],
    ['uid', undefined],
  ]);
  states = [paused];
  await advance(clock, 5_000);
  stop.abort();
  await running;
  expect(calls.at(-1)).toEqual(['uid', 'it is active']);
});

test('a cluster that was removed while its writes were paused leaves nothing, and is shown as paused once it is added again', async () => {
  const clock = new VirtualClock(0);
  const directory = new MemoryClusterDirectory();
  const entry = { identity: 'uid', name: 'west', version: '', server: '' };
  const shown = async () => (await directory.list()).map(({ paused }) => paused);
  let states = [serving];
  const stop = new AbortController();
  const running = publishPauses({ directory, states: () => states, clock, logger: silentLogger }, stop.signal);
  await advance(clock, 5_000);
  // Its watcher has removed it before this process knows.
  states = [paused];
  await advance(clock, 5_000);
  states = [];
  await advance(clock, 5_000);
  await directory.put(entry);
  expect(await shown()).toEqual([undefined]);
  states = [paused];
  await advance(clock, 5_000);
  expect(await shown()).toEqual(['it is active']);
  states = [];
  await directory.remove('uid');
  await advance(clock, 5_000);
  await directory.put(entry);
  states = [paused];
  await advance(clock, 5_000);
  expect(await shown()).toEqual(['it is active']);
  stop.abort();
  await running;
});
