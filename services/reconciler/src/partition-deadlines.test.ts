import type { Fact } from '@sluice/messages';
import { sleep, VirtualClock } from '@sluice/platform';
import { defaultSettings } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact, key } from '@sluice/service-state/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestPartition } from './testing/test-partition.ts';

const service: Fact = { kind: 'service', service: aService() };
const versions = { endpoints: '9', endpointslices: '9' };
const first = aSnapshot(1, [service, fact.pod('p')], versions);
const batchPeriodMs = { ...defaultSettings.batchPeriodMs, endpointslice: 2_000 };

let partition: TestPartition;

beforeEach(() => {
  partition = new TestPartition();
});

afterEach(() => partition.stop().catch(() => {}));

const offset = () => partition.store.peek('reconciler/0').checkpoint.offset;
const plansOfWeb = async () => (await partition.plans()).filter((plan) => plan.key.service === 'web');

/** Service `web` has its slice, and a decision about a Pod is due after the batch period. */
async function startBatch(given: Parameters<TestPartition['start']>[0] = {}): Promise<void> {
  await partition.start({ settings: { batchPeriodMs }, ...given });
  await partition.send(first);
  await partition.send(anOutcome(await partition.lastPlan()), aChange(2, [fact.pod('q')]));
}

/** Its wall clock can be set. */
class AdjustableClock extends VirtualClock {
  offsetMs = 0;

  override now(): number {
    return super.now() + this.offsetMs;
  }

  override monotonic(): number {
    return super.now();
  }

  override step(until: number): boolean {
    return super.step(until - this.offsetMs);
  }
}

describe('if the system clock is set back', () => {
  let clock: AdjustableClock;

  beforeEach(() => {
    clock = new AdjustableClock(1_000_000);
    Object.assign(partition, { clock });
  });

  async function setBack(ms: number): Promise<void> {
    await startBatch({ clock });
    clock.offsetMs = -ms;
  }

  test('deadlines that it has set move with it', async () => {
    await setBack(600_000);
    await partition.send({ ...first, key: { ...first.key, service: 'db' } });
    await partition.settle(2_000);
    expect(await plansOfWeb()).toHaveLength(2);
    expect(partition.logger.fields('warn')).toMatchObject([{ setBackMs: 600_000 }]);
  });

  test('also if no record arrives', async () => {
    await setBack(600_000);
    await partition.settle(4_000);
    expect(await partition.plans()).toHaveLength(2);
  });

  test.each([
    [500, 0],
    [501, 1],
  ])('by %d ms, deadlines are corrected %d times', async (ms, times) => {
    await setBack(ms);
    await partition.settle(300);
    await partition.send(aChange(3, []));
    expect(partition.logger.messages('warn')).toHaveLength(times);
    await partition.send(aChange(4, []));
    expect(partition.logger.messages('warn')).toHaveLength(times);
  });

  test('work that waits for its commit does not wait for longer', async () => {
    await partition.start({ clock, commitIntervalMs: 1_000 });
    await partition.send(first);
    await partition.send(anOutcome(await partition.lastPlan()));
    clock.offsetMs = -600_000;
    await partition.settle(2_000);
    expect(offset()).toBe(2);
  });

  test('a new owner corrects the deadlines of the former one', async () => {
    await startBatch({ clock });
    await partition.stop();
    clock.offsetMs = -600_000;
    await partition.start({ clock, settings: { batchPeriodMs }, fencingToken: 2 });
    await partition.settle(2_000);
    expect(await plansOfWeb()).toHaveLength(2);
    expect(partition.logger.messages('warn')).toEqual([]);
  });
});

describe('a deadline', () => {
  test('is met although the commit before it takes time', async () => {
    const commit = partition.store.commit.bind(partition.store);
    await startBatch();
    partition.store.commit = async (one) => {
      await sleep(partition.clock, 500);
      return commit(one);
    };
    await partition.send(aChange(3, []));
    await partition.settle(1_999);
    expect(partition.reportedAs('decided')).toHaveLength(1);
    await partition.settle(1);
    expect(partition.reportedAs('decided')).toHaveLength(2);
    partition.store.commit = commit;
    await partition.settle(1_000);
  });

  test('is met although others are later', async () => {
    await partition.start({ commitIntervalMs: 1_000 });
    await partition.send(first);
    const plan = await partition.lastPlan();
    // This plan is redelivered after 5 s.
    await partition.send({ ...first, key: { ...key, service: 'db' } }, anOutcome(plan));
    await partition.settle(1_000);
    expect(offset()).toBe(3);
  });
});
