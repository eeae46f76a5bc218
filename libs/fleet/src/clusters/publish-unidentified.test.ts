import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryClusterDirectory } from '@sluice/store';
import { expect, test } from 'vitest';
import type { ClusterState } from './cluster.ts';
import { publishUnidentified } from './publish-unidentified.ts';

const unanswered: ClusterState = {
  ...{ name: 'west', from: 'file', phase: 'unavailable', since: 500 },
  ...{ reason: 'cannot use cluster west: cannot reach https://west: …', silence: 'connection refused' },
  ...{ identity: '', server: '', version: '' },
};
const entry = {
  ...{ identity: 'unidentified/west', name: 'west', version: '', server: '' },
  outage: { since: 500, reason: 'connection refused', neverAnswered: true },
};

test('publishes a cluster that has not answered, until it is connected or the process stops', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  let states = [unanswered];
  const stop = new AbortController();
  const sourceOf = (name: string) => (name === 'west' ? 'a directory' : undefined);
  const options = { directory, states: () => states, sourceOf, clock, logger: silentLogger };
  const running = publishUnidentified(options, stop.signal);
  await advance(clock, 10);
  expect(await directory.list()).toEqual([{ ...entry, source: 'a directory' }]);
  states = [{ ...unanswered, phase: 'serving', identity: 'uid' }];
  await advance(clock, 2_000);
  expect(await directory.list()).toEqual([]);
  states = [unanswered];
  await advance(clock, 2_000);
  expect(await directory.list()).toEqual([{ ...entry, source: 'a directory' }]);
  stop.abort();
  await running;
  expect(await directory.list()).toEqual([]);
});

test('of a cluster that answers but cannot be used, publishes the whole reason', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  const states = (): ClusterState[] => [{ ...unanswered, reason: 'cluster west does not allow …', silence: undefined }];
  const stop = new AbortController();
  const running = publishUnidentified({ directory, states, clock, logger: silentLogger }, stop.signal);
  await advance(clock, 10);
  const outage = { since: 500, reason: 'cluster west does not allow …', answers: true, neverAnswered: true };
  expect(await directory.list()).toEqual([{ ...entry, outage }]);
  stop.abort();
  await running;
});

test('removes what a crashed process left once the cluster is connected', async () => {
  const clock = new VirtualClock(1_000);
  const directory = new MemoryClusterDirectory();
  await directory.put(entry);
  const states = (): ClusterState[] => [{ ...unanswered, phase: 'serving', identity: 'uid' }];
  const stop = new AbortController();
  const running = publishUnidentified({ directory, states, clock, logger: silentLogger }, stop.signal);
  await advance(clock, 10);
  expect(await directory.list()).toEqual([]);
  stop.abort();
  await running;
});
