import { VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { expect, test } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';
import { FairShare } from './fair-share.ts';

const clock = new VirtualClock(0);
const noAbort = new AbortController().signal;

/** A cluster whose requests end when the test calls `end`. */
class TestCluster {
  inFlight = 0;
  readonly #ends: (() => void)[] = [];
  readonly #limit: AdaptiveLimit;

  constructor(fairShare: FairShare) {
    this.#limit = new AdaptiveLimit({ max: 64, initial: 64, fairShare, clock });
  }

  /** Priorities of the requests in the order of their start. */
  readonly started: number[] = [];

  async send(count: number, priority = 0): Promise<void> {
    const request = async () => {
      this.inFlight += 1;
      this.started.push(priority);
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      this.inFlight -= 1;
    };
    for (let i = 0; i < count; i++) void this.#limit.run(priority, request, noAbort);
    await advance(clock, 0);
  }

  async end(count: number): Promise<void> {
    for (const end of this.#ends.splice(0, count)) end();
    await advance(clock, 0);
  }
}

test('one cluster may use the whole limit', async () => {
  const a = new TestCluster(new FairShare(10));
  await a.send(12);
  expect(a.inFlight).toBe(10);
});

test('clusters with requests share the limit, and each may always send one', async () => {
  const fairShare = new FairShare(2);
  const clusters = [new TestCluster(fairShare), new TestCluster(fairShare), new TestCluster(fairShare)] as const;
  for (const cluster of clusters) await cluster.send(5);
  expect(clusters.map(({ inFlight }) => inFlight)).toEqual([2, 1, 1]);
  await clusters[0].end(1);
  expect(clusters.map(({ inFlight }) => inFlight)).toEqual([1, 1, 1]);
});

test('a cluster that does not respond leaves the others their shares', async () => {
  const fairShare = new FairShare(8);
  const [silent, healthy] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await silent.send(20);
  await healthy.send(8);
  expect([silent.inFlight, healthy.inFlight]).toEqual([8, 4]);
  await healthy.end(4);
  expect([silent.inFlight, healthy.inFlight]).toEqual([8, 4]);
});

test('a cluster without requests leaves its share to the others', async () => {
  const fairShare = new FairShare(4);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(2);
  await b.send(6);
  expect([a.inFlight, b.inFlight]).toEqual([2, 2]);
  await a.end(2);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([0, 4]);
});

test('a cluster keeps its share until its last request has ended', async () => {
  const fairShare = new FairShare(8);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(2);
  await b.send(10);
  await a.end(1);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([1, 4]);
  await a.end(1);
  await b.end(1);
  expect([a.inFlight, b.inFlight]).toEqual([0, 8]);
});

test('a request that arrives after the share has grown does not pass those that wait', async () => {
  const fairShare = new FairShare(2);
  const [a, b] = [new TestCluster(fairShare), new TestCluster(fairShare)];
  await a.send(1);
  await b.send(2, 1);
  await a.end(1);
  await b.send(1, 2);
  expect(b.started).toEqual([1, 1]);
});
