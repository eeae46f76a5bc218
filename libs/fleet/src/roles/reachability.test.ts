import { MemoryBus, type StreamOffset } from '@sluice/bus';
import { aborted, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { maxProbesPerSecond, probeIntervalMs, Reachability, Silence } from './reachability.ts';

describe('reachability', () => {
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
    for (const role of ['watcher', 'reconciler', 'writer'] as const)
      expect(reachability.stalled(role)).toEqual(['*bus']);
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
});

describe('silence', () => {
  let silence: Silence;

  beforeEach(() => {
    silence = new Silence();
  });

  /** Times at which the server is silent, of each 100 ms until `until`. */
  function firstSilent(from: number, until: number): number | undefined {
    for (let at = from; at <= until; at += 100) if (silence.isSilent(at)) return at;
    return undefined;
  }

  test('a server that has not answered for a second is silent, from the first request that it did not answer', () => {
    expect(silence.isSilent(5_000), 'nothing was asked').toBe(false);
    silence.sent(0);
    silence.sent(500);
    silence.sent(900);
    expect(firstSilent(900, 5_000)).toBe(1_000);
  });

  test('any answer ends the silence, also a late one', () => {
    silence.sent(0);
    silence.sent(2_000);
    silence.answered(0, 2_500);
    expect(silence.isSilent(2_500)).toBe(false);
  });

  test('a server that answers slowly may take three times as long, ten seconds at most, until it answers quickly again', () => {
    silence.sent(0);
    silence.answered(0, 1_500);
    silence.sent(2_000);
    expect(firstSilent(2_000, 20_000)).toBe(6_500);
    silence.answered(2_000, 9_000);
    silence.sent(10_000);
    expect(firstSilent(10_000, 40_000)).toBe(20_000);
    for (let n = 0; n < 40; n++) silence.answered(0, 5);
    silence.sent(50_000);
    expect(firstSilent(50_000, 70_000)).toBe(51_000);
  });

  test('it is asked every half second', () => {
    expect(silence.isDue(0)).toBe(true);
    silence.sent(0);
    expect(silence.isDue(probeIntervalMs - 1)).toBe(false);
    expect(silence.isDue(probeIntervalMs)).toBe(true);
  });

  test('a process that has no one to take over from it forgets what it waits for', () => {
    silence.sent(0);
    silence.forget();
    expect(silence.isSilent(60_000)).toBe(false);
  });
});
