import { MemoryBus, type StreamOffset } from '@sluice/bus';
import { aborted, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, expect, test } from 'vitest';
import { maxProbesPerSecond, Reachability } from './reachability.ts';

const heartbeatMs = 250;
let clock: VirtualClock;
let reachability: Reachability;
let unavailable: string[];
let busAnswers: boolean;
/** Clusters that do not answer. */
let silent: Set<string>;
let asked: string[];

class TestBus extends MemoryBus {
  override async end(...args: Parameters<MemoryBus['end']>): Promise<StreamOffset> {
    asked.push('bus');
    if (!busAnswers) await new Promise(() => {});
    return super.end(...args);
  }
}

beforeEach(() => {
  clock = new VirtualClock(1_000);
  [unavailable, busAnswers, silent, asked] = [[], true, new Set(), []];
  const bus = new TestBus({ partitions: 1 });
  reachability = new Reachability({ bus, member: 'a', clock, unavailable: () => unavailable });
});

function add(identity: string): () => void {
  return reachability.addCluster(identity, async (signal) => {
    asked.push(identity);
    if (!silent.has(identity)) return;
    await aborted(signal);
    throw new Error('aborted');
  });
}

const group = (stalled: readonly string[] = [], members = ['a', 'b']) =>
  ({ members, ...(stalled.length > 0 && { stalled: new Map([['b', stalled]]) }) }) as const;

/** Heartbeats of the writer and watcher groups. */
async function heartbeats(ms: number, state = group()): Promise<void> {
  for (let at = 0; at < ms; at += heartbeatMs) {
    await advance(clock, heartbeatMs);
    reachability.stalled('writer');
    reachability.observe('writer', state);
    reachability.stalled('watcher');
    reachability.observe('watcher', state);
    await advance(clock, 0);
  }
}

test('a silent API server concerns its watcher and all partitions of a writer; a reconciler does without', async () => {
  for (const identity of ['east', 'west']) add(identity);
  await heartbeats(2_000);
  expect(reachability.stalled('writer')).toEqual([]);
  silent.add('west');
  await heartbeats(2_000);
  expect(reachability.stalled('watcher')).toEqual(['west']);
  expect(reachability.stalled('writer')).toEqual(['*cluster west']);
  expect(reachability.stalled('reconciler')).toEqual([]);
  silent.clear();
  await heartbeats(1_000);
  expect(reachability.stalled('writer')).toEqual([]);
});

test('a silent bus concerns all', async () => {
  await heartbeats(1_000);
  busAnswers = false;
  await heartbeats(2_000);
  for (const role of ['watcher', 'reconciler', 'writer'] as const) expect(reachability.stalled(role)).toEqual(['*bus']);
});

test('a cluster to which the process cannot connect concerns the partitions of a writer', () => {
  unavailable = ['west'];
  expect(reachability.stalled('writer')).toEqual(['*cluster west']);
  expect(reachability.stalled('watcher')).toEqual([]);
});

test('a member that is alone asks nothing and lacks nothing', async () => {
  add('west');
  silent.add('west');
  await heartbeats(10_000, group([], ['a']));
  expect(asked).toEqual([]);
  await heartbeats(2_000);
  expect(reachability.stalled('watcher')).toEqual(['west']);
  await heartbeats(500, group([], ['a']));
  expect(reachability.stalled('watcher')).toEqual([]);
});

test('an event loop that was blocked is no silence: answers may wait for it', async () => {
  add('west');
  await heartbeats(1_000);
  silent.add('west');
  await heartbeats(heartbeatMs * 2);
  clock.step(clock.now() + 60_000);
  await advance(clock, 60_000);
  expect(reachability.stalled('watcher')).toEqual([]);
});

test('it asks fifty clusters per second, all in turn, and those that others report first', async () => {
  const identities = Array.from({ length: 200 }, (_, n) => `cluster-${n}`);
  for (const identity of identities) add(identity);
  await heartbeats(4_000);
  const requests = () => asked.filter((name) => name !== 'bus');
  expect(requests().length).toBeGreaterThan(4 * maxProbesPerSecond * 0.8);
  expect(requests().length).toBeLessThanOrEqual(4 * maxProbesPerSecond);
  expect(new Set(requests()).size).toBe(requests().length);
  asked = [];
  await heartbeats(2 * heartbeatMs, group(['*cluster cluster-3', 'cluster-5']));
  expect(asked).toEqual(expect.arrayContaining(['cluster-3', 'cluster-5']));
  asked = [];
  await heartbeats(1_000, group(['*cluster cluster-3', 'cluster-5']));
  expect(asked, 'a report that stays is no news').not.toContain('cluster-3');
});

test('a cluster that is not served any more is not asked, and its requests end', async () => {
  silent.add('west');
  let isAborted = false;
  const remove = reachability.addCluster('west', async (signal) => {
    await aborted(signal);
    isAborted = true;
  });
  await heartbeats(2_000);
  expect(reachability.stalled('watcher')).toEqual(['west']);
  remove();
  await heartbeats(2_000);
  expect([isAborted, reachability.stalled('watcher')]).toEqual([true, []]);
});
